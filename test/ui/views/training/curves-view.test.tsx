/** The curves of several runs: overlaid, one each, by time, and in words. */
import { expect, it, onTestFinished } from 'vitest';
import { Capabilities } from '../../../../src/service/capabilities.ts';
import { defineView } from '../../../../src/ui/app/registry.ts';
import { CurvesView } from '../../../../src/ui/views/training/curves-view.tsx';
import { TrainingListView } from '../../../../src/ui/views/training/list.tsx';
import { eventually } from '../../../eventually.ts';
import { pageOf, scriptedService } from '../../../queries/scripted-service.ts';
import { type Answers, fakeService } from '../../../service/fake-service.ts';
import { openProgram } from '../../program/rig.tsx';
import { often } from '../../program/scripted-world.tsx';
import { openViewOnStage } from '../../stage.tsx';

const name = (index: number) => `2026-11-01_swe-terminal-repair-v3_qwen3-next-80b-a3b_lr0.0000${index}_g8_seed0`;
const runs = [1, 2, 3, 4].map(index => ({
  training_run_id: `trn_${index}`,
  display_name: name(index),
  bench_id: 'bench_1',
  status: 'succeeded',
  created_at: `2026-01-0${index}T00:00:00Z`,
  completed_at: `2026-01-0${index}T0${index}:00:00Z`,
  options: { num_steps: 40 },
}));
const indexOf = (params: object) => Number(JSON.stringify(params).replace(/\D/g, ''));
const answers: Answers = {
  listBenchmarks: () => ({ items: [{ bench_id: 'bench_1' }], has_more: false, next_cursor: null, dropped: 0 }),
  listTrainingRuns: () => runs,
  getTrainingRun: ({ params }) => runs[indexOf(params) - 1] ?? runs[0],
  getTrainingProgress: () => ({ status: 'succeeded', completed_steps: 40, total_steps: 40 }),
  getTrainerRewards: () => ({
    trainer_rewards: Array.from({ length: 40 }, (_, step) => ({ step: step + 1, trainer_reward: step / 40 })),
  }),
  getHeldOutRewards: ({ params }) => ({
    held_out_rewards: [0, 20, 40].map(step => ({ step, held_out_reward: (step / 100) * indexOf(params) * 0.5 })),
  }),
  listCheckpoints: () => [],
};
const service = fakeService(answers, { capabilities: new Capabilities() });

const curvesView = defineView<'curves'>({
  id: 'curves',
  title: 'Curves',
  component: CurvesView,
  hasInspector: false,
  commands: [],
  general: [],
});

const stageOf = (columns: number, rows: number) =>
  openViewOnStage(CurvesView, {
    place: { view: 'curves', runs: runs.map(run => ({ id: run.training_run_id, name: run.display_name })) },
    service: async () => service,
    columns,
    rows,
  });

it('overlays all marked runs, with distinct names, by the held-out reward (W17, W23)', async () => {
  const stage = openViewOnStage(TrainingListView, {
    place: { view: 'list', resource: 'training' },
    service: async () => service,
    others: [curvesView],
    columns: 100,
    rows: 30,
  });
  await stage.waitFor('▸');
  await stage.press('=');
  await stage.waitFor('Mark two or more runs first');
  await stage.press('space', 'space', 'space', 'i');
  for (const index of [2, 3, 4]) await stage.waitFor(text => new RegExp(`held-out of .*${index}_g8_seed0`).test(text));
  expect(stage.text()).not.toContain('trainer');
  await stage.press('u');
  await stage.waitFor('trainer of');
  expect(stage.text()).not.toContain('held-out');
});

it('draws a chart for each run on one scale, at every size', async () => {
  for (const [columns, rows] of [
    [200, 60],
    [120, 40],
    [80, 24],
    [60, 15],
  ] as const) {
    const stage = stageOf(columns, rows);
    await stage.waitFor('held-out of');
    await stage.press('m');
    const charts = columns > 60 ? 4 : 2;
    await stage.waitFor(text => (text.match(/_seed0 0\.[2468]00/g)?.length ?? 0) >= charts);
    expect(stage.text()).not.toContain('held-out of');
    if (columns === 60) expect(stage.text()).toContain('2 more: no room here');
    await stage.press('m');
    await stage.waitFor('held-out of');
  }
});

it('names the key for the grid, even at 60×15', async () => {
  const place = {
    view: 'curves',
    runs: runs.map(run => ({ id: run.training_run_id, name: run.display_name })),
  } as const;
  const { screen, close } = openProgram({ service, start: place, columns: 60, rows: 15 });
  onTestFinished(close);
  await screen.waitFor('held-out of');
  await screen.waitFor('<m> grid');
});

it('draws all runs of a grid on one x axis, and names its range (B9)', async () => {
  const stage = stageOf(120, 40);
  await stage.waitFor('held-out of');
  await stage.press('m');
  await stage.waitFor('each chart from step 0 to 40');
  await stage.press('.', ',');
  await stage.waitFor('at 20, each chart from step 0 to 40');
  await stage.press('0');
  await stage.press('T');
  // The runs take one hour to four.
  await stage.waitFor('each chart from 0 to 240 minutes since each run began');
  expect(stage.text()).not.toMatch(/ 60 /);
  expect(stage.text().match(/ 200 /g)).toHaveLength(4);
  await stage.press('L');
  await stage.waitFor('each chart from 0 to 240 minutes since each run began,');
});

it('goes to a typed step, and aligns the runs by time', async () => {
  const stage = stageOf(120, 40);
  await stage.waitFor('held-out of');
  await stage.press('#');
  await stage.waitFor('Go to a step');
  await stage.press('2', '1', 'enter');
  await stage.waitFor('at 20 ');
  await stage.press('T');
  await stage.waitFor('minutes since each run began');
  await stage.waitFor(text => /\b250\b|\b240\b|\b200\b/.test(text));
  expect(stage.text()).not.toContain('at 20 ');
  await stage.press('T', 'L');
  await stage.waitFor('log scale, without 4 values at or below 0');
});

it('describes the curves in words', async () => {
  const stage = stageOf(120, 40);
  await stage.waitFor('held-out of');
  await stage.press('W');
  await stage.waitFor('held-out reward: 3 values, from 0 at step 0 to 0.200 at step 40');
});

it.each([
  ['several runs', { view: 'curves', runs: [1, 2].map(index => ({ id: `trn_${index}`, name: name(index) })) }, [], 2],
  ['a run with its alarms', { view: 'record', resource: 'training', id: 'trn_1' }, ['A'], 1],
] as const)('reads complete curves of %s again once there are more steps', async (_, start, keys, count) => {
  let completed_steps = 40;
  const running = { status: 'running', total_steps: 80 };
  const { service: scripted, asked } = scriptedService({
    listBenchmarks: () => ({ items: [{ bench_id: 'bench_1' }], has_more: false, next_cursor: null, dropped: 0 }),
    listTrainingRuns: () => [],
    getTrainingRun: ({ training_run_id }) => ({ ...running, training_run_id, bench_id: 'bench_1' }),
    getTrainingProgress: ({ training_run_id }) => ({ ...running, training_run_id, completed_steps }),
    getTrainerRewards: () => ({
      trainer_rewards: Array.from({ length: completed_steps }, (_, step) => ({ step: step + 1, trainer_reward: 0.5 })),
    }),
    getHeldOutRewards: () => ({ held_out_rewards: [{ step: 0, held_out_reward: 0.2 }] }),
    listCheckpoints: () => [],
  });
  const { screen, close } = openProgram({ service: scripted, start, poll: often, columns: 120, rows: 40 });
  onTestFinished(close);
  await screen.waitFor('held-out');
  await screen.press(...keys);
  await screen.waitFor(keys.length > 0 ? 'Alarms: ' : 'trainer of');
  const read = () => asked('getTrainerRewards');
  const more = async (): Promise<void> => {
    const before = asked('getTrainingProgress', 'trn_1');
    await eventually(() => expect(asked('getTrainingProgress', 'trn_1')).toBeGreaterThan(before + 5));
  };
  await more();
  const before = read();
  await more();
  expect(read()).toBe(before);
  completed_steps = 41;
  await eventually(() => expect(read()).toBeGreaterThanOrEqual(before + count));
});

it('offers runs to overlay with their held-out reward and its interval', async () => {
  const round = { step: 40, held_out_reward: 0.1, completed_samples: 50, expected_samples: 50 };
  const { service: scripted } = scriptedService({
    ...{ listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }]), listTrainingRuns: () => runs },
    getTrainingRun: ({ training_run_id }) => runs.find(run => run.training_run_id === training_run_id),
    ...{
      getTrainingProgress: () => ({}),
      getTrainerRewards: () => ({ trainer_rewards: [] }),
      listCheckpoints: () => [],
    },
    getHeldOutRewards: () => ({ held_out_rewards: [round] }),
  });
  const start = { view: 'record', resource: 'training', id: 'trn_1' } as const;
  const { screen, close } = openProgram({ service: scripted, start, columns: 200, rows: 40 });
  onTestFinished(close);
  await screen.waitFor(text => text.includes('held-out 0.100') && text.includes('<i> overlay'));
  await screen.press('i');
  await screen.waitFor(text => /Overlay curves from[\s\S]*│ ▸ /.test(text));
  await screen.press('enter');
  await screen.waitFor('held-out of');
  await screen.press('i');
  await screen.waitFor(text =>
    /remove: .*seed0 +step 40 {2}held-out 0\.100 {2}0\.0\d+\.\.0\.2\d+ {2}succeeded +│/.test(text),
  );
});
