/** The view of a training run: its state while another view is open, and its first lines. */
import { expect, it, onTestFinished } from 'vitest';
import type { Call, UntypedCall } from '../../../../src/service/call.ts';
import { Capabilities } from '../../../../src/service/capabilities.ts';
import { CapabilityMissingError } from '../../../../src/service/errors.ts';
import { defineView } from '../../../../src/ui/app/registry.ts';
import { PlainListView } from '../../../../src/ui/views/list/list-view.tsx';
import { TrainingRunView } from '../../../../src/ui/views/training/training-run.tsx';
import { eventually } from '../../../eventually.ts';
import { type Answers, fakeService } from '../../../service/fake-service.ts';
import { openProgram } from '../../program/rig.tsx';
import { openViewOnStage } from '../../stage.tsx';

const runs = ['first', 'second'].map((name, index) => ({
  training_run_id: `trn_${name}`,
  display_name: name,
  bench_id: 'bench_1',
  status: 'succeeded',
  created_at: `2026-01-0${index + 1}T00:00:00Z`,
  options: { num_steps: 40 },
}));
const trainer_rewards = Array.from({ length: 40 }, (_, index) => ({ step: index + 1, trainer_reward: index / 40 }));
const answers: Answers = {
  listBenchmarks: () => ({ items: [{ bench_id: 'bench_1' }], has_more: false, next_cursor: null, dropped: 0 }),
  listTrainingRuns: () => runs,
  getTrainingRun: ({ params }) => runs.find(run => run.training_run_id === params.training_run_id) ?? runs[0],
  getTrainingProgress: () => ({ status: 'succeeded', completed_steps: 40, total_steps: 40 }),
  getTrainerRewards: () => ({ trainer_rewards }),
  getHeldOutRewards: () => ({ held_out_rewards: [{ step: 0, held_out_reward: 0.1 }] }),
  listCheckpoints: () => [],
};
const capabilities = new Capabilities();
const service = fakeService(answers, { capabilities });

const runView = defineView<'record'>({
  id: 'record training',
  title: 'Training run',
  crumb: ({ label = '' }) => label,
  component: TrainingRunView,
  commands: [],
  general: [],
});

it('keeps the overlay, the crosshair and the smoothing after a detour', async () => {
  const stage = openViewOnStage(PlainListView, {
    place: { view: 'list', resource: 'training' },
    service: async () => service,
    others: [runView],
    columns: 110,
    rows: 40,
  });
  await stage.waitFor('▸ second');
  await stage.press('enter');
  await stage.waitFor('trainer 0.975');
  await stage.press('i');
  await stage.waitFor('Overlay curves from');
  await stage.waitFor('first');
  await stage.press('enter');
  await stage.waitFor('trainer of first');
  // A line for each series, with its value before its name; the crosshair begins at the newest step.
  await stage.press('.');
  await stage.waitFor(text => /at 40 /.test(text));
  expect(stage.text()).toMatch(/⠄⠄⠄⠄ +0\.975 +trainer of second/);
  expect(stage.text()).toMatch(/0\.975 +trainer of first/);
  await stage.press(',', 'w');
  await stage.waitFor('smoothed 0.6');
  await stage.press('esc');
  await stage.waitFor('▸ second');
  await stage.press('enter');
  await stage.waitFor('trainer of first');
  expect(stage.text()).toMatch(/at 39 /);
  expect(stage.text()).toContain('smoothed 0.6');
});

it.each([
  [80, 24],
  [60, 15],
])(
  'gives the lines of checkpoints to curves of full height at %i x %i, except that of the filter',
  async (columns, rows) => {
    const checkpoints = Array.from({ length: 6 }, (_, index) => ({
      checkpoint_id: `ckpt_${index}`,
      step_index: index,
    }));
    const stage = openViewOnStage(TrainingRunView, {
      place: { view: 'record', resource: 'training', id: 'trn_first' },
      service: async () => fakeService({ ...answers, listCheckpoints: () => checkpoints }, { capabilities }),
      columns,
      rows,
    });
    await stage.waitFor(text => text.includes('▸') && text.includes('0.5┤'));
    const plotted = (): number =>
      stage
        .text()
        .split('\n')
        .filter(line => /[⠁-⣿]/.test(line)).length;
    const before = plotted();
    await stage.press('f');
    await stage.waitFor(text => text.includes('1/6') && !text.includes('▸'));
    expect(plotted()).toBeGreaterThanOrEqual(before + 3);
    await stage.press('/', '5');
    await stage.waitFor('1/1 of 6');
    await stage.press('enter', 'f');
    await stage.waitFor('▸ ');
  },
);

it('shows an error below the head, not over it', async () => {
  let broken = false;
  const answering = fakeService({
    ...answers,
    getTrainingProgress: () => ({ status: 'running', completed_steps: 12, total_steps: 40 }),
  }).call as UntypedCall;
  const failing: UntypedCall = async (operation, input) => {
    if (broken) throw new Error('The key was refused. Check the API key of this profile, and where it comes from.');
    return answering(operation, input);
  };
  const asked = fakeService({}, { capabilities, call: failing as Call });
  for (const [columns, rows] of [
    [120, 36],
    [80, 24],
    [60, 15],
  ] as const) {
    broken = false;
    const stage = openViewOnStage(TrainingRunView, {
      place: { view: 'record', resource: 'training', id: 'trn_first' },
      service: async () => asked,
      columns,
      rows,
    });
    await stage.waitFor('step 40 of 40');
    const head = stage.text().split('\n').slice(1, 3);
    broken = true;
    await stage.press('r');
    await stage.waitFor('The key was refused');
    expect(stage.text().split('\n').slice(1, 3)).toEqual(head);
    for (const line of stage
      .text()
      .split('\n')
      .filter(each => each.includes('refused'))) {
      expect(line).toMatch(
        /✗ The key was refused\. Check the API key of this profile, and where it comes from\.|✗ The key was refused\. [A-Z]/,
      );
      expect(line).not.toMatch(/ETA|new step|s\/step|steps\/s/);
    }
  }
});

it('deploys the last checkpoint of a completed run before its checkpoints are listed, or says that it has none', async () => {
  let listed: readonly object[] = [];
  let asked = 0;
  const stage = openViewOnStage(TrainingRunView, {
    place: { view: 'record', resource: 'training', id: 'trn_first' },
    service: async () =>
      fakeService({
        ...answers,
        listCheckpoints: () => {
          asked += 1;
          // The list on screen is never answered.
          return asked === 1 ? new Promise(() => {}) : listed;
        },
      }),
    columns: 110,
    rows: 40,
  });
  await stage.waitFor('succeeded');
  await eventually(() => expect(asked).toBe(1));
  await stage.press('D');
  await stage.waitFor('The run has no committed checkpoint yet.');
  await stage.press('esc');
  listed = [
    { checkpoint_id: 'ckpt_40', step_index: 40 },
    { checkpoint_id: 'ckpt_20', step_index: 20 },
  ];
  await stage.press('D');
  await stage.waitFor('Deploy step 40 of first');
});

it('says from which step a restarted run continues', async () => {
  let completed_steps = 39;
  const stage = openViewOnStage(TrainingRunView, {
    place: { view: 'record', resource: 'training', id: 'trn_first' },
    service: async () =>
      fakeService({
        ...answers,
        listTrainingRuns: () => [{ ...runs[0], status: 'running' }],
        getTrainingRun: () => ({ ...runs[0], status: 'running' }),
        getTrainerRewards: () => ({ trainer_rewards: [] }),
        getTrainingProgress: () => ({ status: 'running', completed_steps, total_steps: 80 }),
      }),
    columns: 110,
    rows: 40,
  });
  await stage.waitFor('step 39 of 80');
  expect(stage.text()).not.toContain('set back');
  completed_steps = 30;
  await stage.press('r');
  await stage.waitFor('went back from step 39 to 30: repeating the steps in between');
  completed_steps = 40;
  await stage.press('r');
  await stage.waitFor('step 40 of 80');
  expect(stage.text()).not.toContain('set back');
});

it('does not mention the start if the service does not', async () => {
  const stage = openViewOnStage(TrainingRunView, {
    place: { view: 'record', resource: 'training', id: 'trn_first' },
    service: async () =>
      fakeService({ ...answers, getTrainingRun: () => ({ ...runs[0], created_at: null }) }, { capabilities }),
    columns: 80,
    rows: 30,
  });
  await stage.waitFor('succeeded');
  await stage.waitFor('step 40 of 40');
  expect(stage.text()).not.toContain('started');
});

it('marks the checkpoints that answer, and the one in production', async () => {
  const deployment = (deployment_id: string, checkpoint_id: string, more: object = {}) => ({
    ...{ deployment_id, checkpoint_id, model_slug: deployment_id, status: 'DEPLOYED', role: 'test', is_active: false },
    ...more,
  });
  const asked: unknown[] = [];
  let page: object = {};
  const stage = openViewOnStage(TrainingRunView, {
    place: { view: 'record', resource: 'training', id: 'trn_first' },
    service: async () =>
      fakeService({
        ...answers,
        listCheckpoints: () => [20, 30, 40].map(step => ({ checkpoint_id: `ckpt_${step}`, step_index: step })),
        listDeployments: () => {
          asked.push('');
          return {
            items: [
              deployment('tried', 'ckpt_40'),
              deployment('live', 'ckpt_40', { role: 'production', is_active: true }),
              deployment('broken', 'ckpt_30', { status: 'FAILED', role: 'production' }),
              deployment('demoted', 'ckpt_20', { role: 'production' }),
              deployment('elsewhere', 'ckpt_other'),
            ],
            ...{ has_more: false, next_cursor: null, dropped: 0 },
            ...page,
          };
        },
      }),
    columns: 130,
    rows: 40,
  });
  await stage.waitFor(text => /step 40 +ckpt_40 .*production: live; tried/.test(text));
  expect(stage.text()).toMatch(/step 20 +ckpt_20 .*demoted/);
  expect(stage.text()).not.toMatch(/broken|elsewhere|production: demoted|not all/);
  expect(asked).toHaveLength(1);
  page = { has_more: true, next_cursor: 'next' };
  await stage.workbench.cache.refetchQueries({ queryKey: ['deployments'] });
  await stage.waitFor('DEPLOYED covers only 5 deployments');
});

it('shows each series that comes with the trainer reward on its own axis (V45)', async () => {
  const measured = trainer_rewards.map(row => ({
    ...row,
    kl: row.step / 1_000,
    entropy: 4 - row.step / 20,
    loss: 250,
  }));
  const run = (rows: readonly object[]) =>
    fakeService({ ...answers, getTrainerRewards: () => ({ trainer_rewards: rows }) });
  const place = { view: 'record', resource: 'training', id: 'trn_first' } as const;
  const stage = openViewOnStage(TrainingRunView, { place, service: async () => run(measured), columns: 110, rows: 40 });
  await stage.waitFor('trainer 0.975');
  await stage.press('u', 'u', 'u');
  await stage.waitFor('KL to the base model 0.0400');
  expect(stage.text()).toContain('entropy 2.00');
  expect(stage.text()).toContain('loss 250');
  await stage.press('W');
  await stage.waitFor('entropy: 40 values, from 3.95 at step 1 to 2.00 at step 40');
  const without = openViewOnStage(TrainingRunView, { place, service: async () => service, columns: 110, rows: 40 });
  await without.waitFor('trainer 0.975');
  await without.press('u', 'u');
  await without.waitFor(text => !text.includes('held-out 0.100'));
  await without.press('u');
  await without.waitFor(text => /held-out 0\.100 .*trainer 0\.975/.test(text));
});

it('shows below the curves which groups teach, while it reads them, and since when most do not', async () => {
  const asked: number[] = [];
  const taught = fakeService({
    ...answers,
    getStepTrajectoryRewards: ({ params: { step } }) => {
      asked.push(Number(step));
      const rewards = Number(step) < 30 ? [0, 1] : [1, 1];
      return {
        trajectory_rewards: ['a', 'b'].flatMap(task_id =>
          rewards.map((reward, index) => ({ trajectory_id: `${step} ${task_id} ${index}`, task_id, reward })),
        ),
      };
    },
  });
  const place = { view: 'record', resource: 'training', id: 'trn_first' } as const;
  const stage = openViewOnStage(TrainingRunView, { place, service: async () => taught, columns: 110, rows: 40 });
  await stage.waitFor('step 40: █ teach 0%  ▒ too easy 100%  of 2 groups, 8 of 40 steps read');
  expect(Math.min(...asked)).toBe(33);
  expect(stage.text()).toContain('in the newest 8 steps read, 100% of the groups teach nothing, all too easy');
  // There is no room for it, so it is not read.
  const before = asked.length;
  const low = openViewOnStage(TrainingRunView, { place, service: async () => taught, columns: 80, rows: 16 });
  await low.waitFor('0.5┤');
  expect(asked).toHaveLength(before);
});

it('does not mention groups if the service lists no rewards by step', async () => {
  const asked: number[] = [];
  const without = fakeService({
    ...answers,
    getStepTrajectoryRewards: ({ params: { step } }) => {
      asked.push(Number(step));
      throw new CapabilityMissingError('getStepTrajectoryRewards');
    },
  });
  const place = { view: 'record', resource: 'training', id: 'trn_first' } as const;
  const stage = openViewOnStage(TrainingRunView, { place, service: async () => without, columns: 110, rows: 40 });
  await stage.waitFor('trainer 0.975');
  await stage.waitFor(text => asked.length > 0 && !text.includes('teaching signal'));
  expect(stage.text()).not.toContain('rewards by step');
  expect(stage.text()).not.toContain('the rewards for the steps');
});

it('keeps the height of the chart while missing rewards by step are requested again', async () => {
  let asked = 0;
  const without = fakeService({
    ...answers,
    getStepTrajectoryRewards: () => {
      asked += 1;
      // One attempt asks for eight steps.
      if (asked > 8) return new Promise(() => {});
      throw new CapabilityMissingError('getStepTrajectoryRewards', { retryAfterMs: 1 });
    },
  });
  const place = { view: 'record', resource: 'training', id: 'trn_first' } as const;
  const stage = openViewOnStage(TrainingRunView, { place, service: async () => without, columns: 110, rows: 40 });
  await stage.waitFor('trainer 0.975');
  await eventually(() => expect(asked).toBeGreaterThan(8));
  await stage.press('w');
  await stage.waitFor('smoothed 0.6');
  expect(stage.text()).not.toContain('teaching signal');
});

it('keeps the teaching signal when the service no longer lists rewards by step', async () => {
  let asked = 0;
  const forgetful = fakeService({
    ...answers,
    getStepTrajectoryRewards: ({ params: { step } }) => {
      asked += 1;
      if (asked > 8) throw new CapabilityMissingError('getStepTrajectoryRewards');
      return {
        trajectory_rewards: [0, 1].map(reward => ({ trajectory_id: `${step} ${reward}`, task_id: 'a', reward })),
      };
    },
  });
  const place = { view: 'record', resource: 'training', id: 'trn_first' } as const;
  const stage = openViewOnStage(TrainingRunView, { place, service: async () => forgetful, columns: 110, rows: 40 });
  await stage.waitFor('8 of 40 steps read');
  await eventually(() => expect(asked).toBeGreaterThan(8));
  await stage.waitFor('the rewards for the steps could not be read');
  expect(stage.text()).toContain('8 of 40 steps read');
});

it('is not final while a round of a completed run is incomplete, and reads it again', async () => {
  const part = { held_out_reward: 0.95, expected_samples: 112, completed_samples: 5, round_completed: false };
  const whole = { held_out_reward: 0.671, expected_samples: 112, completed_samples: 112, round_completed: true };
  let isComplete = false;
  const asked = fakeService(
    { ...answers, getHeldOutRewards: () => ({ held_out_rewards: [{ step: 40, ...(isComplete ? whole : part) }] }) },
    { capabilities },
  );
  const start = { view: 'record', resource: 'training', id: 'trn_first' } as const;
  const poll = { focusedMs: 20, visibleMs: 20 };
  const { screen, close } = openProgram({ service: asked, start, poll, columns: 140, rows: 44 });
  onTestFinished(close);
  await screen.waitFor(
    text =>
      text.includes('held-out at step 40: 5 of 112 samples, the round is incomplete') && text.includes('live, read'),
  );
  expect(screen.text()).not.toContain('● final');
  isComplete = true;
  await screen.waitFor(text => text.includes('held-out 0.671') && text.includes('● final'));
});

it('reads the late round of the last step of a completed run', async () => {
  const counts = { expected_samples: 4, completed_samples: 4 };
  const held_out_rewards = [{ step: 20, held_out_reward: 0.5, ...counts }];
  const run = { ...runs[0], completed_at: new Date().toISOString() };
  const asked = fakeService(
    {
      ...answers,
      getTrainingRun: () => run,
      getHeldOutRewards: () => ({ held_out_rewards: [...held_out_rewards] }),
    },
    { capabilities },
  );
  const start = { view: 'record', resource: 'training', id: 'trn_first' } as const;
  const poll = { focusedMs: 20, visibleMs: 20 };
  const { screen, close } = openProgram({ service: asked, start, poll, columns: 140, rows: 44 });
  onTestFinished(close);
  await screen.waitFor(text => text.includes('held-out 0.500') && text.includes('live, read'));
  expect(screen.text()).not.toContain('● final');
  held_out_rewards.push({ step: 40, held_out_reward: 0.671, ...counts });
  await screen.waitFor(text => text.includes('held-out 0.671') && text.includes('● final'));
});

it('reads the rewards of evaluations for the interval of their mean, and pools those of a checkpoint', async () => {
  const evaluation = (index: number) => ({
    ...{ eval_run_id: `evr_${index}`, bench_id: 'bench_1', parent_checkpoint_id: `ckpt_${index >> 1}` },
    status: 'completed',
    ...{ reward_mean: 0.5, reward_count: 40, total_rollouts: 40, created_at: '2026-01-04T00:00:00Z' },
  });
  const trajectory_rewards = Array.from({ length: 40 }, (_, at) => ({ task_id: `${at % 20}`, reward: at % 2 }));
  const stage = openViewOnStage(TrainingRunView, {
    place: { view: 'record', resource: 'training', id: 'trn_1' },
    service: async () =>
      fakeService(
        {
          ...answers,
          listCheckpoints: () => [0, 1].map(index => ({ checkpoint_id: `ckpt_${index}`, step_index: 20 * index })),
          listEvalRuns: () => [1, 2, 3].map(evaluation),
          getTrajectoryRewards: () => ({ trajectory_rewards }),
        },
        { capabilities },
      ),
    columns: 200,
    rows: 40,
  });
  for (const count of [1, 2])
    await stage.waitFor(text => new RegExp(`0\\.500 +0\\.[2-4]\\d+\\.\\.0\\.[5-7]\\d+ +${count} `).test(text));
});

it('shows the failure in a record only while its progress has the same status (out29 A3)', async () => {
  const failed = { ...runs[0], status: 'failed', failure: { message: 'out of memory' } };
  const progress = { status: 'failed', completed_steps: 4, total_steps: 40 };
  const getTrainingProgress = () => progress;
  const stage = openViewOnStage(TrainingRunView, {
    place: { view: 'record', resource: 'training', id: 'trn_first' },
    service: async () =>
      fakeService({ ...answers, getTrainingRun: () => failed, getTrainingProgress }, { capabilities }),
    columns: 110,
    rows: 40,
  });
  await stage.waitFor('out of memory');
  progress.status = 'running';
  await stage.press('r');
  await stage.waitFor('running');
  expect(stage.text()).not.toContain('out of memory');
});

it('says that there is no curve if the service has no rewards, instead of an empty chart (out29 C4)', async () => {
  const missing = (operation: 'getTrainerRewards' | 'getHeldOutRewards') => () => {
    throw new CapabilityMissingError(operation);
  };
  const stage = openViewOnStage(TrainingRunView, {
    place: { view: 'record', resource: 'training', id: 'trn_first' },
    service: async () =>
      fakeService(
        {
          ...answers,
          getTrainingProgress: () => ({ status: 'failed', completed_steps: 0, total_steps: 40 }),
          getTrainerRewards: missing('getTrainerRewards'),
          getHeldOutRewards: missing('getHeldOutRewards'),
        },
        { capabilities: new Capabilities() },
      ),
    columns: 110,
    rows: 30,
  });
  await stage.waitFor('No curve: this service sends no rewards');
  await stage.waitFor('of 40');
  expect(stage.text()).not.toMatch(/completed steps over time|-?[01]\.\d┤/);
});
