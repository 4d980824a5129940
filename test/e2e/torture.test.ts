/**
 * Faults that `npm run torture` has found: the built program in a pseudo-terminal, under the keys that showed them.
 * Sessions mostly wait, so they run side by side. And a short random one of each part.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from '../../tools/rig/property.ts';
import { makeWorld, type World } from '../../tools/rig/world.ts';
import type { Purpose, Step } from '../../tools/simulate/plan.ts';
import { commandsPlans, commandsSession } from '../../tools/torture/commands.ts';
import { type DepthPlan, depthPlans, depthSession } from '../../tools/torture/depth.ts';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world.remove());

const typed = (bytes: string): Step => ({ do: 'input', input: { kind: 'bytes', bytes, keys: bytes.length } });
const sized = (columns: number, rows: number): Step => ({ do: 'input', input: { kind: 'resize', columns, rows } });
const rest: Step = { do: 'wait', ms: 0 };
const moves: Step[] = [typed('j'), typed('\r'), typed('\u001b'), rest];

const found: readonly (readonly [was: string, steps: readonly Step[], more: Partial<DepthPlan>])[] = [
  [
    'a paste whose end never came took every key for its text, ctrl-c as well',
    [typed('/'), typed('\u001b[200~'), typed('text'), typed('q'), typed('j'), rest],
    { ending: 'SIGINT' },
  ],
  [
    'the screen stayed cut where the size had changed and changed back',
    [...moves, sized(79, 24), sized(120, 40), rest, sized(60, 15), sized(200, 60), sized(120, 40), rest],
    {},
  ],
  [
    'what looks like an answer of the terminal was typed, and the screen waited for the next one',
    [typed('\u001b[24;80R'), typed('\u001b[0n'), typed('\u001bP>|XTerm(390)\u001b\\'), typed('?'), rest, ...moves],
    { answers: false },
  ],
  [
    'a key that was typed where a command belongs was shown in the error',
    [
      { do: 'type secret', typing: { form: 'key', how: 'pasted', end: '\r', address: 'nowhere', source: 1 } },
      rest,
      { do: 'type secret', typing: { form: 'key', how: 'by letter', end: '\r', address: 'here', source: 2 } },
      rest,
    ],
    {},
  ],
  [
    'a stopped program, or one whose service was killed, did not go on',
    [
      typed(':runs\r'),
      { do: 'signal', name: 'SIGTSTP' },
      rest,
      typed('r'),
      { do: 'crash', writes: 0, downMs: 0 },
      rest,
      ...moves,
    ],
    { ending: 'keys', local: true },
  ],
];

const planOf = (steps: readonly Step[], more: Partial<DepthPlan>): DepthPlan => ({
  readOnly: false,
  mouse: true,
  local: false,
  answers: true,
  ending: 'SIGTERM',
  faults: [],
  steps,
  ...more,
});

it.concurrent.each(found)('%s', async (_, steps, more) => {
  const plan = planOf(steps, more);
  const { failures, ending } = await depthSession({ world, plan });
  expect(failures).toEqual([]);
  expect(ending).toBe(plan.ending);
});

describe('a random session', () => {
  const one = <Plan>(plans: fc.Arbitrary<Plan>): Plan[] => fc.sample(plans, { numRuns: 1 });
  const purposes: readonly Purpose[] = ['anything', 'read-only', 'secrets'];

  it.concurrent.each(purposes)('at the screen: %s', async purpose => {
    for (const plan of one(depthPlans(purpose, 8)))
      expect((await depthSession({ world, plan })).failures, JSON.stringify(plan)).toEqual([]);
  });

  // Alone: it counts the open descriptors.
  it('of commands', async () => {
    for (const plan of one(commandsPlans(8)))
      expect((await commandsSession(world, plan)).failures, JSON.stringify(plan)).toEqual([]);
  });
});

const atExit = (bytes: string): string =>
  `process.on('exit', () => require('node:fs').writeSync(1, ${JSON.stringify(bytes)}))`;

describe('the laws of the terminal fail if', () => {
  it.concurrent.each([
    ['a mode is left on', atExit('\u001b[?2004h'), /the terminal is left changed: bracketed paste/],
    ['a colour is left on', atExit('\u001b[31m'), /the terminal is left changed: style/],
    ['another exit code', "process.on('exit', () => { process.exitCode = 9; })", /it ended with code 9 by SIGTERM/],
    ['an error is said at the end', atExit('Error: no'), /it says: /],
    ['a sequence is let through', atExit('\u001b[6n'), /written: CSI "6n"/],
    ['much memory', 'globalThis.kept = Buffer.alloc(450e6, 1)', /\d+ MB of memory/],
    [
      'a view fails',
      "require('node:fs').writeFileSync(process.env.HOME + '/crash-1.txt', 'TypeError: it broke')",
      /TypeError: it broke/,
    ],
    [
      'it does not end',
      'process.exit = process.kill = process.reallyExit = () => {}; setInterval(String, 1e6)',
      /it did not end within 20 s of SIGTERM/,
    ],
    ['it does not start', 'process.exit(1)', /it did not start/],
  ])('%s', async (_, code, failure) => {
    const bug = `import { createRequire } from 'node:module'; const require = createRequire('file:///'); ${code}`;
    const { failures } = await depthSession({ world, plan: planOf([rest], {}), bug });
    expect(failures.join('\n')).toMatch(failure);
  });

  it.concurrent.each([
    ['a sequence is let through', "process.stdout.write('\\x1b[2J')", /CSI "2J"/],
    ['a mode is left on', "process.stdout.write('\\x1b[?25l')", /left changed: hidden cursor/],
    ['another exit code', "process.on('exit', () => { process.exitCode = 42; })", /exit code 42/],
    ['the key is written', 'process.stdout.write(process.env.BENCHTOP_API_KEY)', /a credential/],
  ])('in a command, %s', async (_, bug, failure) => {
    const commands = [{ words: ['list', 'runs'], which: 0 }];
    expect((await commandsSession(world, { faults: [], commands }, bug)).failures.join('\n')).toMatch(failure);
  });
});
