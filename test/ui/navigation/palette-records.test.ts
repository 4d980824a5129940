/** The entries of the command palette for names and ids. */
import { expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import type { ResourceRef } from '../../../src/store/store.ts';
import type { PaletteEntry } from '../../../src/ui/navigation/palette.ts';
import { isNamed, paletteEntries } from '../../../src/ui/navigation/palette-records.ts';

const uuid = '7d9f2c1e-0b5a-4c7e-9f43-2f6b1a8c0d11';
const view: PaletteEntry = { id: 'view.runs', title: 'Runs', words: ['runs', 'run'], note: '', run: () => {} };

const redraw: PaletteEntry = { ...view, id: 'repaint', title: 'redraw the screen', words: [] };

function paletteOf(seen: readonly ResourceRef[] = [], older: readonly ResourceRef[] = []) {
  const opened: Place[] = [];
  const open = (trail: readonly Place[]): void => void opened.push(...trail.slice(-1));
  const entries = (typed: string) =>
    paletteEntries(typed, { entries: [view, redraw], seen, named: () => older, recent: [], open });
  return { opened, titles: (typed: string) => entries(typed).map(({ title }) => title), entries };
}

it('offers every kind for an id without a known prefix (C11)', () => {
  const { entries, titles, opened } = paletteOf();
  const kinds = ['benchmark', 'run', 'training-run', 'trajectory', 'deployment'];
  expect(titles(uuid).toSorted()).toEqual(kinds.map(kind => `${kind} ${uuid}`).toSorted());
  for (const { run } of entries(uuid)) run();
  expect(opened).toContainEqual(expect.objectContaining({ view: 'record', resource: 'training', id: uuid }));
  expect(new Set(entries(uuid).map(({ id }) => id)).size).toBe(5);
});

it('says that only the service can know an id that was not seen (out33 B6)', () => {
  const notes = paletteOf()
    .entries('suite-441')
    .map(({ note }) => note);
  expect(new Set(notes)).toEqual(new Set(['not seen yet']));
});

it('offers no record for a single word of letters or for several words (C11)', () => {
  const { titles } = paletteOf();
  expect(titles('qwerty')).toEqual([]);
  expect(titles(`what ${uuid}`)).toEqual([]);
});

const others = (id: string) => ['benchmark', 'run', 'trajectory', 'deployment'].map(kind => `${kind} ${id}`);

it('offers the kind that the id looks like first, and only one if it is named (B1)', () => {
  const { titles, entries, opened } = paletteOf();
  expect(titles('trn_abc')).toEqual(['open trn_abc', ...others('trn_abc')]);
  expect(titles(`deployment ${uuid}`)).toEqual([`open ${uuid}`]);
  entries(`deployment ${uuid}`)[0]?.run();
  expect(opened).toEqual([expect.objectContaining({ resource: 'deployments', id: uuid })]);
});

it('offers known names and ids before an unseen id (W33)', () => {
  const { titles } = paletteOf([
    { kind: 'training', id: 'trn_0000000QwErT', label: 'first' },
    { kind: 'run', id: uuid, label: 'baseline' },
    { kind: 'run', id: '9c', label: 'gsm8k' },
  ]);
  expect(titles('trn_0000000')).toEqual(['open trn_0000000QwErT', 'open trn_0000000', ...others('trn_0000000')]);
  expect(titles('trn_0000000QwErT')).toEqual(['open trn_0000000QwErT']);
  expect(titles(uuid.slice(0, 8))[0]).toBe(`open ${uuid}`);
  expect(titles(uuid)).toEqual([`open ${uuid}`]);
  expect(titles('gsm8k')[0]).toBe('gsm8k');
});

it('offers a known name before an unseen id of the named kind (W33)', () => {
  const { titles } = paletteOf([{ kind: 'run', id: 'evr_1', label: 'run that failed' }]);
  expect(titles('run failed')).toEqual(['run that failed', 'open failed']);
  expect(titles('run evr_1')[0]).toBe('open evr_1');
});

it('offers a list with a status before names that are only similar', () => {
  const { titles, entries, opened } = paletteOf([{ kind: 'run', id: 'evr_1', label: 'all runs that failed' }]);
  expect(titles('runs failed')).toEqual(['runs /status:failed', 'all runs that failed', 'open failed']);
  entries('runs failed')[0]?.run();
  expect(opened).toEqual([{ view: 'list', resource: 'runs', filter: 'status:failed' }]);
  expect(titles('training succeeded')[0]).toBe('training /status:succeeded');
  // A status of other resources, and a single run.
  expect(titles('runs succeeded')[0]).toBe('open succeeded');
  expect(titles('run failed')[0]).toBe('all runs that failed');
});

it('offers a known id or name first with its kind, however long ago it was seen', () => {
  const { titles, entries, opened } = paletteOf(
    [],
    [
      { kind: 'run', id: 'RD', label: 'other' },
      { kind: 'run', id: 'rD', label: 'mine' },
      { kind: 'training', id: 'tr2', label: 'sweep' },
    ],
  );
  expect(titles('rD').slice(0, 3)).toEqual(['open rD', 'open RD', 'redraw the screen']);
  expect(titles('rd').slice(0, 3)).toEqual(['open RD', 'open rD', 'redraw the screen']);
  const names = paletteOf(
    [],
    ['Sweep', 'sweep'].map(label => ({ kind: 'run', id: `of ${label}`, label })),
  );
  expect(names.titles('sweep').slice(0, 2)).toEqual(['sweep', 'Sweep']);
  entries('tr2')[0]?.run();
  expect(opened).toEqual([expect.objectContaining({ resource: 'training', id: 'tr2' })]);
});

it('offers a benchmark with that name before trajectories, even if only they match exactly (W33)', () => {
  const many = Array.from({ length: 20 }, (_, index) => ({
    kind: 'trajectory',
    id: `traj_${index}`,
    label: `swe repair v3 task ${index}`,
  }));
  const others = [
    { kind: 'run', id: 'evr_1', label: 'SWE repair v3 baseline' },
    { kind: 'benchmark', id: 'bench_1', label: 'SWE repair v3' },
  ];
  const { entries } = paletteOf([...many, ...others]);
  const kinds = (typed: string) => entries(typed).map(({ note }) => note);
  expect(
    entries('swe repair v3')
      .map(({ title }) => title)
      .slice(0, 2),
  ).toEqual(['SWE repair v3', 'SWE repair v3 baseline']);
  expect(kinds('swe rep').slice(0, 3).toSorted()).toEqual(['benchmark', 'run', 'trajectory, traj_0']);
  // A name that a trajectory has too.
  const same = paletteOf([
    { kind: 'trajectory', id: 'traj_x', label: 'words' },
    { kind: 'benchmark', id: 'b', label: 'words' },
  ]);
  expect(same.entries('words').map(({ note }) => note)).toEqual(['benchmark', 'trajectory, traj_x']);
});

it('offers a few trajectories, each with the end of its id, and all of them if they are named (out34 C16)', () => {
  const many = Array.from({ length: 20 }, (_, index) => ({
    kind: 'trajectory',
    id: `traj_abcd${index + 10}`,
    label: 'shop-prices-140',
  }));
  const { entries, titles } = paletteOf([...many, { kind: 'training', id: 'trn_1', label: 'shop-a' }]);
  expect(entries('shop-a').map(({ title, note }) => `${title} ${note}`)).toEqual([
    'shop-a training-run',
    ...['10', '11', '12', '13'].map(end => `shop-prices-140 trajectory, …bcd${end}`),
  ]);
  expect(titles('trajectory shop').filter(title => title === 'shop-prices-140')).toHaveLength(20);
});

it('knows a text whose words a command or a known name contains, but no id that was never seen', () => {
  const { entries } = paletteOf([{ kind: 'run', id: 'evr_1', label: 'maple2 syrup' }]);
  const known = (text: string): boolean => isNamed(text, entries(text));
  expect(['screen', 'redraw screen', 'syrup', 'maple2', 'evr_'].map(known)).toEqual([true, true, true, true, true]);
  expect(['scr2', 'maple3', 'maple pie', 'rdw'].map(known)).toEqual([false, false, false, false]);
});

it('finds a dataset by name and by id', () => {
  const { titles, entries, opened } = paletteOf([{ kind: 'dataset', id: 'ds_3t6bTp', label: 'wiki' }]);
  expect([titles('wiki'), titles('ds_3t6bTp'), titles('dataset wiki')]).toEqual([
    ['wiki'],
    ['open ds_3t6bTp'],
    ['open ds_3t6bTp', 'wiki'],
  ]);
  for (const typed of ['wiki', 'ds_3t6bTp']) entries(typed)[0]?.run();
  const place = { view: 'list', resource: 'trajectories', scope: { dataset: 'wiki' }, label: 'wiki' };
  expect(opened).toEqual([place, place]);
});
