/** Views on a busy service at every size: the deciding numbers are on screen, and no number is cut. */
import { expect, it, onTestFinished } from 'vitest';
import { defaultIntervals } from '../../../src/queries/polling.ts';
import type { Place } from '../../../src/resources/place.ts';
import { busyWorld } from '../../busy-world.ts';
import { scriptedService } from '../../queries/scripted-service.ts';
import { openProgram } from './rig.tsx';
import { pass, passing, startVirtualTime } from './virtual-time.ts';

const minuteMs = 60_000;
const sizes = [
  [200, 60],
  [120, 40],
  [80, 24],
  [60, 15],
] as const;

interface Case {
  readonly start: Place;
  readonly keys?: string;
  /** The texts that are on screen at every size. */
  readonly shows: readonly RegExp[];
  readonly minutes?: number;
}

const overlaid = [0, 1, 2].map(index => ({ id: `trn_000000${index}`, name: `2026-11-01_sweep_qwen3_g8_seed${index}` }));

const cases: readonly (readonly [string, Case])[] = [
  [
    'evaluations',
    { start: { view: 'list', resource: 'runs' }, shows: [/● running +0\.410 n=40\+/, /✓ completed +0\.460( |│)/] },
  ],
  [
    'the inbox',
    {
      ...{ start: { view: 'inbox' }, minutes: 3 },
      shows: [
        /seed1 +✗ failed/,
        /seed2 +✓ succeeded/,
        /NCCL wat/,
        /(seed1 +✗ failed|in every row: TIME) .*(\d\d:\d\d|\d+[sm] ago)/,
      ],
    },
  ],
  [
    'overlaid curves',
    {
      start: { view: 'curves', runs: overlaid },
      shows: [/seed0/, /seed1/, /seed2/, /0\.\d+┤.*[\u2801-\u28ff]{3}/, /0\.\d{3}/],
    },
  ],
  [
    'the form of an evaluation',
    {
      start: { view: 'list', resource: 'benchmarks' },
      keys: 'e',
      shows: [/─ Evaluate on swe-terminal-repair-v3-0/, /▸ Model/, /rollouts/],
    },
  ],
  [
    'the form of a training run',
    {
      start: { view: 'list', resource: 'benchmarks' },
      keys: 't',
      shows: [/Train on swe-terminal-repair-v3-0/, /▸ Model/, /cost unknown/],
    },
  ],
];

it.each(cases)('%s', async (_, { start, keys = '', shows, minutes = 0.5 }) => {
  startVirtualTime();
  const busy = busyWorld();
  const { service } = scriptedService(busy.answers);
  const { screen, close } = openProgram({ service, start, poll: defaultIntervals, columns: 200, rows: 60 });
  onTestFinished(close);
  await pass(minuteMs);
  busy.end(busy.runs[1], 'failed');
  busy.end(busy.runs[2], 'succeeded', Date.now() - 30_000);
  await pass(minutes * minuteMs);
  for (const key of keys) await passing(screen.press(key));
  for (const [columns, rows] of sizes) {
    await passing(screen.resize(columns, rows));
    for (const shown of shows) await passing(screen.waitFor(text => shown.test(text)));
    expect(screen.text()).not.toMatch(/[\s│][\d.]+…/);
  }
});
