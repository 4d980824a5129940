/** Deliberate bugs, one for each law: a session with any of them must fail. */
import { cpSync, existsSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../../src/resources/place.ts';
import type { UntypedCall } from '../../src/service/call.ts';
import { ServiceError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import { apiKey } from '../rig/world.ts';
import type { Leave } from './local-service.ts';
import type { Look } from './looks.ts';
import { type Plan, type Step, watchOf } from './plan.ts';

/** The bugs of a session. */
export interface Bugs {
  /** In the client of a program, and in that of the screen. */
  readonly service?: (service: Service) => Service;
  readonly screen?: (service: Service) => Service;
  /** In the data that a kill leaves. */
  readonly leave?: Leave;
  readonly readerWrites?: boolean;
  /** In the output to the terminal, and the input from it. */
  readonly bytes?: (bytes: string) => string;
  readonly keys?: (bytes: string) => string;
  /** Where the screen opens. */
  readonly place?: Place;
  /** Follows a redirect to another origin. */
  readonly strays?: boolean;
  /** The number of connections that are opened after each wait, and never closed. */
  readonly leavesSockets?: number;
  /** The number of consecutive sessions. */
  readonly sessions?: number;
  /** The plan that reveals the bug; by default, steps without a screen. */
  readonly plan?: Plan;
}

type Call = (send: UntypedCall, ...given: Parameters<UntypedCall>) => Promise<unknown>;

/** Wraps all calls of a client, including those in the background. */
const calling =
  (call: Call) =>
  (service: Service): Service => {
    const through = (one: Service): Service => ({
      ...one,
      call: ((...given: Parameters<UntypedCall>) => call(one.call as UntypedCall, ...given)) as Service['call'],
    });
    return { ...through(service), background: through(service.background) };
  };

/** A client that changes the answers of an operation. */
const answering = (operation: string, change: (answer: Record<string, unknown>) => unknown) =>
  calling(async (send, ...given) => {
    const answer = await send(...given);
    return given[0] === operation ? change(answer as Record<string, unknown>) : answer;
  });

/** Runs `act` before each call of an operation. */
const before = (operation: string, act: () => void) =>
  calling((send, ...given) => {
    if (given[0] === operation) act();
    return send(...given);
  });

const atScreen = (...steps: readonly Step[]): Plan => ({
  steps: [
    { do: 'open', view: 'benchmarks', readOnly: false },
    ...steps,
    { do: 'wait', ms: 1_000 },
    { do: 'signal', name: 'SIGTERM' },
    { do: 'wait', ms: 1_000 },
  ],
  looks: [],
});
const withoutScreen: Plan = { steps: [], looks: [] };
const lookAt = (view: Look['view']): Plan => ({ steps: [], looks: [{ view, faults: [] }] });
const rest: Step = { do: 'wait', ms: 2_000 };
const type = (bytes: string): Step => ({ do: 'input', input: { kind: 'bytes', bytes, keys: bytes.length } });

const withoutFirst = (rows: unknown): unknown[] => (rows as unknown[]).slice(1);
const labelled = (label: string) =>
  answering('listBenchmarks', page => ({
    ...page,
    items: (page['items'] as object[]).map(row => ({ ...row, label })),
  }));
const kept: unknown[] = [];
/** Leaks this many more numbers with each list of benchmarks. */
const hog = before('listBenchmarks', () => void kept.push(Array(200_000).fill(0)));

export const bugs: Readonly<Record<string, Bugs>> = {
  'a row is lost': {
    service: answering('listTrajectories', page => ({ ...page, items: withoutFirst(page['items']) })),
  },
  'a row is made up': {
    service: answering('listSecrets', page => ({
      ...page,
      items: [...(page['items'] as unknown[]), { secret_id: 'sec_nowhere' }],
    })),
  },
  'a write is sent twice': {
    service: calling(async (send, operation, ...rest) => {
      if (operation === 'startEval') await send(operation, ...rest);
      return send(operation, ...rest);
    }),
  },
  'two numbers disagree': {
    service: answering('getEvalRun', run => ({ ...run, reward_mean: Number(run['reward_mean']) + 0.01 })),
  },
  'an end is taken back': (() => {
    let reads = 0;
    return {
      service: answering('getEvalRun', run => {
        reads += 1;
        return reads % 2 === 0 ? { ...run, status: 'pending' } : run;
      }),
    };
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
    plan: { ...withoutScreen, steps: [{ do: 'keep secret', name: 'SECRET_1' }] },
  },
  'an error is unhandled': {
    service: before('createSecret', () => void Promise.reject(new Error('nobody catches this'))),
  },
  'a credential is sent': {
    service: calling((send, operation, ...rest) =>
      operation === 'createSecret'
        ? send('uploadTrajectories', { body: { dataset: 'd', trajectories: [{ trace_id: apiKey, messages: [] }] } })
        : send(operation, ...rest),
    ),
  },
  'a credential is kept': {
    service: calling((send, operation, ...rest) =>
      operation === 'createSecret'
        ? send('createSecret', { body: { name: 'KEPT', value: 'value', description: apiKey } })
        : send(operation, ...rest),
    ),
  },
  'a redirect is followed': { strays: true, plan: withoutScreen },
  'a warning of React': {
    screen: before('listBenchmarks', () => console.error('each child has to have a key')),
    plan: atScreen(),
  },
  'the terminal is left changed': { bytes: bytes => bytes.replaceAll('\u001b[?25h', ''), plan: atScreen() },
  'a border is broken': { bytes: bytes => bytes.replaceAll('┘', '+'), plan: atScreen() },
  'a sequence is let through': { bytes: bytes => `${bytes}\u001b[6n`, plan: atScreen() },
  'a credential is on the screen': { screen: labelled(apiKey), plan: atScreen() },
  'the screen says undefined': { screen: labelled('undefined'), plan: atScreen() },
  'a view fails': { place: { view: 'compare', base: undefined, new: undefined } as unknown as Place, plan: atScreen() },
  'a key is not answered': {
    keys: bytes => bytes.replace('?', ''),
    plan: { ...atScreen(), steps: atScreen().steps.slice(0, 2) },
  },
  'a key takes long': {
    // It takes no time, but says that it took this much.
    keys: bytes => {
      const real = process.threadCpuUsage;
      if (bytes !== 'j') return bytes;
      process.threadCpuUsage = before => {
        process.threadCpuUsage = real;
        const { user, system } = real(before);
        return { user: user + 3.2e6, system };
      };
      return bytes;
    },
    plan: atScreen(type('j')),
  },
  'the screen writes read-only': {
    readerWrites: true,
    plan: {
      steps: [
        { do: 'open', view: 'benchmarks', readOnly: true },
        ...[':secrets\r', 'n', 'NAME\t', 'value', '\r', '\r'].flatMap(keys => [type(keys), rest]),
      ],
      looks: [],
    },
  },
  'a list leaves a row out': {
    screen: answering('listSecrets', page => ({ ...page, items: withoutFirst(page['items']) })),
    plan: atScreen(),
  },
  'benchmarks: a row is left out': {
    screen: answering('listBenchmarks', page => ({ ...page, items: withoutFirst(page['items']) })),
    plan: lookAt('benchmarks'),
  },
  'runs: a mean is changed': {
    screen: answering('listEvalRuns', runs =>
      (runs as unknown as { reward_mean: number }[]).map(run => ({ ...run, reward_mean: run.reward_mean / 2 - 9 })),
    ),
    plan: lookAt('runs'),
  },
  'trajectories: a reward is changed': {
    screen: answering('listTrajectories', page => ({
      ...page,
      items: (page['items'] as object[]).map(row => ({ ...row, reward: 77 })),
    })),
    plan: lookAt('trajectories'),
  },
  'run: a mean is changed': {
    screen: answering('getEvalRun', run => ({ ...run, reward_mean: 9 })),
    plan: lookAt('run'),
  },
  'training run: a step is too many': {
    screen: answering('getTrainingProgress', answer => ({
      ...answer,
      completed_steps: Number(answer['completed_steps']) + 100,
    })),
    plan: lookAt('training run'),
  },
  'a poll comes too often, sockets are left, memory grows': {
    screen: service =>
      calling(async (send, ...given) => {
        for (let turn = 0; turn < 9 && given[0] === 'listBenchmarks'; turn += 1) await send(...given);
        return send(...given);
      })(hog(service)),
    leavesSockets: 3,
    plan: watchOf(2),
  },
  'memory is left behind': {
    service: hog,
    plan: { steps: Array(20).fill({ do: 'list', what: 'benchmarks', limit: 200 }), looks: [] },
    sessions: 11,
  },
};
