/** A number is drawn whole or not at all, at every width (W7). */
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { type Column, cellText, fitColumns, markWidth } from '../../src/present/column.ts';
import { unknownResource } from '../../src/queries/statuses/known-resource.ts';
import { resources } from '../../src/resources/catalogue.ts';
import { checkpointColumns } from '../../src/resources/training.ts';
import { trainingColumns } from '../../src/resources/training-columns.ts';
import type { WatchedResource } from '../../src/resources/watch.ts';
import { sanitiseLine } from '../../src/text/sanitise.ts';
import { displayWidth } from '../../src/text/width.ts';
import { watchColumns } from '../../src/ui/views/watch-columns.ts';
import { rowText } from '../../src/ui/widgets/table/table-view.tsx';
import { createTheme } from '../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('plain');
const widths = Array.from({ length: 301 }, (_, index) => 20 + index);

/** A record in which every field that may hold a number holds a large one. */
const large = new Proxy<Record<string, unknown>>(
  {},
  {
    get: (_, name) => {
      if (name === 'status') return 'running';
      if (name === 'options') return { num_steps: 20_000_000 };
      return /(_at|At)$/.test(String(name)) ? '2020-01-02T03:04:05Z' : 1_734_712_345;
    },
  },
);

/** The numeric columns that are drawn narrower than one of their texts, in its short form if it has one. */
function cut<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  return widths.flatMap(width => {
    const fitted = fitColumns(columns, width, {}, rows);
    expect(fitted.length).toBeGreaterThan(0);
    return fitted.flatMap(({ column, width: cells }) =>
      (column.align === 'right' || column.whole) &&
      rows.some(row => {
        const text = sanitiseLine(column.shortText?.(row) ?? cellText(column, row));
        return displayWidth(text) + (column.look ? markWidth : 0) > cells;
      })
        ? [`${column.id} in ${cells} cells at ${width}`]
        : [],
    );
  });
}

const textOrNone = (column: Column<never>): boolean => {
  try {
    cellText(column, large as never);
    return true;
  } catch {
    return false;
  }
};

it.each(resources.map(({ names, columns }) => [names[0], columns] as const))(
  'shows every number completely in the table of %s, at any width',
  (_, columns) => {
    const readable = (columns as readonly Column<never>[]).filter(textOrNone);
    expect(readable.length).toBeGreaterThan(columns.length / 2);
    expect(cut(readable, [large as never])).toEqual([]);
  },
);

it('cuts names instead in the tables of checkpoints and training runs', () => {
  expect(cut(checkpointColumns, [{ checkpoint_id: 'ckpt_1', step_index: 123_456_789 }])).toEqual([]);
  const run = {
    training_run_id: 'trn_1',
    display_name: '2026-11-01_swe-terminal-repair-v3_qwen3-next_80b_lr0.00001_g8_seed0_and_more_of_it',
    status: 'running',
    completed_steps: 17_347,
    options: { num_steps: 20_000 },
  };
  expect(cut(trainingColumns, [run])).toEqual([]);
  const at = (width: number) =>
    stripVTControlCharacters(
      rowText(
        fitColumns(trainingColumns, width, {}, [run]),
        run,
        { underCursor: false, marked: false },
        undefined,
        theme,
      ),
    );
  expect(at(60)).toMatch(/…\w* {2}\S running +17347 {2}20000/);
});

it('shows every number completely in Watch', () => {
  const row: WatchedResource = {
    ...unknownResource({ kind: 'training', id: 'trn_1' }, 'a-name-of-some-length-that-may-be-cut'),
    status: 'running',
    done: 1_088_123,
    total: 20_000_000,
    mean: 0.613,
    measured: {
      last: { step: 1_000_000, reward: 0.325, samples: 128 },
      best: { step: 900_000, reward: 0.4, samples: 1 },
      curve: [],
      everySteps: undefined,
      upTo: 1_000_000,
    },
    pinned: true,
    pace: '1.5 steps/s  ETA 8m 8s',
    rate: '1.5 steps/s',
    standing: { kind: 'moving', stepMs: 667, leftMs: 488_000 },
    readAt: undefined,
    benchmark: undefined,
    alarms: [],
  };
  const rows: readonly WatchedResource[] = [
    row,
    { ...row, standing: { kind: 'silent', forMs: 59 * 60_000, atLeast: true } },
    { ...row, status: 'failed', startedAt: '2020-01-02T03:04:05Z', endTime: '2021-01-02T03:59:05Z' },
    { ...row, kind: 'run', measured: undefined, mean: 0.41, graded: 1_234_567, done: 1_234_568, total: 2_345_678 },
  ];
  for (const room of [58, 78, 97, 118, 180]) {
    const columns = watchColumns({ room, range: [0, 1], spark: () => '' });
    expect(cut(columns, rows)).toEqual([]);
  }
});
