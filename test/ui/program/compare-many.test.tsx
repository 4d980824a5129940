/** Several marked runs in one grid. */
import { expect, it, onTestFinished } from 'vitest';
import { RememberedStore } from '../../../src/store/store.ts';
import { eventually } from '../../eventually.ts';
import { pageOf, scriptedService } from '../../queries/scripted-service.ts';
import { openProgram } from './rig.tsx';

const name = (index: number) =>
  `an-evaluation-with-a-name-of-ninety-characters-that-differs-only-at-its-end-with-seed-${index}`;

async function open(
  columns: number,
  rows: number,
  more: (index: number) => object = () => ({}),
  remembered?: () => RememberedStore,
) {
  const runs = Array.from({ length: 9 }, (_, index) => ({
    ...{ eval_run_id: `evr_${index}`, bench_id: 'bench_1', display_name: name(index), status: 'completed' },
    ...{
      base_model_slug: `acme/model-${index % 3}`,
      reward_mean: 0.3 + index / 20,
      reward_count: 30,
      total_rollouts: 30,
    },
    ...{ created_at: `2026-01-0${9 - index}T00:00:00Z`, ...more(index) },
  }));
  const scripted = scriptedService({
    listBenchmarks: () => pageOf([{ bench_id: 'bench_1', label: 'sums' }]),
    listEvalRuns: () => runs,
    getEvalRun: ({ eval_run_id }) => runs.find(run => run.eval_run_id === eval_run_id),
    getEvalProgress: ({ eval_run_id }) =>
      runs.find(run => run.eval_run_id === eval_run_id)?.status
        ? { status: 'completed', total_rollouts: 30, terminal_rollouts: 30 }
        : {},
    getTrajectoryRewards: ({ eval_run_id = '' }) => ({
      trajectory_rewards: Array.from({ length: 30 }, (_, task) => ({
        ...{ task_id: `task ${task}`, trajectory_id: `traj ${eval_run_id} ${task}` },
        reward: 0.3 + (Number(eval_run_id.slice(4)) * 1.5) / 20 + (task % 5) / 30,
      })),
    }),
  });
  const start = { view: 'list', resource: 'runs' } as const;
  const program = openProgram({ service: scripted.service, start, columns, rows, ...(remembered && { remembered }) });
  onTestFinished(program.close);
  await eventually(() => expect(program.screen.text()).toContain('1/9'));
  return program.screen;
}

it.each([
  [60, 15],
  [80, 24],
  [200, 50],
])('has a line for each run against a baseline that a key changes, and opens two: %i x %i', async (columns, rows) => {
  const screen = await open(columns, rows);
  // Marking moves on.
  await screen.press(' ', ' ', ' ', ' ');
  await screen.press('=');
  await eventually(() => expect(screen.text()).toMatch(/98\.3% CI each, so that all 3 hold at 95% \(Bonferroni\)/));
  // The earliest is the baseline.
  await eventually(() => {
    const text = screen.text();
    expect(text).toMatch(/d-3 +D +0\.\d+ +baseline/);
    expect(text).toMatch(/d-0 +A +0\.\d+ +-0\.225 +worse +-0\.\d+\.\.-0\.\d+/);
    if (rows > 20) expect(text).toMatch(/TASK +A +B +C +D +SPREAD/);
  });
  expect(screen.text()).not.toMatch(/\s[-+]?[\d.]+…/);
  await screen.press('*');
  await eventually(() => expect(screen.text()).toMatch(/d-3 +D +0\.\d+ +\+0\.225 +better/));
  await screen.press('j', 'enter');
  await eventually(() => expect(screen.text()).toContain('95% CI'));
});

it.each([
  [60, 15],
  [80, 24],
  [120, 40],
])('pools runs of a model that differ in their seed, on a key: %i x %i', async (columns, rows) => {
  const screen = await open(columns, rows, index => ({ options: { seed: index } }));
  await screen.press(' ', ' ', ' ', ' ', ' ', ' ');
  await screen.press('=');
  await eventually(() => expect(screen.text()).toContain('6 runs in 3 groups that differ only in the seed: M'));
  await screen.press('M');
  // The earliest of the six is in the baseline.
  await eventually(() => expect(screen.text()).toMatch(/97\.5% CI each, so that all 2 hold at 95%/));
  await eventually(() => {
    expect(screen.text()).toMatch(/C +0\.\d+ +baseline/);
    expect(screen.text()).toMatch(/0 \+1 +A +0\.479 +-0\.150 +undecided/);
  });
  expect(screen.text()).not.toContain('seed only');
  await screen.press('g', 'enter');
  await screen.waitFor(text => text.includes('95% CI') && text.includes('60 rollouts'));
});

it('does not pool runs of the same seed, and names them (out32 B1)', async () => {
  const seeds = [1, 1, 1, 1, 2, 1];
  const screen = await open(200, 40, index => ({ options: { seed: seeds[index] } }));
  await screen.press(' ', ' ', ' ', ' ', ' ', '=');
  // Of the five, 0 and 3 are of one model and seed, and 1 and 4 of another model and two seeds.
  await screen.waitFor('5 runs in 4 groups that differ only in the seed: M');
  await screen.waitFor('evr_0 and evr_3 have the same seed, and are not pooled with each other');
  await screen.press('M');
  await screen.waitFor(text => /1 \+1 +B /.test(text) && /98\.3% CI each, so that all 3/.test(text));
  expect(screen.text()).not.toContain('pools each group');
});

it('shows the flags of compared runs, and says why a key pools nothing (out32 C7, C12)', async () => {
  const noted = () => {
    const store = RememberedStore.inMemory('test');
    const note = (id: string) => ({ kind: 'run', id, message: 0, author: 'me', label: id });
    store.notes.change([note('evr_0'), note('evr_2')], { flag: 'gamed' });
    return store;
  };
  const screen = await open(120, 40, () => ({}), noted);
  await screen.press(' ', ' ', ' ', '=');
  await screen.waitFor(text => text.includes('A flagged gamed; undecided') && text.includes('C flagged gamed.'));
  await screen.press('M');
  const none = 'No two of these runs differ only in the seed, so none are pooled';
  await screen.waitFor(none);
  await screen.press('g', 'enter');
  await screen.waitFor(text => text.includes('base: flagged gamed') && text.includes('new: flagged gamed'));
  await screen.press('M');
  await screen.waitFor(none);
});

it('opens the pools of more marked runs than can be compared singly', async () => {
  const screen = await open(120, 40, seed => ({ options: { seed } }));
  for (const _ of Array.from({ length: 9 })) await screen.press(' ');
  await screen.press('=');
  await eventually(() => expect(screen.text()).toMatch(/\+2 +A .*\n.*\+2 +B .*\n.*\+2 +C +0\.\d+ +baseline/));
});

it('names the training run and the step of an evaluated checkpoint (B13)', async () => {
  const checkpoint = (index: number) => ({
    ...{ parent_checkpoint_id: `ckpt_${index}`, training_run_id: 'trn_1', step: index * 10, display_name: `e${index}` },
  });
  const seen = () => {
    const store = RememberedStore.inMemory('test');
    store.see([{ kind: 'training', id: 'trn_1', label: 'sweep-lr-2e-5' }]);
    return store;
  };
  const screen = await open(120, 40, checkpoint, seen);
  await eventually(() => expect(screen.text()).toMatch(/e2 .*2e-5 step 20/));
  await screen.press(' ', ' ', ' ', '=');
  await eventually(() => expect(screen.text()).toMatch(/ model +sweep-lr-2e-5 step 0/));
});

it('names eight runs by their differences if their names do not fit (B12)', async () => {
  const options = (index: number) => ({ max_tokens: 100, temperature: (index >> 1) / 10, top_p: index % 2 });
  const screen = await open(120, 40, index => ({
    ...{ base_model_slug: 'acme/model', options: options(index), display_name: 'evaluation of acme/model on sums' },
  }));
  await screen.press(...Array.from({ length: 8 }, () => ' '), '=');
  await eventually(() => {
    const names = [...screen.text().matchAll(/│[ ▸] (\S[^│]*?) +[A-H] +0\.\d+ /g)].map(([, shown]) => shown);
    expect(names).toHaveLength(8);
    expect(new Set(names).size).toBe(8);
  });
});

it('names repeated runs alike and tells the others apart, even in short names', async () => {
  const screen = await open(120, 40, index => ({
    ...{ base_model_slug: `acme/m${Math.min(index, 6) % 2}`, options: { seed: Math.min(index, 6) }, display_name: 'e' },
  }));
  await screen.press(...Array.from({ length: 8 }, () => ' '), '=');
  // Beside the facts, there is room only for the differences.
  await eventually(() => expect(screen.text()).toMatch(/▸ m0 s…d 0 +A /));
  await screen.press('F');
  await eventually(() => {
    expect(screen.text()).toMatch(/▸ e \(m0 seed 0\) +A /);
    expect(screen.text()).toMatch(/ e \(m0 seed 6\) +G .*\n.* e \(m0 seed 6\) +H /);
  });
});

it('says how many runs can be compared', async () => {
  const screen = await open(120, 40, index => ({ base_model_slug: `acme/model-${index}` }));
  for (const _ of Array.from({ length: 9 })) await screen.press(' ');
  await screen.press('=');
  await eventually(() => expect(screen.text()).toContain('9 runs are marked: 2 to 8 can be compared'));
});

it.each([2, 3])('refuses runs of different benchmarks, %d marked, and lists the benchmark of each', async count => {
  const screen = await open(200, 40, index => ({ bench_id: `bench_${index % 2}` }));
  for (const _ of Array.from({ length: count })) await screen.press(' ');
  await eventually(() => expect(screen.text()).toMatch(/RUN .*MEAN .*BENCHMARK/));
  await eventually(() => expect(screen.text()).toMatch(/-seed-0 .* bench_0(.*\n)+.*-seed-1 .* sums/));
  await screen.press('=');
  await eventually(() =>
    expect(screen.text()).toMatch(/Only runs of one benchmark can be compared: evr_0 is of bench_0, evr_1 of bench_1/),
  );
  expect(screen.text()).not.toContain('95% CI');
});

it.each([2, 3])('says in a comparison of %d runs that a benchmark is unknown', async count => {
  const screen = await open(200, 50, index => (index === 1 ? { bench_id: null } : {}));
  for (const _ of Array.from({ length: count })) await screen.press(' ');
  await screen.press('=');
  await eventually(() => expect(screen.text()).toMatch(/The benchmark of evr_1 is unknown, and evr_0 is of bench_1:/));
});

it.each([
  [60, 15],
  [80, 24],
  [120, 40],
])('says why a run is undecided, and if it has other tasks: %i x %i', async (columns, rows) => {
  const screen = await open(columns, rows, index => (index === 1 ? { status: null, total_rollouts: null } : {}));
  await screen.press(' ', ' ', ' ', '=');
  await eventually(() => expect(screen.text()).toMatch(/B undecided: the service does not report that/));
});

it('names a compared run once in its facts', async () => {
  const screen = await open(200, 50);
  await screen.press(' ', ' ', ' ', '=');
  await eventually(() => expect(screen.text()).toMatch(/ id +evr_\d/));
});
