import { stripVTControlCharacters } from 'node:util';
import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { type ReactElement, useCallback, useEffect, useState } from 'react';
import { describe, expect, it } from 'vitest';
import {
  type Cell,
  type Column,
  exportColumns,
  fitColumns,
  type WidestTexts,
  withNamesCut,
} from '../../../src/present/column.ts';
import { numberColumn } from '../../../src/present/number-columns.ts';
import { type Arrangement, createArrange } from '../../../src/present/rows.ts';
import { sortRows } from '../../../src/present/sort.ts';
import { timeColumn } from '../../../src/present/times.ts';
import { KeyRouter } from '../../../src/ui/keys/router.tsx';
import {
  initialTableState,
  type TableAction,
  type TableState,
  tableReducer,
  windowOf,
} from '../../../src/ui/widgets/table/table-state.ts';
import { headerText, rowText, TableView } from '../../../src/ui/widgets/table/table-view.tsx';
import { useTable } from '../../../src/ui/widgets/table/use-table.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { eventually } from '../../eventually.ts';
import { randomFrom } from '../../queries/lists/list-server.ts';

interface Run {
  id: string;
  name: string;
  mean: number | undefined;
}
const columns: readonly Column<Run>[] = [
  { id: 'name', title: 'RUN', width: { min: 6, max: 30, grow: 1 }, value: row => row.name },
  { id: 'mean', title: 'MEAN', width: 6, align: 'right', value: row => row.mean },
  { id: 'note', title: 'NOTE', width: 10, wide: true, value: () => 'a note' },
];
const idOf = (row: Run) => row.id;
const runs = (count: number): Run[] =>
  Array.from({ length: count }, (_, index) => ({ id: `r${index}`, name: `run ${index}`, mean: index / 10 }));

it('cuts a text as its column says, by default in the middle', () => {
  const slug = 'benchtop/tutor-base';
  const cut = (cutAt?: 'start' | 'end') => {
    const column: Column<Run> = { id: 'model', title: 'MODEL', width: 12, value: () => slug, ...(cutAt && { cutAt }) };
    const [run] = runs(1);
    return (
      run && rowText(fitColumns([column], 12), run, { underCursor: false, marked: false }, undefined, createTheme())
    );
  };
  expect(cut()).toContain('bencht…-base');
  expect(cut('end')).toContain('benchtop/tu…');
  expect(cut('start')).toContain('…/tutor-base');
});

it('cuts a title at its end, unless another one starts alike', () => {
  const header = (...titles: readonly string[]): string => {
    const fitted = titles.map(title => ({ column: { id: title, title, width: 7, value: () => '' }, width: 7 }));
    return stripVTControlCharacters(headerText(fitted, undefined, createTheme()));
  };
  expect(header('LEARNING_RATE', 'LORA_RANK', 'LORA_ALPHA')).toMatch(/LEARNI… +LORA_R… +LORA_A…/);
  expect(header('SAMPLES_PER_STEP', 'SAMPLES_PER_TASK')).toMatch(/SAM…TEP +SAM…ASK/);
});

it('shows the difference between names that differ in the middle', () => {
  const [name] = columns;
  const named: Column<Run>[] = name ? [name] : [];
  const rows = runs(2).map(run => ({ ...run, name: `${'nightly '.repeat(5)}${run.name}${' of the tutor'.repeat(3)}` }));
  const look = { underCursor: false, marked: false };
  const drawn = (fitted: ReturnType<typeof fitColumns<Run>>) =>
    rows.map(row => rowText(fitted, row, look, undefined, createTheme('plain')).trim());
  const fitted = fitColumns(named, 24);
  expect(new Set(drawn(fitted)).size).toBe(1);
  expect(drawn(withNamesCut(fitted, rows))).toEqual([
    expect.stringContaining('…n 0 of the'),
    expect.stringContaining('…n 1 of the'),
  ]);
});

it('shows a status in words, and finds it in either spelling', () => {
  interface Job {
    readonly id: string;
    readonly status: string;
  }
  const status: Column<Job> = { id: 'status', title: 'STATUS', width: 20, value: job => job.status, status: true };
  const jobs = ['cancel_signaled', 'running', 'a_new_one'].map(each => ({ id: each, status: each }));
  const look = { underCursor: false, marked: false };
  const drawn = jobs.map(job => rowText(fitColumns([status], 20), job, look, undefined, createTheme('plain')));
  expect(drawn.map(text => text.trim().slice(2))).toEqual(['cancel signaled', 'running', 'a_new_one']);
  const arrange = createArrange([status], job => job.id);
  for (const filter of ['cancel signaled', 'cancel_signaled', '/^cancel signaled$/', '~cancelsig'])
    expect([filter, arrange(jobs, { filter, sort: undefined }).ids]).toEqual([filter, ['cancel_signaled']]);
  expect(exportColumns([status]).map(({ value }) => jobs.map(value))).toEqual([jobs.map(job => job.status)]);
});

describe('fitColumns', () => {
  const widths = (room: number, choice = {}) =>
    fitColumns(columns, room, choice).map(({ column, width }) => [column.id, width]);

  it('distributes spare room to columns that grow', () => {
    expect(widths(20)).toEqual([
      ['name', 12],
      ['mean', 6],
    ]);
  });

  it('adds wide columns if there is room, and drops columns from the right if there is not', () => {
    expect(widths(60)).toEqual([
      ['name', 30],
      ['mean', 6],
      ['note', 10],
    ]);
    expect(widths(10)).toEqual([['name', 10]]);
    expect(widths(3)).toEqual([['name', 3]]);
  });

  it('follows the choice of the user', () => {
    expect(widths(60, { note: { shown: false } }).map(([id]) => id)).toEqual(['name', 'mean']);
    expect(widths(30, { note: { shown: true }, mean: { shown: false } }).map(([id]) => id)).toEqual(['name', 'note']);
  });

  it('widens and narrows a column', () => {
    const nameOf = (wider: number) => Number(widths(40, { name: { wider } })[0]?.[1]);
    expect(nameOf(8)).toBeGreaterThan(nameOf(-8));
    expect(widths(40, { name: { wider: -100 } }).every(([, width]) => Number(width) >= 1)).toBe(true);
  });
});

describe('fitColumns with rows', () => {
  const optional: readonly Column<Run>[] = [
    { id: 'name', title: 'RUN', width: { min: 6, max: 60, grow: 1 }, value: row => row.name },
    { id: 'model', title: 'MODEL', width: { min: 6, max: 30, grow: 3 }, value: row => row.id },
    { id: 'n', title: 'N', width: 5, wide: true, align: 'right', value: () => 3 },
  ];
  const row = (id: string, name: string): Run => ({ id, name, mean: undefined });
  const widths = (rows: readonly Run[], widest?: WidestTexts) =>
    fitColumns(optional, 60, {}, rows, widest).map(({ column, width }) => [column.id, width]);

  it('leaves out an optional column if names need its room', () => {
    const [short, long] = [row('m', 'short'), row('m'.repeat(20), 'n'.repeat(34))];
    expect(widths([short]).map(([id]) => id)).toEqual(['name', 'model', 'n']);
    expect(widths([long]).map(([id]) => id)).toEqual(['name', 'model']);
  });

  it('leaves out a time if a short name needs its room, and a column decides', () => {
    const started: Column<Run> = { id: 'started', title: 'STARTED', width: 8, time: 'instant', value: () => 1 };
    const best: Column<Run> = { id: 'best', title: 'BEST', width: 5, wide: true, decides: 1, value: () => 1 };
    const [name, ...others] = optional;
    const ids = (names: string) =>
      fitColumns(name ? [name, ...others, best, started] : [], 30, {}, [row('m', names)]).map(
        ({ column }) => column.id,
      );
    expect(ids('short')).toContain('started');
    expect(ids('n'.repeat(16))).toEqual(['name', 'model']);
  });

  it('shows a column only beside the one it explains', () => {
    const [name, ...others] = optional;
    const best: Column<Run> = { id: 'best', title: 'BEST', width: 9, wide: true, decides: 1, value: () => 1 };
    const at: Column<Run> = { id: 'at', title: 'AT', width: 2, wide: true, decides: 2, beside: 'best', value: () => 1 };
    const ids = (room: number) =>
      fitColumns(name ? [name, ...others, best, at] : [], room, {}, [row('m', 'short')]).map(({ column }) => column.id);
    expect(ids(20)).not.toContain('at');
    expect(ids(40)).toEqual(expect.arrayContaining(['best', 'at']));
  });

  it('leaves out an optional column without a text', () => {
    const empty: Column<Run> = { id: 'checkpoint', title: 'CHECKPOINT', width: 12, wide: true, value: () => undefined };
    const [first, ...others] = optional;
    const ids = (rows: readonly Run[], choice = {}) =>
      fitColumns(first ? [first, empty, ...others] : [], 40, choice, rows).map(({ column }) => column.id);
    expect(ids([row('m', 'short')])).toEqual(['name', 'model', 'n']);
    expect(ids([row('m', 'short')], { checkpoint: { shown: true } })).toContain('checkpoint');
  });

  it('gives room to what would be cut before what already fits', () => {
    const [name, model] = widths([row('m'.repeat(10), 'n'.repeat(48))]);
    expect([name, model]).toEqual([
      ['name', 48],
      ['model', 10],
    ]);
  });

  it('cuts no name while there is room, even one beyond its width, unless the user chose the width', () => {
    const long = [row('m'.repeat(45), 'n'.repeat(20))];
    const widthsIn = (room: number, choice = {}) =>
      fitColumns(optional.slice(0, 2), room, choice, long).map(({ width }) => width);
    expect(widthsIn(120)).toEqual([60, 45]);
    expect(widthsIn(60)).toEqual([20, 38]);
    expect(widthsIn(120, { model: { wider: -4 } })).toEqual([60, 26]);
  });

  it('shows no column without a text in any row, unless chosen', () => {
    const long = { id: 'r', name: 'a name of twenty-one', mean: undefined };
    const ids = (rows: readonly Run[]) =>
      fitColumns(columns, 24, {}, rows).map(({ column, width }) => [column.id, width]);
    expect(ids([long])).toEqual([['name', 24]]);
    expect(ids([long, { ...long, mean: 1 }])).toEqual([
      ['name', 16],
      ['mean', 6],
    ]);
    expect(ids([{ ...long, name: 'short' }]).map(([id]) => id)).toEqual(['name', 'note']);
    const chosen = fitColumns(columns, 24, { mean: { shown: true } }, [long]);
    expect(chosen.map(({ column }) => column.id)).toEqual(['name', 'mean']);
  });

  it('gives the room of columns with equal texts to names that a deciding column would cut', () => {
    const many: readonly Column<Run>[] = [
      { id: 'name', title: 'RUN', width: { min: 6, max: 30, grow: 1 }, value: row => row.name },
      { id: 'state', title: 'STATE', width: 10, value: () => 'completed' },
      { id: 'model', title: 'MODEL', width: { min: 6, max: 20, grow: 1 }, value: row => `model of ${row.name}` },
      { id: 'n', title: 'N', width: 5, align: 'right', wide: true, decides: 1, value: row => row.mean },
    ];
    const fitted = (room: number) =>
      fitColumns(many, room, {}, runs(3), new Map(), new Set(['state'])).map(({ column, width }) => [column.id, width]);
    // Beside the state, the deciding column would leave the model 6 of its 14 cells.
    expect(fitted(32)).toEqual([
      ['name', 7],
      ['model', 16],
      ['n', 5],
    ]);
    expect(fitted(46).map(([id]) => id)).toEqual(['name', 'state', 'model', 'n']);
  });

  it('keeps its widths while rows scroll', () => {
    const widest: WidestTexts = new Map();
    const before = widths([row('m'.repeat(20), 'n'.repeat(33))], widest);
    expect(widths([row('m', 'short')], widest)).toEqual(before);
  });
});

describe('createArrange', () => {
  const arrange = createArrange(columns, idOf);
  const plain: Arrangement = { filter: '', sort: undefined };
  const names = (rows: readonly Run[], arrangement: Partial<Arrangement>) =>
    arrange(rows, { ...plain, ...arrangement }).rows.map(row => row.name);

  it('sorts numbers by size, texts naturally, and missing values last', () => {
    const rows: Run[] = [
      { id: '1', name: 'run 10', mean: undefined },
      { id: '2', name: 'run 9', mean: 2 },
      { id: '3', name: 'Run 1', mean: 10 },
    ];
    expect(names(rows, { sort: { column: 'name', descending: false } })).toEqual(['Run 1', 'run 9', 'run 10']);
    expect(names(rows, { sort: { column: 'mean', descending: true } })).toEqual(['Run 1', 'run 9', 'run 10']);
    expect(names(rows, { sort: { column: 'mean', descending: false } })).toEqual(['run 9', 'Run 1', 'run 10']);
  });

  it('filters in every filter syntax, and names errors', () => {
    const rows = runs(30);
    expect(names(rows, { filter: '"run 2"' })).toHaveLength(11);
    expect(names(rows, { filter: '2 run' })).toHaveLength(12);
    expect(names(rows, { filter: '/^run 2\\d/' })).toHaveLength(10);
    expect(names(rows, { filter: '!"run 2"' })).toHaveLength(19);
    // The ends of each cell, and not of the row.
    expect(names(rows, { filter: '/run .*2$/' })).toEqual(['run 2', 'run 12', 'run 22']);
    expect(arrange(rows, { ...plain, filter: '/(/' })).toMatchObject({ filter: undefined, notice: expect.any(String) });
  });

  it('finds the same by narrowing as from scratch', () => {
    const rows = runs(300);
    const stepwise = ['r', 'run 1', 'run 12'].map(filter => names(rows, { filter })).at(-1);
    expect(stepwise).toEqual(
      createArrange(columns, idOf)(rows, { ...plain, filter: 'run 12' }).rows.map(row => row.name),
    );
  });

  it('does not format the ages of rows to filter them', () => {
    const times = new Set<string>();
    const aged = timeColumn<Run>('made', 'MADE', row => {
      times.add(row.id);
      return '2026-01-01T00:00:00Z';
    });
    const arrange = createArrange([...columns, aged], idOf);
    const { rows } = arrange(runs(20), { filter: 'run 1', sort: undefined });
    expect(rows).toHaveLength(11);
    expect(times.size).toBe(0);
  });

  it('returns the same object while nothing changes', () => {
    const rows = runs(5);
    expect(arrange(rows, plain)).toBe(arrange(rows, plain));
  });
});

/** Two cells as they are to be ordered, one pair at a time. */
function compareCells(left: Cell, right: Cell, descending: boolean): number {
  if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
  const order =
    typeof left === 'number' && typeof right === 'number'
      ? left - right
      : String(left).localeCompare(String(right), 'en', { numeric: true, sensitivity: 'base' });
  return descending ? -order : order;
}

describe('sortRows', () => {
  const words = ['run 9', 'Run 10', 'run 10', '', 'b-1', 'b_1', 'état', 'Zug', '10', '9', 'naïve 2', 'naïve 10'];
  const cells = [...words, 3, -1, 0.5, 10, Number.NaN, undefined];
  const random = randomFrom(7);
  const sample = (from: readonly Cell[]) =>
    Array.from({ length: 200 }, (_, id) => ({ id, cell: from[Math.floor(random() * from.length)] }));

  it.each([
    ['texts', words],
    ['numbers', cells.filter(cell => typeof cell !== 'string')],
    ['texts, some missing', [...words, undefined]],
  ])('orders %s like a comparison of each pair, and keeps equal ones in order', (_name, from) => {
    for (const descending of [false, true]) {
      const rows = sample(from);
      const known = (cell: Cell): Cell => (Number.isNaN(cell) ? undefined : cell);
      const compared = rows.toSorted((left, right) => compareCells(known(left.cell), known(right.cell), descending));
      expect(sortRows(rows, row => row.cell, descending)).toEqual(compared);
    }
  });

  it('loses no row, for any values', () => {
    const rows = sample(cells);
    expect(new Set(sortRows(rows, row => row.cell, true))).toEqual(new Set(rows));
    expect(sortRows([], () => 1, false)).toEqual([]);
  });
});

describe('tableReducer', () => {
  const arrange = createArrange(columns, idOf);
  const height = 10;
  const play = (state: TableState, rows: readonly Run[], ...actions: TableAction[]) =>
    actions.reduce(
      (at, action) => tableReducer(at, action, { arranged: arrangement => arrange(rows, arrangement), height }),
      state,
    );
  const seen = (state: TableState, rows: readonly Run[], keepsTop = false) => {
    const { cursor, offset } = windowOf(state, arrange(rows, state), { height, keepsTop });
    return [arrange(rows, state).ids[cursor], cursor - offset];
  };
  const rows = runs(100);

  it('scrolls at its edges only', () => {
    const down = play(initialTableState, rows, { kind: 'move', by: 12 });
    expect(seen(down, rows)).toEqual(['r12', 9]);
    expect(seen(play(down, rows, { kind: 'move', by: -4 }), rows)).toEqual(['r8', 5]);
    expect(seen(play(down, rows, { kind: 'move', by: -12 }), rows)).toEqual(['r0', 0]);
  });

  it('stops at both ends, by line and by page', () => {
    expect(seen(play(initialTableState, rows, { kind: 'move', by: -1 }), rows)).toEqual(['r0', 0]);
    expect(seen(play(initialTableState, rows, { kind: 'bottom' }, { kind: 'page', pages: 1 }), rows)).toEqual([
      'r99',
      9,
    ]);
    expect(seen(play(initialTableState, rows, { kind: 'page', pages: 1 }), rows)[0]).toBe('r9');
  });

  it('keeps the cursor and its row when rows come and go', () => {
    const state = play(initialTableState, rows, { kind: 'move', by: 20 }, { kind: 'move', by: -3 });
    expect(seen(state, rows)).toEqual(['r17', 6]);
    const more = [...runs(5).map(run => ({ ...run, id: `new ${run.id}` })), ...rows];
    expect(seen(state, more)).toEqual(['r17', 6]);
    const fewer = rows.filter(row => row.id !== 'r17');
    expect(seen(state, fewer)[0]).toBe('r18');
  });

  it('keeps showing the first row above a cursor that stays on its row, on request', () => {
    const more = (count: number) => [...runs(count).map(run => ({ ...run, id: `new ${run.id}` })), ...rows];
    const near = play(initialTableState, rows, { kind: 'move', by: 2 });
    expect(seen(near, more(5), true)).toEqual(['r2', 7]);
    expect(seen(near, more(50), true)).toEqual(['r2', 9]);
    const far = play(initialTableState, rows, { kind: 'move', by: 20 }, { kind: 'move', by: -3 });
    expect(seen(far, more(5), true)).toEqual(['r17', 6]);
  });

  it('follows the first row until the user moves', () => {
    const more = [{ id: 'new', name: 'new', mean: 1 }, ...rows];
    expect(seen(initialTableState, more)).toEqual(['new', 0]);
  });

  it('keeps the row through sorting, and through a filter that matches it', () => {
    const state = play(initialTableState, rows, { kind: 'move', by: 42 });
    expect(seen(play(state, rows, { kind: 'reverse', columns }), rows)[0]).toBe('r42');
    expect(seen(play(state, rows, { kind: 'filter', filter: 'run 4' }), rows)[0]).toBe('r42');
    expect(seen(play(state, rows, { kind: 'filter', filter: 'run 7' }), rows)).toEqual(['r7', 0]);
  });

  it('shows the first rows of a new order if the cursor is on the first row', () => {
    const best = { column: 'mean', descending: true };
    const first = play(initialTableState, rows, { kind: 'select', id: 'r0' });
    const sorted = play(first, rows, { kind: 'choose-columns', choice: {}, sort: best });
    expect(sorted.cursorId).toBeUndefined();
    const moved = play(first, rows, { kind: 'move', by: 1 }, { kind: 'choose-columns', choice: {}, sort: best });
    expect(moved.cursorId).toBe('r1');
  });

  it('sorts by the next column and after the last by none, with the best first if higher is better', () => {
    const next = { kind: 'sort-next' as const, columns: [{ id: 'name' }, { id: 'mean', bestFirst: true }] };
    const sorts = [1, 2, 3].map(
      times => play(initialTableState, rows, ...Array.from({ length: times }, () => next)).sort,
    );
    expect(sorts).toEqual([{ column: 'name', descending: false }, { column: 'mean', descending: true }, undefined]);
    const reversed = play(initialTableState, rows, next, next, { ...next, kind: 'reverse' });
    expect(reversed.sort).toEqual({ column: 'mean', descending: false });
  });

  it('marks a row and moves to the next', () => {
    const state = play(initialTableState, rows, { kind: 'toggle-mark' }, { kind: 'toggle-mark' });
    expect([[...state.marks], seen(state, rows)[0]]).toEqual([['r0', 'r1'], 'r2']);
    // Esc undoes the last input: the filter, then the marks.
    const filtered = play(state, rows, { kind: 'filter', filter: 'run' });
    const cleared = play(filtered, rows, { kind: 'escape' });
    expect([cleared.filter, cleared.marks.size]).toEqual(['', 2]);
    expect(play(cleared, rows, { kind: 'escape' }).marks.size).toBe(0);
  });

  it('handles an empty table', () => {
    const state = play(initialTableState, [], { kind: 'move', by: 1 }, { kind: 'bottom' }, { kind: 'toggle-mark' });
    expect(seen(state, [])).toEqual([undefined, -1]);
  });
});

const opened: string[] = [];

function Runs({ count }: { count: number }) {
  const [rows] = useState(() => runs(count));
  const table = useTable({ rows, columns, id: idOf, height: 8, width: 30, opening: row => () => opened.push(row.id) });
  return (
    <TableView
      table={table}
      columns={columns}
      id={idOf}
      width={30}
      focused
      total={rows.length}
      emptyText="No runs yet"
    />
  );
}

describe('TableView', () => {
  const open = (count: number) =>
    render(
      <KeyRouter>
        <Runs count={count} />
      </KeyRouter>,
    );
  const plain = (frame: string | undefined) => (frame ?? '').replace(/\u001b\[[\d;]*m/g, '');

  it('moves 100 rows for 100 keys of one read, then opens the last one', async () => {
    opened.length = 0;
    const { stdin, lastFrame, unmount } = open(500);
    stdin.write(`${'j'.repeat(100)}`);
    stdin.write('\r');
    await eventually(() => expect(opened).toEqual(['r100']));
    expect(plain(lastFrame())).toContain('▸ run 100');
    expect(plain(lastFrame())).toContain('101/500');
    unmount();
  });

  it('filters while typing, keeps the filter on enter and drops it on escape', async () => {
    const { stdin, lastFrame, unmount } = open(500);
    stdin.write('/"run 49"\r');
    await eventually(() => expect(plain(lastFrame())).toContain('/"run 49" '));
    await eventually(() => expect(plain(lastFrame())).toContain('1/11 of 500'));
    stdin.write('/');
    await eventually(() => expect(lastFrame()).toContain('\u001b[7m'));
    stdin.write('\u001b');
    await eventually(() => expect(plain(lastFrame())).toContain('50/500'));
    unmount();
  });

  it('names what a filter matches in the row under the cursor if no cell shows it (out29 C5)', async () => {
    const id: Column<Run> = { id: 'id', title: 'ID', width: 5, hidden: true, value: idOf };
    function Ids() {
      const [rows] = useState(() => runs(20));
      const all = [...columns.slice(0, 2), id];
      const table = useTable({ rows, columns: all, id: idOf, height: 8, width: 60 });
      return <TableView table={table} columns={all} id={idOf} width={60} focused total={20} emptyText="none" />;
    }
    const { stdin, lastFrame, unmount } = render(
      <KeyRouter>
        <Ids />
      </KeyRouter>,
    );
    stdin.write('/r1\r');
    await eventually(() => expect(plain(lastFrame())).toContain('/r1  ▸ matches ID r1 '));
    stdin.write('j');
    await eventually(() => expect(plain(lastFrame())).toContain('/r1  ▸ matches ID r10 '));
    stdin.write('/\u0015run 1\r');
    await eventually(() => expect(plain(lastFrame())).toContain('/run 1 '));
    expect(plain(lastFrame())).not.toContain('matches');
    unmount();
  });

  it('shows the whole error of a filter, below the rows, while typing and after', async () => {
    const { stdin, lastFrame, unmount } = open(500);
    const text = () => plain(lastFrame()).replace(/\s+/g, ' ');
    const error =
      /There is no column stauts. To search for this text, put it in quotes: "stauts:x". Columns: name, mean/;
    stdin.write('/stauts:x');
    await eventually(() => expect(text()).toMatch(error));
    expect(plain(lastFrame())).toContain('/stauts:x');
    // Rows below it would look like those that it finds.
    expect(text()).not.toMatch(/run \d/);
    stdin.write('\r');
    await eventually(() => expect(text()).toMatch(error));
    unmount();
  });

  it('goes to the end of the list behind the rows once the rest is read', async () => {
    const plainRows = runs(10);
    const ordered = plainRows.toReversed();
    const stopped = Promise.withResolvers<void>();
    const read: string[] = [];
    function Ordered() {
      const [rows, setRows] = useState(plainRows);
      const isPlain = rows === plainRows;
      const readRest = useCallback(() => {
        read.push(isPlain ? 'plain' : 'ordered');
        if (!isPlain) return Promise.resolve();
        // The service is asked for the order meanwhile, which ends the read.
        setRows(ordered);
        return stopped.promise;
      }, [isPlain]);
      const table = useTable({ rows, columns, id: idOf, height: 8, width: 30, sorted: true, readRest });
      useEffect(() => {
        if (!isPlain) stopped.resolve();
      }, [isPlain]);
      return <TableView {...{ table, columns, id: idOf, width: 30, focused: true, total: 10, emptyText: '' }} />;
    }
    const { stdin, lastFrame, unmount } = render(
      <KeyRouter>
        <Ordered />
      </KeyRouter>,
    );
    stdin.write('G');
    await eventually(() => expect(read).toEqual(['plain', 'ordered']));
    await eventually(() => expect(plain(lastFrame())).toMatch(/▸ run 0 .*\n.*10\/10/));
    unmount();
  });

  it('prepares the texts of many rows before a filter is typed', async () => {
    const read = new Set<string>();
    const nameOf = (row: Run): string => {
      read.add(row.id);
      return row.name;
    };
    const noting: readonly Column<Run>[] = [{ id: 'name', title: 'RUN', width: 10, value: nameOf }];
    const many = runs(5_000);
    function Many() {
      const table = useTable({ rows: many, columns: noting, id: idOf, height: 8, width: 80 });
      return <Text>{table.shown.length}</Text>;
    }
    const { unmount } = render(
      <KeyRouter>
        <Many />
      </KeyRouter>,
    );
    expect(read.size).toBe(0);
    await eventually(() => expect(read.size).toBe(5_000));
    unmount();
  });

  it('gives away the room of a column whose values are all equal, and shows its value once', async () => {
    const model: Column<Run> = {
      id: 'model',
      title: 'MODEL',
      width: { min: 8, max: 20, grow: 1 },
      value: () => 'tutor-base',
    };
    const [name, mean] = columns as [Column<Run>, Column<Run>];
    const rows = runs(3).map(row => ({ ...row, name: `${row.name} with a name of 30 cells` }));
    function Equal({ width, given = rows }: { width: number; given?: readonly Run[] }) {
      const all = [name, model, mean];
      const table = useTable({ rows: given, columns: all, id: idOf, height: 8, width });
      return <TableView table={table} columns={all} id={idOf} width={width} focused total={3} emptyText="none" />;
    }
    const frame = (element: ReactElement) => {
      const { lastFrame, unmount } = render(<KeyRouter>{element}</KeyRouter>);
      const text = plain(lastFrame());
      unmount();
      return text;
    };
    const narrow = frame(<Equal width={48} />);
    expect(narrow).toContain('in every row: MODEL tutor-base');
    expect(narrow).toMatch(/run 1 with a name of 30 cells +0\.1/);
    expect(narrow.split('\n')[0]).not.toContain('MODEL');
    // There is room for it, or too little to say it, or one row only.
    expect(frame(<Equal width={80} />)).not.toContain('all rows');
    expect(frame(<Equal width={30} />)).not.toContain('all rows');
    expect(frame(<Equal width={50} given={rows.slice(0, 1)} />)).not.toContain('all rows');
  });

  it('shows an arrow at the column it is sorted by', async () => {
    const { stdin, lastFrame, unmount } = open(3);
    stdin.write('ssS');
    await eventually(() => expect(plain(lastFrame())).toContain('MEAN▼'));
    expect(plain(lastFrame()).split('\n')[1]).toContain('run 2');
    unmount();
  });

  it('cuts no title for its arrow if the numbers are short', () => {
    const [name] = columns as [Column<Run>];
    const all = [name, numberColumn<Run>('mean', 'MEAN', () => 1, { text: String })];
    const initial: TableState = { ...initialTableState, sort: { column: 'mean', descending: false } };
    function Short() {
      const table = useTable({ rows: runs(3), columns: all, id: idOf, height: 8, width: 24, initial });
      return <TableView table={table} columns={all} id={idOf} width={24} focused total={3} emptyText="none" />;
    }
    const { lastFrame, unmount } = render(
      <KeyRouter>
        <Short />
      </KeyRouter>,
    );
    expect(plain(lastFrame()).split('\n').slice(0, 2)).toEqual([
      '  RUN              MEAN▲',
      '▸ run 0                1',
    ]);
    unmount();
  });

  it('has a message for an empty table', () => {
    const { lastFrame, unmount } = open(0);
    expect(plain(lastFrame())).toContain('No runs yet');
    unmount();
  });
});

it('shows no control characters of a row', () => {
  const hostile: readonly Column<Run>[] = [{ id: 'x', title: 'X', width: 10, value: () => '\u001b[2Jx\u202e' }];
  const line = rowText(
    fitColumns(hostile, 10),
    { id: 'r', name: 'run', mean: 0 },
    { underCursor: false, marked: false },
    undefined,
    createTheme('plain'),
  );
  expect(line).toBe('  x         ');
});
