/** Services with scripted answers, for screens and queries that need no more. */
import type { InputOf, Operation } from '../../src/contract/endpoints.ts';
import { type Call, type UntypedCall, untypedCall } from '../../src/service/call.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import type { GateMonitor, GateState } from '../../src/service/gate.ts';
import type { Service } from '../../src/service/index.ts';
import type { CallOptions } from '../../src/service/options.ts';

const open: GateState = { kind: 'open' };

/** A gate that never closes. */
export const openGate: GateMonitor = { state: () => open, subscribe: () => () => {}, tryNow: () => {} };

/** The answers of operations to their inputs. */
export type Answers = {
  readonly [Name in Operation]?: (input: InputOf<Name>, options: CallOptions) => unknown;
};

/** The calls of a service with these answers in place of its own. */
function callWith(answers: Answers, others: UntypedCall): Call {
  const call: UntypedCall = async (operation, input = {}, options = {}) => {
    const answer = answers[operation] as ((input: unknown, options: CallOptions) => unknown) | undefined;
    return answer ? answer(input, options) : others(operation, input, options);
  };
  return call as Call;
}

/** The service with these answers in place of its own. */
export function withAnswers(service: Service, answers: Answers): Service {
  return { ...service, call: callWith(answers, untypedCall(service)) };
}

/** A service with only these answers, for polls too. @param parts its other parts */
export function fakeService(answers: Answers = {}, parts: Partial<Service> = {}): Service {
  const service = {
    gate: openGate,
    capabilities: new Capabilities(),
    requireWrites: () => {},
    accountOf: async () => '',
    call: callWith(answers, async operation => {
      throw new Error(`${operation} has no answer`);
    }),
    ...parts,
    get background() {
      return service;
    },
  } as unknown as Service;
  return service;
}
