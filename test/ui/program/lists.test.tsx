/** Partly read lists on screen: nothing is claimed of all rows that holds only for some. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { notFound, pageOf } from '../../queries/scripted-service.ts';
import { inOwnFolders } from '../own-folder.ts';
import { ManyRows, type Sorting } from './many-rows.ts';
import { openProgram, type Rig } from './rig.tsx';
import { openWorld, world } from './scripted-world.tsx';

const start = { view: 'list', resource: 'trajectories' } as const;
let rig: Rig | undefined;

/** Opens the list, which is not read again within the test. */
async function openList(many: ManyRows): Promise<Rig> {
  const poll = { focusedMs: 600_000, visibleMs: 600_000 };
  rig = openProgram({ service: many.service, start, poll, columns: 200, rows: 30 });
  await rig.screen.waitFor('▸ task');
  return rig;
}

afterEach(() => {
  rig?.close();
  rig = undefined;
});

const task = (number: number): string => `▸ task ${String(number).padStart(6, '0')}`;

/** Promises that resolve when the test says so. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, open: resolve };
}

it.each([80, 120])('are counted in their section, with its full name, at %i columns', async columns => {
  rig = openProgram({ service: new ManyRows(7_400).service, start, columns, rows: 24 });
  await rig.screen.waitFor(text => /Trajectories +200\+ ?│/.test(text));
  await rig.screen.press('G');
  await rig.screen.waitFor(text => /Trajectories +7400 ?│/.test(text));
});

it.each([
  [80, /Trajectories +1k\+│/],
  [120, /Trajectories +1200\+ │/],
])(
  'are counted in their section, with its full name, before they are all read, at %i columns',
  async (columns, words) => {
    const many = new ManyRows(7_400);
    const held = gate();
    many.before = ({ cursor }) => (Number(cursor) >= 1_200 ? held.promise : Promise.resolve());
    rig = openProgram({ service: many.service, start, columns, rows: 24 });
    await rig.screen.waitFor('▸ task');
    await rig.screen.press('G');
    await rig.screen.waitFor(text => words.test(text));
    held.open();
  },
);

it('continue after a failed next page, with the next successful answer (U33)', async () => {
  const many = new ManyRows(600);
  const { screen } = await openList(many);
  let isBroken = true;
  many.before = async ({ cursor }) => {
    if (cursor && isBroken) throw new Error('the store is out');
  };
  await screen.type('j'.repeat(180));
  await screen.waitFor('the store is out');
  isBroken = false;
  await screen.press('r');
  await screen.waitFor(text => text.includes('181/400+') && !text.includes('the store is out'));
});

describe('the last row', () => {
  it.each([250, 2_000])('of %i is the target of G, not the last one read', async count => {
    const { screen } = await openList(new ManyRows(count));
    expect(screen.text()).toContain('1/200+');
    await screen.press('G');
    await screen.waitFor(`${count}/${count} `);
    expect(screen.text()).toContain(task(1));
  });

  it('is the target of G before the list has answered', async () => {
    const many = new ManyRows(500);
    const held = gate();
    let requests = 0;
    many.before = () => {
      requests += 1;
      return held.promise;
    };
    rig = openProgram({ service: many.service, start, columns: 200, rows: 30 });
    await rig.screen.waitFor('Trajectories');
    await rig.screen.press('G');
    held.open();
    await rig.screen.waitFor('500/500 ');
    expect(requests).toBe(3);
  });

  it('of 100,000 is read with progress, stopped by esc, and finally reached', async () => {
    const many = new ManyRows(100_000);
    const { screen } = await openList(many);
    const held = gate();
    many.before = ({ cursor }) => (Number(cursor) > 12_000 ? held.promise : Promise.resolve());
    await screen.press('G');
    // Every count says how many were read so far.
    await screen.waitFor(text => /reading the rest… esc stops +\d+\/12\d00\+/.test(text) && text.includes(' 12k+'));
    // The keys are heard meanwhile.
    await screen.press('g');
    await screen.waitFor(task(100_000));
    await screen.press('esc');
    held.open();
    await screen.waitFor(text => !text.includes('reading the rest'));
    await screen.waitFor(text => /1\/12\d00\+/.test(text));
    await screen.press('end');
    await screen.waitFor('100000/100000 ');
    expect(screen.text()).toContain(task(1));
  });

  it('is not jumped to once the user has left', async () => {
    const many = new ManyRows(600);
    const { screen } = await openList(many);
    const held = gate();
    many.before = () => held.promise;
    await screen.press('G');
    await screen.waitFor('reading the rest');
    await screen.press('k');
    held.open();
    await screen.waitFor('199/600 ');
    expect(screen.text()).toContain(task(402));
  });
});

describe('a filter', () => {
  it('without a match says so, and how to clear it', async () => {
    const { screen } = await openList(new ManyRows(30));
    await screen.type('/nothing\r');
    await screen.waitFor('No row matches /nothing; esc clears the filter');
    expect(screen.text()).not.toContain('No trajectories yet');
    await screen.press('esc');
    await screen.waitFor('1/30 ');
  });

  it('of a partly read list says how many rows it covers, and reads no more by itself', async () => {
    const many = new ManyRows(450);
    const { screen } = await openList(many);
    const asked = many.asked.length;
    await screen.type('/000007\r');
    await screen.waitFor('No row of the 200 read matches /000007; G reads the rest');
    expect(many.asked.filter(({ cursor }) => cursor)).toHaveLength(0);
    expect(many.asked.length).toBe(asked);
    await screen.press('G');
    await screen.waitFor(task(7));
    expect(screen.text()).toContain('1/1 of 450 ');
  });

  it('that is an invalid regular expression says so, while typing and after', async () => {
    const { screen } = await openList(new ManyRows(30));
    // A second slash at once would search the texts.
    await screen.type('/x');
    await screen.press('left');
    await screen.type('/(');
    await screen.waitFor('Not a regular expression');
    await screen.press('enter');
    await screen.waitFor('For plain text leave out the first slash');
  });
});

describe('a sort', () => {
  const byReward = async (sorting: Sorting): Promise<Rig> => {
    const many = new ManyRows(450);
    many.sorting = sorting;
    const opened = await openList(many);
    await opened.screen.press('s', 's');
    await opened.screen.waitFor('REWARD▲');
    return opened;
  };

  it('is done by the service while the list is not read whole: the worst of all comes first', async () => {
    const { screen } = await byReward('sorts');
    await screen.waitFor(task(1));
    expect(screen.text()).toContain("in the service's order");
    expect(screen.text()).toContain('1/200+');
    // The service decides where rows without a reward are.
    await screen.press('S');
    await screen.waitFor(task(10));
    expect(screen.text()).toContain("in the service's order");
    await screen.press('S');
    await screen.waitFor(task(1));
    await screen.press('G');
    await screen.waitFor('450/450 ');
    // Now all are known: rows without a reward are last.
    expect(screen.text()).toMatch(/▸ task 000\d\d0 +none/);
  });

  it.each(['refuses', 'ignores'] as const)(
    'that the service %s is marked as covering only the rows read',
    async sorting => {
      const { screen } = await byReward(sorting);
      await screen.waitFor('sorted among the 200 read; G reads the rest');
      await screen.waitFor(task(251));
      await screen.press('G');
      await screen.waitFor('450/450 ');
      expect(screen.text()).not.toContain('sorted among');
      await screen.press('g');
      await screen.waitFor(task(1));
    },
  );
});

const exportAsJson = async ({ screen }: Pick<Rig, 'screen'>): Promise<void> => {
  await screen.press('x');
  await screen.waitFor('Export as');
  await screen.press('enter');
  await screen.waitFor('Save as');
  await screen.press('enter');
};

describe('an export', () => {
  inOwnFolders();
  const pathIn = (text: string): string => /Saved [\d,]+ rows? to (\S+\.json)/.exec(text)?.[1] ?? '';

  it('of a partly read list reads the rest first, and counts what it saved', async () => {
    const { screen } = await openList(new ManyRows(450));
    await exportAsJson({ screen });
    await screen.waitFor('Saved 450 rows to');
    const rows = JSON.parse(readFileSync(pathIn(screen.text()), 'utf8')) as { trajectory_id: string }[];
    expect(new Set(rows.map(({ trajectory_id }) => trajectory_id)).size).toBe(450);
  });

  it('continues while the list is sorted, left and exported again, with progress', async () => {
    const many = new ManyRows(1_000);
    const opened = await openList(many);
    const { screen } = opened;
    const held = gate();
    many.before = ({ cursor }) => (Number(cursor) >= 400 ? held.promise : Promise.resolve());
    await exportAsJson(opened);
    await screen.waitFor('exporting, 400 read');
    await screen.press('s', 's');
    await screen.waitFor('REWARD▲');
    await screen.press('/', '7', 'enter');
    await exportAsJson(opened);
    await screen.waitFor('2 exports');
    await screen.press('esc');
    await screen.type(':runs\r');
    await screen.waitFor(text => /│ Runs /.test(text));
    expect(screen.text()).toContain('2 exports');
    expect(screen.text()).not.toContain('saved');
    held.open();
    await screen.waitFor(text => !text.includes('export'));
    // Both, even if they ended in the same second.
    const files = readdirSync('.').map(name => readFileSync(name, 'utf8'));
    const counts = files.map(file => (JSON.parse(file) as unknown[]).length);
    expect(counts.sort((left, right) => left - right)).toEqual([271, 1_000]);
  });

  it('is stopped by its own menu item, saves nothing then, and says so', async () => {
    const many = new ManyRows(1_000);
    const opened = await openList(many);
    const { screen } = opened;
    const held = gate();
    many.before = ({ cursor }) => (cursor === '400' ? held.promise : Promise.resolve());
    await exportAsJson(opened);
    await screen.waitFor('exporting, 400 read');
    expect(screen.text()).toMatch(/ 1\/400\+ /);
    await screen.press('x');
    await screen.waitFor('Stop the export of trajectories (400 rows so far)');
    // The window shows the current progress (U42).
    const { resolve: end, promise } = Promise.withResolvers<void>();
    const other = opened.workbench.exports.run('datasets', async ({ onProgress }) => {
      onProgress(7);
      await promise;
    });
    await screen.waitFor('Stop the export of datasets (7 rows so far)');
    end();
    await other;
    await screen.waitFor(text => !text.includes('datasets (7'));
    await screen.press('up', 'enter');
    await screen.waitFor('Nothing was saved: the export was stopped after 400 rows');
    held.open();
  });

  it('is named before the program quits', async () => {
    const many = new ManyRows(1_000);
    const opened = await openList(many);
    many.before = ({ cursor }) => (cursor === '400' ? new Promise(() => {}) : Promise.resolve());
    await exportAsJson(opened);
    await opened.screen.waitFor('exporting');
    await opened.screen.press('q');
    await opened.screen.waitFor('The export of trajectories. Its file will not be written');
  });

  it('that the service breaks off saves nothing, and says so', async () => {
    const many = new ManyRows(1_000);
    const { screen } = await openList(many);
    many.before = ({ cursor }) =>
      cursor === '400' ? Promise.reject(new Error('the cable is out')) : Promise.resolve();
    await exportAsJson({ screen });
    await screen.waitFor('Nothing was saved: reading the list failed after 400 rows');
    expect(screen.text()).toContain('the cable is out');
  });

  it('of marked rows contains only these, even if it is one', async () => {
    const { screen } = await openList(new ManyRows(450));
    await screen.press('space');
    await exportAsJson({ screen });
    await screen.waitFor('Saved 1 row to');
    expect(JSON.parse(readFileSync(pathIn(screen.text()), 'utf8'))).toMatchObject([{ trajectory_id: 'traj_000450' }]);
  });
});

describe('rows that appear and disappear', () => {
  it('leave the cursor on its row', async () => {
    const many = new ManyRows(30);
    const { screen } = await openList(many);
    await screen.press('j', 'j', 'j');
    await screen.waitFor(task(27));
    many.add(5);
    await screen.press('r');
    await screen.waitFor('9/35 ');
    expect(screen.text()).toContain(task(27));
  });

  it('leave the cursor on the row that was opened, even if it was the first', async () => {
    const many = new ManyRows(30);
    const { screen } = await openList(many);
    await screen.press('enter', 'esc');
    await screen.waitFor('1/30 ');
    many.add(5);
    await screen.press('r');
    await screen.waitFor('6/35 ');
  });

  it('leave the cursor on the row of an action', async () => {
    const many = new ManyRows(30);
    many.rows = many.rows.map(row => ({ ...row, status: 'running' }));
    const { screen } = await openList(many);
    await screen.press('+');
    await screen.waitFor('Log a reward');
    await screen.press('esc');
    await screen.waitFor('1/30 ');
    many.add(5);
    await screen.press('r');
    await screen.waitFor('6/35 ');
  });

  it('leave nothing to act on if all marked rows are gone', async () => {
    const many = new ManyRows(30);
    const { screen } = await openList(many);
    await screen.press('space', 'space');
    many.rows = many.rows.slice(2);
    await screen.press('r');
    await screen.waitFor('2 marked, 2 of them not in the list');
    await screen.press('+');
    await screen.waitFor('. No marked row is in the list any more: ctrl-space unmarks');
    await exportAsJson({ screen });
    await screen.waitFor('Nothing was saved: the marked rows are not in the list');
  });
});

it('drops the marks of rows that had gone before, once the others are deleted (attack37 C3)', async () => {
  const service = world();
  const run = { bench_id: 'bench_1', status: 'completed' };
  const runs = new Map(
    ['one', 'two', 'three'].map(name => [name, { ...run, eval_run_id: name, display_name: `run ${name}` }]),
  );
  const { answers } = service;
  answers.listEvalRuns = () => [...runs.values()];
  answers.getEvalRun = ({ eval_run_id: id = '' }) => runs.get(id) ?? notFound(id);
  answers.deleteEvalRun = ({ eval_run_id: id = '' }) => {
    runs.delete(id);
    return {};
  };
  const screen = openWorld(service, { view: 'list', resource: 'runs', scope: { benchmark: 'bench_1' } });
  await screen.waitFor(text => ['▸ run one', 'run two', 'run three'].every(each => text.includes(each)));
  await screen.press('space', 'space');
  await screen.waitFor('2 marked');
  runs.delete('two');
  await screen.waitFor('2 marked, 1 of them not in the list');
  await screen.press('d');
  await screen.waitFor('<y> delete');
  await screen.press('y');
  await screen.waitFor(text => text.includes('✓ Deleted run one') && !text.includes('marked'));
});

it('keeps the marks of rows that an action could not delete, and of no others (B4)', async () => {
  const service = world();
  const run = { bench_id: 'bench_1', status: 'completed' };
  const runs = new Map(
    ['one', 'two', 'three'].map(name => [name, { ...run, eval_run_id: name, display_name: `run ${name}` }]),
  );
  const [{ answers }, refused] = [service, new Set(['two'])];
  answers.listEvalRuns = () => [...runs.values()];
  answers.getEvalRun = ({ eval_run_id: id = '' }) => runs.get(id) ?? notFound(id);
  answers.deleteEvalRun = ({ eval_run_id: id = '' }) => {
    if (refused.has(id)) throw new Error('It is still in use.');
    runs.delete(id);
    return {};
  };
  const screen = openWorld(service, { view: 'list', resource: 'runs', scope: { benchmark: 'bench_1' } });
  await screen.waitFor(text => ['▸ run one', 'run two', 'run three'].every(each => text.includes(each)));
  await screen.press('space', 'space', 'd');
  await screen.waitFor('Delete 2 runs?');
  await screen.press('y');
  await screen.waitFor('1 deleted, 1 failed');
  await screen.press('esc');
  await screen.waitFor(text => text.includes('1 marked') && !text.includes('not in the list'));
  refused.clear();
  await screen.press('d');
  await screen.waitFor('<y> delete');
  await screen.press('y');
  await screen.waitFor(text => text.includes('✓ Deleted run two') && !text.includes('marked'));
  await screen.press('d');
  await screen.waitFor(text => text.includes('Delete this run?') && text.includes('run three'));
});

it.each([
  ['benchmarks', 't-words'],
  ['runs', 'baseline'],
  ['training', 'long one'],
  ['datasets', 'answers'],
])('asks in the list of %s with // what to search for in the texts of the row', async (resource, label) => {
  const service = world();
  Object.assign(service.answers, {
    listTrainingRuns: () => [{ training_run_id: 'trn_1', bench_id: 'bench_1', display_name: label, status: 'running' }],
    listDatasets: () => ({ items: [{ dataset_id: 'ds_1', dataset_name: label }] }),
  });
  const screen = openWorld(service, { view: 'list', resource });
  await screen.waitFor(text => text.includes(`▸ ${label}`));
  await screen.type('//');
  await screen.waitFor(`Search in ${label}`);
});

it('offers to regrade the rollouts of a dataset in the list of datasets, like its own list', async () => {
  const service = world();
  Object.assign(service.answers, {
    listDatasets: () => ({ items: [{ dataset_id: 'ds_1', dataset_name: 'answers' }] }),
  });
  const screen = openWorld(service, { view: 'list', resource: 'datasets' });
  await screen.waitFor(text => text.includes('▸ answers'));
  await screen.type('R');
  await screen.waitFor('Regrade answers');
});

it('names the column of a sort or filter that is out of view or not read for all rows', async () => {
  const service = world('none');
  const run = (id: string) => ({ training_run_id: id, bench_id: 'bench_1', display_name: id, status: 'completed' });
  Object.assign(service.answers, {
    listTrainingRuns: () => [run('trn_1'), run('trn_2')],
    getHeldOutRewards: () => new Promise(() => {}),
  });
  const screen = openWorld(service, { view: 'list', resource: 'training' }, { columns: 80, rows: 24 });
  await screen.waitFor('▸ trn_1');
  const sortUntil = async (words: string) => {
    for (let presses = 0; presses < 30 && !screen.text().includes(words); presses += 1) {
      const before = screen.text();
      await screen.press('s');
      await screen.waitFor(text => text !== before);
    }
    expect(screen.text()).toContain(words);
  };
  await screen.type('/heldout<0.5');
  await screen.press('enter');
  await screen.waitFor('HELD-OUT unread in 2 of 2 rows');
  expect(screen.text()).toContain('No row matches /heldout<0.5');
  await screen.press('esc');
  await screen.waitFor('▸ trn_1');
  await sortUntil('HELD-OUT unread in 2 of 2 rows');
  await sortUntil('sorted by BEST CI');
});

it.each(['list', 'watch'] as const)(
  'sorts a run that died after few rewards last, and says why: %s (B7)',
  async view => {
    const service = world('none');
    const runs = [
      { ...{ display_name: 'whole', status: 'completed', reward_mean: 0.6 }, reward_count: 40, total_rollouts: 40 },
      { ...{ display_name: 'died', status: 'failed', reward_mean: 0.9 }, reward_count: 3, total_rollouts: 40 },
      { ...{ display_name: 'low', status: 'completed', reward_mean: 0.3 }, reward_count: 40, total_rollouts: 40 },
    ].map((run, index) => ({ ...run, eval_run_id: `evr_${index}`, bench_id: 'bench_1' }));
    const find = (id: string | undefined) => runs.find(run => run.eval_run_id === id) ?? notFound(id ?? '');
    Object.assign(service.answers, {
      listEvalRuns: () => runs,
      getEvalRun: ({ eval_run_id }: { eval_run_id?: string }) => find(eval_run_id),
      getEvalProgress: ({ eval_run_id = '' }) => {
        const { reward_count, total_rollouts, status } = find(eval_run_id);
        return { eval_run_id, status, terminal_rollouts: reward_count, total_rollouts };
      },
    });
    const start = view === 'watch' ? ({ view } as const) : ({ view, resource: 'runs' } as const);
    const screen = openWorld(service, start, { columns: 120, rows: 30 });
    if (view === 'watch')
      for (const { eval_run_id: id, display_name: label } of runs)
        screen.workbench.pins.toggle({ kind: 'run', id, label });
    await screen.waitFor(text => /died .*0\.900 n=3/.test(text));
    const isSorted = (): boolean => /sorted with missing rewards as the lowest/.test(screen.text());
    for (let presses = 0; presses < 30 && !isSorted(); presses += 1) {
      const before = screen.text();
      await screen.press('s');
      await screen.waitFor(text => text !== before);
    }
    expect(isSorted()).toBe(true);
    expect(screen.text()).toMatch(/whole .*0\.600.*low .*0\.300.*died .*0\.900 n=3/s);
  },
);

describe('the filter of a list of rollouts (B16)', () => {
  const rewards = [0, 0.2, 0.4, 1].map((reward, index) => ({
    ...{ trajectory_id: `traj_${index}`, task_id: `task${index}`, status: 'completed', reward },
    rollout: { status: 'completed', termination_reason: reward < 0.3 ? 'MAX_STEPS' : 'ENV_DONE' },
  }));

  function filtered() {
    const service = world('completed');
    service.answers.listTrajectories = () => pageOf(rewards.map(row => ({ ...row, eval_run_id: 'evr_1' })));
    service.answers.getTrajectoryRewards = () => ({ trajectory_rewards: rewards });
    return openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' });
  }

  it.each(['f', 'V', 'L'])('stays in the view that %s opens, which says so', async key => {
    const screen = filtered();
    await screen.waitFor('task3');
    await screen.type('/reward<0.3\r');
    await screen.waitFor(text => text.includes('task0') && !text.includes('task3'));
    await screen.type(key);
    await screen.waitFor('Only the 2 of 4 rollouts that match /reward<0.3');
    if (key === 'f') await screen.waitFor(text => /MAX_STEPS +ended by +2 +100%/.test(text));
    if (key === 'V') expect(screen.text()).not.toContain('task3');
    if (key === 'f') {
      await screen.press('enter');
      await screen.waitFor(text => text.includes('task0') && text.includes('Only the 2 of 4'));
    }
  });

  it('does not limit a search, which says so', async () => {
    const screen = filtered();
    await screen.waitFor('task3');
    await screen.type('/reward<0.3\r');
    await screen.waitFor(text => !text.includes('task3'));
    await screen.type('\x13');
    await screen.waitFor('Search in baseline, including what the filter hides');
  });
});
