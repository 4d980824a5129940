/** Bugs on purpose, one for each law: a session with one of them has to fail. */
import { cpSync, existsSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { UntypedCall } from '../../src/service/call.ts';
import { ServiceError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import type { Step } from './plan.ts';
import type { SessionOptions } from './session.ts';

type Bugs = NonNullable<SessionOptions['bugs']>;
type Call = (send: UntypedCall, ...given: Parameters<UntypedCall>) => Promise<unknown>;

/** A client whose calls go through this. */
const calling =
  (call: Call) =>
  (service: Service): Service => ({
    ...service,
    call: ((...given: Parameters<UntypedCall>) => call(service.call as UntypedCall, ...given)) as Service['call'],
  });

/** A client that changes the answers of an operation. */
const answering = (operation: string, change: (answer: Record<string, unknown>) => unknown): Bugs => ({
  service: calling(async (send, ...given) => {
    const answer = await send(...given);
    return given[0] === operation ? change(answer as Record<string, unknown>) : answer;
  }),
});

export const bugs: Readonly<Record<string, Bugs>> = {
  'a row is lost': answering('listTrajectories', page => ({ ...page, items: (page['items'] as unknown[]).slice(1) })),
  'a row is made up': answering('listSecrets', page => ({
    ...page,
    items: [...(page['items'] as unknown[]), { secret_id: 'sec_nowhere' }],
  })),
  'a write is sent twice': {
    service: calling(async (send, operation, ...rest) => {
      if (operation === 'startEval') await send(operation, ...rest);
      return send(operation, ...rest);
    }),
  },
  'two numbers disagree': answering('getEvalRun', run => ({ ...run, reward_mean: Number(run['reward_mean']) + 0.01 })),
  'an end is taken back': (() => {
    let reads = 0;
    return answering('getEvalRun', run => {
      reads += 1;
      return reads % 2 === 0 ? { ...run, status: 'pending' } : run;
    });
  })(),
  'read-only writes': { readerWrites: true },
  'a crash loses what was acknowledged': {
    leave: (folder, copy) => {
      cpSync(folder, copy, { recursive: true });
      const log = join(copy, 'benchtop.db-wal');
      if (existsSync(log)) truncateSync(log, Math.floor(statSync(log).size * 0.8));
    },
  },
  'an error denies what happened': {
    service: calling((send, ...given) =>
      send(...given).catch((error: unknown) => {
        if (!(error instanceof ServiceError)) throw error;
        throw new ServiceError(error.kind, error.message, { ...error, outcomeUnknown: false });
      }),
    ),
  },
  'a call hangs': {
    service: calling((send, ...given) => (given[0] === 'createSecret' ? new Promise(() => {}) : send(...given))),
  },
  'the terminal is left changed': { bytes: bytes => bytes.replaceAll('\u001b[?25h', '') },
  'a border is broken': { bytes: bytes => bytes.replaceAll('┘', '+') },
  'an error is nowhere handled': {
    service: calling((send, ...given) => {
      if (given[0] === 'createSecret') void Promise.reject(new Error('nobody hears this'));
      return send(...given);
    }),
  },
};

/** What shows a bug of the screen. */
export const atScreen: readonly Step[] = [
  { do: 'open', readOnly: false },
  { do: 'wait', ms: 1_000 },
  { do: 'signal', name: 'SIGTERM' },
  { do: 'wait', ms: 1_000 },
];
