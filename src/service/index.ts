/** The service: every operation of the contract by its name, and what this session has learnt about it. */
import type { Endpoint } from '../contract/common.ts';
import { type AnswerOf, endpoints, type InputOf, type Operation } from '../contract/endpoints.ts';
import { Caller } from './caller.ts';
import type { Capabilities } from './capabilities.ts';
import { Chat } from './chat.ts';
import type { GateMonitor } from './gate.ts';
import { keptGeneration, type ServiceGeneration } from './generation.ts';
import type { CallOptions, ServiceOptions } from './options.ts';
import { type CallInput, describeRequest, type RequestPreview } from './request.ts';
import { type PutUpload, uploader } from './uploads.ts';

export { keptGeneration };

/** The input is left out where the operation takes none, or only a query. */
type CallArguments<Name extends Operation> =
  Record<string, never> extends InputOf<Name>
    ? [input?: InputOf<Name>, options?: CallOptions]
    : [input: InputOf<Name>, options?: CallOptions];

/** Sends an operation of the contract and reads its answer. */
export type Call = <Name extends Operation>(operation: Name, ...rest: CallArguments<Name>) => Promise<AnswerOf<Name>>;

/** A call whose operation is chosen while the program runs: the input is checked against the contract all the same. */
export type UntypedCall = (
  operation: Operation,
  input?: CallInput<unknown, unknown>,
  options?: CallOptions,
) => Promise<unknown>;

export const untypedCall = ({ call }: Pick<Service, 'call'>): UntypedCall => call as UntypedCall;

export interface Service {
  /** Where the service is; holds no credential. */
  readonly baseUrl: string;
  /** The same service for polls: they are not retried, and go behind what the user asks for. */
  readonly background: Service;
  /** Whether its host takes requests, or limits them at the moment. */
  readonly gate: GateMonitor;
  readonly chat: Chat;
  readonly putUpload: PutUpload;
  /**
   * Any operation of the contract by its name. Answers that stream are for `chat`.
   *
   * @throws ServiceError
   */
  readonly call: Call;
  /**
   * For work that does much before it writes. Every single write is refused as well, before anything is sent.
   *
   * @throws ReadOnlyError where the service may only be read
   */
  readonly requireWrites: () => void;
  /** The request that an operation would send with this input, which may be incomplete: without credentials. */
  readonly preview: (operation: Operation, input: CallInput<unknown, unknown>) => RequestPreview;
  /**
   * The requests that some work would send first: it is given a service that notes what is called, sends nothing and
   * never answers. What is shown to the user before it is sent comes from the call that sends it. Not for chat.
   */
  readonly describe: (work: (service: Service) => unknown) => readonly RequestPreview[];
  /** Which generation of the service this is taken to be, and why. */
  readonly generation: ServiceGeneration;
  /** Which endpoints beyond the document this service has shown to lack. */
  readonly capabilities: Capabilities;
  /**
   * Closes every connection and makes none. What is under way fails, or is sent again where that is harmless. The
   * service stays usable: the next call connects again.
   */
  readonly close: () => Promise<void>;
}

/**
 * Makes a service of a profile. Nothing is sent yet.
 *
 * @throws RequestError where an address or an assumption of the profile is wrong
 */
export function createService(options: ServiceOptions): Service {
  const caller = new Caller(options);
  const endpointOf = (operation: Operation): Endpoint => endpoints[operation] as Endpoint;
  const send =
    (defaults: CallOptions): UntypedCall =>
    (operation, input = {}, own = {}) =>
      caller.call(endpointOf(operation), input, { ...defaults, ...own });
  const preview: Service['preview'] = (operation, input) =>
    describeRequest(
      endpointOf(operation),
      caller.withAgent(endpointOf(operation), input),
      caller.assumptions,
      caller.connection.base,
    );
  const shared = {
    baseUrl: caller.connection.base.href,
    gate: caller.gates.monitor(() => caller.connection.host),
    chat: new Chat(caller),
    requireWrites: () => caller.requireWrites(),
    preview,
    describe: work => {
      const requests: RequestPreview[] = [];
      const noting = serviceOf((operation, input = {}) => {
        requests.push(preview(operation, input));
        return noAnswer();
      }, noAnswer);
      runForRequests(() => work(noting));
      return requests;
    },
    generation: caller.generation,
    capabilities: caller.capabilities,
    close: () => caller.close(),
  } satisfies Partial<Service>;
  const serviceOf = (call: UntypedCall, putUpload: PutUpload, background?: Service): Service => {
    const service: Service = {
      ...shared,
      call: call as Call,
      putUpload,
      get background() {
        return background ?? service;
      },
    };
    return service;
  };
  const putUpload = uploader(caller, options);
  return serviceOf(send({}), putUpload, serviceOf(send({ background: true }), putUpload));
}

const noAnswer = (): Promise<never> => new Promise(() => {});

/** Work on input that is not complete yet may fail: then it would send nothing more. */
function runForRequests(work: () => unknown): void {
  try {
    Promise.resolve(work()).catch(() => {});
  } catch {
    // What it would have sent until then is noted.
  }
}
