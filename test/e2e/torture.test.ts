/**
 * Faults that `npm run torture` has found: the built program in a pseudo-terminal, under the keys that showed them.
 * Sessions mostly wait, so they run side by side. `npm run smoke` runs a random one of each purpose.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeWorld, type World } from '../../tools/rig/world.ts';
import type { Step } from '../../tools/simulate/plan.ts';
import { type DepthPlan, depthSession } from '../../tools/torture/depth.ts';

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

it.concurrent.each(found)('%s', async (_, steps, more) => {
  const plan: DepthPlan = {
    readOnly: false,
    mouse: true,
    local: false,
    answers: true,
    ending: 'SIGTERM',
    faults: [],
    steps,
    ...more,
  };
  const { failures, ending } = await depthSession({ world, plan });
  expect(failures).toEqual([]);
  expect(ending).toBe(plan.ending);
});
