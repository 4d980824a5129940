/** The actions of a user and the faults in a session, as a list of steps. Any step may be left out. */
import fc from 'fast-check';
import { orNone, share as which } from '../rig/answers.ts';
import { type Typing, typings } from '../rig/desk.ts';
import { anyFaults, type Faults, networkFaults } from '../rig/faults.ts';
import { type Input, inputsOf } from '../rig/inputs.ts';
import { type Look, looks } from './looks.ts';
import type { Weather } from './virtual-network.ts';

export type Step =
  | { readonly do: 'wait'; readonly ms: number }
  /** Starts a run of this many tasks. */
  | { readonly do: 'evaluate'; readonly tasks: number }
  | { readonly do: 'keep secret'; readonly name: string }
  | { readonly do: 'record' | 'train' | 'write read-only' }
  /** Acts on a known resource; `which` selects it as a share of their number. */
  | { readonly do: 'cancel' | 'delete' | 'forget secret' | 'reward' | 'compare'; readonly which: number }
  | { readonly do: 'list'; readonly what: Listed; readonly limit: number }
  /** Steps at the screen: the first one opens it; a signal ends it. */
  | { readonly do: 'open'; readonly view: 'benchmarks' | 'watch'; readonly readOnly: boolean }
  | { readonly do: 'input'; readonly input: Input }
  | { readonly do: 'type secret'; readonly typing: Typing }
  | { readonly do: 'signal'; readonly name: 'SIGTERM' | 'SIGHUP' | 'SIGINT' | 'SIGTSTP' | 'SIGSTOP' | 'SIGCONT' }
  /** Faults of the network for a while, of later answers, and of the disk for a while. */
  | { readonly do: 'network'; readonly weather: Exclude<Weather, 'up'>; readonly ms: number }
  | { readonly do: 'answers'; readonly to: 'user' | 'screen'; readonly faults: Faults }
  | { readonly do: 'disk full'; readonly ms: number }
  /** Kills the local service at one of its next writes, or after a while if it writes nothing; starts it again. */
  | { readonly do: 'crash'; readonly writes: number; readonly downMs: number };

export interface Plan {
  readonly steps: readonly Step[];
  /** Views to open at the end, without other faults, on answers with wrong numbers. */
  readonly looks: readonly Look[];
  /** Without faults and keys: memory and polls must stay level. */
  readonly isWatch?: boolean;
}

export const listed = ['benchmarks', 'runs', 'trajectories', 'secrets'] as const;
export type Listed = (typeof listed)[number];

const second = 1_000;
const minute = 60 * second;
const oneOf = fc.constantFrom;
const step = <Name extends Step['do'], Rest extends object>(
  name: Name,
  rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
): fc.Arbitrary<{ do: Name } & Rest> => fc.record({ do: fc.constant(name), ...rest }) as never;

/** Steps of a program that uses the service, and faults. */
const ownSteps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: step('wait', { ms: oneOf(50, second, 10 * second, minute, 10 * minute) }) },
  { weight: 8, arbitrary: step('evaluate', { tasks: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 6, arbitrary: step('keep secret', { name: fc.nat(40).map(number => `SECRET_${number}`) }) },
  { weight: 6, arbitrary: step('record', {}) },
  { weight: 1, arbitrary: step('train', {}) },
  { weight: 3, arbitrary: step('cancel', { which }) },
  { weight: 3, arbitrary: step('delete', { which }) },
  { weight: 4, arbitrary: step('forget secret', { which }) },
  { weight: 4, arbitrary: step('reward', { which }) },
  { weight: 10, arbitrary: step('compare', { which }) },
  { weight: 18, arbitrary: step('list', { what: oneOf(...listed), limit: oneOf(1, 2, 7, 200) }) },
  { weight: 2, arbitrary: step('write read-only', {}) },
  {
    weight: 4,
    arbitrary: step('network', {
      weather: oneOf('refused', 'lost'),
      ms: oneOf(second / 2, 5 * second, 40 * second, 5 * minute),
    }),
  },
  { weight: 3, arbitrary: step('answers', { to: fc.constant('user'), faults: networkFaults }) },
  { weight: 2, arbitrary: step('disk full', { ms: oneOf(100, 10 * second, minute) }) },
  {
    weight: 4,
    arbitrary: step('crash', { writes: fc.integer({ min: 1, max: 60 }), downMs: oneOf(10, 2 * second, minute) }),
  },
);

/**
 * The purpose of a session at the screen: anything; trying to write in a read-only program; typing secrets that must
 * not be found anywhere afterwards.
 */
export type Purpose = 'anything' | 'read-only' | 'secrets';

/** Sizes that change faster than anything can be drawn. */
const storm = Array.from({ length: 30 }, (_, turn): Step => {
  const [columns, rows] = turn === 29 ? [120, 40] : [20 + ((turn * 67) % 180), 5 + ((turn * 23) % 55)];
  return { do: 'input', input: { kind: 'resize', columns, rows } };
});

/** Steps at the screen between two other steps. */
function screenSteps(purpose: Purpose, without: readonly string[] = []): fc.Arbitrary<readonly Step[]> {
  const inputs = inputsOf({
    without,
    mouse: true,
    // An unfinished paste would swallow the secret.
    unfinishedPastes: purpose !== 'secrets',
    insists: purpose === 'read-only',
  });
  return fc.oneof(
    { weight: 100, arbitrary: fc.array(step('input', { input: inputs }), { minLength: 1, maxLength: 8 }) },
    { weight: 3, arbitrary: fc.constant(storm) },
    {
      weight: purpose === 'secrets' ? 30 : 0,
      arbitrary: step('type secret', { typing: typings }).map(typing => [typing]),
    },
  );
}

const wrongAnswers = step('answers', { to: fc.constant('screen'), faults: anyFaults });
const signals = step('signal', { name: oneOf('SIGTERM', 'SIGHUP', 'SIGINT', 'SIGTSTP', 'SIGCONT') });

/** Up to `count` items; shrinking drops some. */
const many = <Item>(items: fc.Arbitrary<Item>, count: number): fc.Arbitrary<Item[]> =>
  fc.array(items, { minLength: 0, maxLength: count, size: 'max' });

function withScreen(purpose: Purpose, turns: number): fc.Arbitrary<Plan> {
  const open: Step = { do: 'open', view: 'benchmarks', readOnly: purpose === 'read-only' };
  const others = fc.oneof(
    { weight: 100, arbitrary: ownSteps },
    { weight: 6, arbitrary: wrongAnswers },
    { weight: 3, arbitrary: signals },
  );
  const turn = fc.tuple(
    fc.option(others, { freq: 20 }),
    screenSteps(purpose),
    step('wait', { ms: oneOf(0, 20, 300, 3 * second) }),
  );
  return fc.record({
    steps: fc
      .tuple(wrongAnswers, many(turn, turns))
      .map(([wrong, all]) => [
        open,
        wrong,
        ...all.flatMap(([own, typed, rest]) => [...(own ? [own] : []), ...typed, rest]),
      ]),
    looks: fc.array(looks, { minLength: 0, maxLength: 3 }),
  });
}

/** Steps in a real terminal, in at most `turns` turns. None of them ends the program. */
export function terminalSteps(purpose: Purpose, turns: number): fc.Arbitrary<readonly Step[]> {
  const stops = step('signal', { name: oneOf('SIGTSTP', 'SIGSTOP') });
  const crash = step('crash', { writes: fc.constant(0), downMs: fc.constant(0) });
  const others = fc.oneof({ weight: 3, arbitrary: stops }, { weight: 1, arbitrary: crash });
  const turn = fc.tuple(screenSteps(purpose, ['q', 'ctrl-c']), orNone(others, 5));
  const wait: Step = { do: 'wait', ms: 0 };
  return many(turn, turns).map(all => all.flatMap(([typed, other]) => [...typed, ...(other ? [other] : []), wait]));
}

/** Plans of at most `steps` steps, or turns at the screen. About every other plan has a screen. */
export function plansOf(steps: number, hasScreen: boolean): fc.Arbitrary<Plan> {
  const alone = fc.record({ steps: many(ownSteps, steps), looks: fc.constant([]) });
  if (!hasScreen) return fc.noBias(alone);
  const withOrWithout = fc.oneof(
    { weight: 5, arbitrary: alone },
    { weight: 4, arbitrary: withScreen('anything', steps) },
    { weight: 1, arbitrary: withScreen('read-only', steps) },
    { weight: 1, arbitrary: withScreen('secrets', steps) },
  );
  return fc.noBias(withOrWithout);
}

/** Runs start and end on Watch for this many minutes, and now and then one is opened. */
export function watchOf(minutes: number): Plan {
  const type = (bytes: string): Step[] => [
    { do: 'input', input: { kind: 'bytes', bytes, keys: bytes.length } },
    { do: 'wait', ms: second },
  ];
  const goes: Readonly<Record<number, readonly Step[]>> = {
    7: [...type(':runs'), ...type('\r')],
    9: type('\r'),
    11: [...type(':watch'), ...type('\r')],
  };
  const steps = Array.from({ length: minutes * 3 }, (_, turn): readonly Step[] => [
    ...(turn % 2 === 0 ? ([{ do: 'evaluate', tasks: 3 }] as const) : []),
    ...(goes[turn % 15] ?? []),
    { do: 'wait', ms: 20 * second },
  ]);
  return { steps: [{ do: 'open', view: 'watch', readOnly: false }, ...steps.flat()], looks: [], isWatch: true };
}
