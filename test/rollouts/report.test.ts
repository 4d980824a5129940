/** The content of reports, on a scripted service. */
import { expect, it } from 'vitest';
import type { EvalRun } from '../../src/contract/evaluations.ts';
import { outcomeClasses } from '../../src/present/outcome-classes.ts';
import { datasets } from '../../src/resources/datasets.ts';
import type { Resource } from '../../src/resources/define.ts';
import { runs } from '../../src/resources/runs.ts';
import { training } from '../../src/resources/training.ts';
import { comparisonReport } from '../../src/rollouts/comparison-report.ts';
import { type OwnRollouts, readRollouts, withEnds } from '../../src/rollouts/read.ts';
import {
  flaggedReport,
  type Report,
  type ReportContext,
  reportParts,
  rolloutsReport,
} from '../../src/rollouts/report.ts';
import { CapabilityMissingError, ServiceError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';

/** The rewards of each task in every run. */
const rewards: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  even: { old: [1], new: [1], newest: [1] },
  worse: { old: [0.75], new: [0.25], newest: [0.75] },
  flipped: { old: [1, 1], new: [0, 1, 0], newest: [1] },
  gained: { old: [0], new: [1], newest: [0] },
};
const answers = {
  listTrajectories: () => ({ items: [] }),
  getEvalRun: () => ({ status: 'completed' }),
  getEvalProgress: () => ({ status: 'completed' }),
  getTrajectoryRewards: ({ params: { eval_run_id = '' } }) => ({
    trajectory_rewards: Object.entries(rewards).flatMap(([task_id, of]) =>
      (of[eval_run_id] ?? []).map((reward, index) => ({
        ...{ task_id, reward, trajectory_id: `traj_${eval_run_id}_${task_id}_${index}` },
      })),
    ),
  }),
  getTrajectory: ({ params: { trajectory_id = '' } }) => {
    const [, run, task_id] = String(trajectory_id).split('_');
    return {
      ...{ trajectory_id, task_id, status: 'completed', reward: run === 'new' ? 0 : 1 },
      steps: [
        {
          step_index: 1,
          messages: [
            { role: 'user', content: `please ${task_id}` },
            { role: 'assistant', content: `<b>said by ${run}</b>` },
          ],
        },
      ],
    };
  },
} satisfies Parameters<typeof fakeService>[0];

const run = (id: string, more: Partial<EvalRun> = {}): EvalRun => ({
  ...{ eval_run_id: id, display_name: id, status: 'completed', bench_id: 'bench_1', reward_mean: 0.5 },
  ...more,
});

function reading(given: Parameters<typeof fakeService>[0] = answers) {
  const memory = RememberedStore.inMemory('test');
  const noted: string[] = [];
  const context: ReportContext = {
    ...{ service: fakeService(given), memory, signal: new AbortController().signal },
    note: words => void noted.push(words),
  };
  return { context, memory, noted };
}

async function joined(report: Report | undefined, format: 'html' | 'markdown'): Promise<string> {
  let text = '';
  if (report) for await (const part of reportParts(report, format)) text += part;
  return text;
}

it('compares two runs: the verdict, flips first, different settings, and regressions at the first difference', async () => {
  const { context } = reading();
  const runs = [
    run('old', { base_model_slug: 'base', options: { temperature: 1, max_tokens: 9 } }),
    run('new', { base_model_slug: 'base', options: { temperature: 0.2, max_tokens: 9 } }),
  ];
  const text = await joined(comparisonReport(runs, { worst: 1, best: 1 }, context), 'markdown');
  expect(text).toMatch(/^# new compared with old\n/);
  expect(text).toMatch(/\| difference \| .* over 4 tasks in both \|/);
  expect(text).toMatch(/\| 95% CI \| .* to .* \|/);
  expect(text).toMatch(/\| verdict \| /);
  expect(text).toContain('1 lost, 1 gained');
  const order = [...text.matchAll(/^\| (even|worse|flipped|gained) +\|/gm)].map(([, task]) => task);
  expect(order).toEqual(['flipped', 'gained', 'worse', 'even']);
  expect(text).toMatch(/\| setting \| old \| new \|\n.*\n\| temperature \| 1 \| 0.2 \|\n\n/);
  expect(text).not.toContain('| max tokens |');
  expect(text).toContain('Regressions of new: 2 tasks, the 1 largest in full');
  expect(text).toMatch(/flipped · -0\.667 · 1\.00 to 0\.333/);
  expect(text).toContain('They first differ at step 1, assistant');
  expect(text).toContain('- old: traj_old_flipped_0, reward 1.00');
  expect(text).toMatch(/^ {2}please flipped\n(?:.*\n)*- <b>said by old<\/b>\n\+ <b>said by new<\/b>$/m);
  expect(text).toContain('Improvements of new: 1 task\n');
});

it('names the benchmark of a run, not only its id (out34 C12)', async () => {
  const { context, memory } = reading();
  memory.seen.see([{ kind: 'benchmark', id: 'bench_1', label: 'two sums' }], 1);
  const text = await joined(comparisonReport([run('old'), run('new')], { worst: 0, best: 0 }, context), 'markdown');
  expect(text).toMatch(/\| benchmark \| two sums \(bench_1\) \|/);
});

const note = { kind: 'trajectory', message: 0, author: 'me', flag: 'gamed', text: '', label: '', at: 1, since: 1 };

it('prints flagged and noted trajectories of each compared run, each once (A9)', async () => {
  const { context, memory } = reading();
  memory.notes.merge([
    { ...note, id: 'traj_new_flipped_0', text: 'counts instead of answering' },
    { ...note, id: 'traj_old_even_0', flag: '', text: 'well done' },
    { ...note, id: 'traj_elsewhere_even_0' },
  ]);
  const text = await joined(comparisonReport([run('old'), run('new')], { worst: 0, best: 0 }, context), 'markdown');
  expect(text).toMatch(/## Flagged in old: 1 trajectory\n(?:.*\n)*?\| notes: says me \| well done \|/);
  expect(text).toMatch(
    /## Flagged in new: 1 trajectory\n(?:.*\n)*?\| notes: says me \| gamed - counts instead of answering \|/,
  );
  expect(text.match(/^#+ transcript$/gm)).toHaveLength(2);
});

it('has a run’s own flags and notes, in each report of it (out30 B8)', async () => {
  const { context, memory } = reading();
  memory.notes.merge([{ ...note, kind: 'run', id: 'new', label: 'new', text: 'it counts' }]);
  const words = 'new: flagged gamed · it counts\n';
  expect(await joined(comparisonReport([run('old'), run('new')], { worst: 0 }, context), 'markdown')).toContain(words);
  const owner = { resource: runs as Resource, id: 'new', row: run('new') };
  const read = await readRollouts(owner, context);
  const facts = '| notes: says me | gamed - it counts |';
  expect(await joined(rolloutsReport(owner, read, { worst: 0, best: 0 }, context), 'markdown')).toContain(facts);
  const text = await joined(flaggedReport(context), 'markdown');
  expect(text).toMatch(/^# Flagged runs and trajectories\n\n## Run: new\n/);
  expect(text).toContain(facts);
});

it('shows the distributions of two runs, and the best improvement if nothing is worse (B8)', async () => {
  const { context } = reading();
  const text = await joined(comparisonReport([run('new'), run('newest')], {}, context), 'markdown');
  expect(text).toMatch(/## Rewards of new: mean 0\.542 over 6\n\n```text\n *0 █/);
  expect(text).toContain('## Rewards of newest: mean 0.688 over 4\n');
  expect(text).toContain('## Improvements of newest: 2 tasks, the 1 largest in full\n');
  expect(text).toContain('- new: traj_new_flipped_0, reward 0');
});

it('picks the newest of equal rollouts, one per task, and counts the rest (B9)', async () => {
  const items = Array.from({ length: 60 }, (_, index) => ({
    ...{ trajectory_id: `traj_new_${index}`, task_id: `t${index % 2}`, status: 'completed' },
    ...{ policy_step: Math.floor(index / 20), reward: index < 3 ? 0 : 1 },
  }));
  const { context } = reading({ ...answers, listTrajectories: () => ({ items }) });
  const owner = { resource: datasets as Resource, id: 'ds_1', row: { dataset_id: 'ds_1', dataset_name: 'd' } };
  const read = await readRollouts(owner, context);
  const text = await joined(rolloutsReport(owner, read, { worst: 3, best: 3 }, context), 'markdown');
  const more = await joined(rolloutsReport(owner, read, { worst: 5, best: 0 }, context), 'markdown');
  expect(more).toContain('## Worst: 5 trajectories, 2 of 57 with reward 1.00\n');
  expect(text).toContain('## Worst: 3 trajectories\n');
  expect(text).toContain('## Best: 3 trajectories, of 57 with reward 1.00\n');
  const best = text.slice(text.indexOf('## Best'));
  expect([...best.matchAll(/\| id \| (\w+)/g)].map(([, id]) => id)).toEqual([
    'traj_new_40',
    'traj_new_41',
    'traj_new_42',
  ]);
});

it('draws many rewards of a task as a strip (B9)', async () => {
  const items = Array.from({ length: 32 }, (_, index) => ({
    ...{ trajectory_id: `traj_new_${index}`, task_id: 't', status: 'completed', reward: index < 16 ? 0 : 1 },
  }));
  const { context } = reading({ ...answers, listTrajectories: () => ({ items }) });
  const owner = { resource: datasets as Resource, id: 'ds_1', row: { dataset_id: 'ds_1', dataset_name: 'd' } };
  const read = await readRollouts(owner, context);
  const text = await joined(rolloutsReport(owner, read, { worst: 0, best: 0 }, context), 'markdown');
  expect(text).toContain('| t | 32 | 0.500 | ▁▁▁▁▁▁▁▁████████ | 0 | 1.00 |');
});

it('does not call half of the rollouts of a task a pass, and says so', async () => {
  const { context } = reading({
    ...answers,
    getTrajectoryRewards: ({ params: { eval_run_id = '' } }) => ({
      trajectory_rewards: [1, 1, eval_run_id === 'old' ? 1 : 0, 0].map((reward, index) => ({
        ...{ task_id: 'half', reward, trajectory_id: `traj_${eval_run_id}_half_${index}` },
      })),
    }),
  });
  const text = await joined(comparisonReport([run('old'), run('new')], { worst: 0 }, context), 'markdown');
  expect(text).toContain('more than half of its rollouts have a reward of at least 1.00: 1 lost, 0 gained.');
});

it('compares three runs with the first, and says how far their intervals hold together', async () => {
  const { context } = reading();
  const runs = ['old', 'new', 'newest'].map(id => run(id));
  const text = await joined(comparisonReport(runs, {}, context), 'html');
  expect(text).toContain('<h1>new, newest compared with old</h1>');
  expect(text).toContain('(Bonferroni)');
  expect(text).toContain('Tasks, the largest spread first');
  expect(text).toContain('Regressions of new: 2 tasks');
  expect(text).toContain('Regressions of newest: 0 tasks');
  expect(text).toContain('&lt;b&gt;said by old&lt;/b&gt;');
  expect(text).toContain('None that the service reports.');
});

it('says that a rollout of a regression could not be read', async () => {
  const { context, noted } = reading({
    ...answers,
    getTrajectory: () =>
      Promise.reject(new ServiceError('response', 'It is too large.', { status: 200, code: 'answer_too_large' })),
  });
  const text = await joined(comparisonReport([run('old'), run('new')], { worst: 1, best: 0 }, context), 'markdown');
  expect(text).toContain('The rollout of old could not be read: It is too large');
  expect(noted).toEqual([
    'Left out: traj_old_flipped_0: It is too large.',
    'Left out: traj_new_flipped_0: It is too large.',
  ]);
});

it('prints fifty flagged trajectories in full, and says that there are more', async () => {
  const { context, memory } = reading();
  memory.notes.merge(Array.from({ length: 51 }, (_, index) => ({ ...note, id: `traj_new_task${index}_0` })));
  const text = await joined(flaggedReport(context), 'markdown');
  expect(text).toContain('## Flagged: 51 trajectories, the first 50 in full\n');
  expect(text.match(/^### transcript$/gm)).toHaveLength(50);
  memory.notes.merge([{ ...note, id: 'traj_new_task50_0', flag: '', at: 2 }]);
  const fewer = await joined(flaggedReport(context), 'markdown');
  expect(fewer).toContain('## Flagged: 50 trajectories\n');
});

it('counts rollouts of a run without a reward, and how many of these failed or run (B2)', async () => {
  const row = run('evr_1', { total_rollouts: 7 });
  const statuses = ['completed', 'FAILED', 'completed', 'error', 'running'];
  const { context } = reading({
    ...answers,
    listTrajectories: () => ({
      items: statuses.map((status, index) => ({ trajectory_id: `traj_${index}`, task_id: `t${index}`, status })),
    }),
    getTrajectoryRewards: () => ({
      trajectory_rewards: [{ task_id: 't0', reward: 1, trajectory_id: 'traj_0' }],
    }),
  });
  const owner = { resource: runs as Resource, id: 'evr_1', row };
  const read = await readRollouts(owner, context);
  const text = await joined(rolloutsReport(owner, read, { worst: 0, best: 0 }, context), 'markdown');
  expect(text).toMatch(/mean 1\.00 over 1 reward, .*6 without a reward \(2 failed, 1 running\)/);
});

it('shows steps and held-out rounds without a value as gaps, as on screen (attack31 A7)', async () => {
  const rewardAt = (step: number) => (step > 2 && step < 6 ? null : step / 10);
  const steps = [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12];
  const round = (step: number, held_out_reward: number | null) => ({ step, held_out_reward, failed_samples: 4 });
  const { context } = reading({
    getTrainerRewards: () => ({ trainer_rewards: steps.map(step => ({ step, trainer_reward: rewardAt(step) })) }),
    getHeldOutRewards: () => ({ held_out_rewards: [round(0, 0.2), round(4, null), round(8, 0.6), round(12, null)] }),
    getStepTrajectoryRewards: () => Promise.reject(new CapabilityMissingError('getStepTrajectoryRewards')),
    getTrainingRun: () => ({ training_run_id: 'trn_1', status: 'completed' }),
  });
  const owner = { resource: training as Resource, id: 'trn_1', row: { training_run_id: 'trn_1', status: 'completed' } };
  const rows = [0, 1].map(reward => ({
    ...{ trajectory_id: `traj_${reward}`, task_id: 'a', status: 'completed', reward, policy_step: reward * 12 },
  }));
  const rollouts = { rows, notes: [], unread: [], owner } as unknown as OwnRollouts;
  const options = { worst: 0, best: 0 };
  const text = await joined(rolloutsReport(owner, rollouts, options, context), 'markdown');
  // As the table of tasks on screen (issue 19).
  expect(text).toContain('| first | last | change | by step |');
  expect(text).toContain('| 0 | 1.00 | +1.00 | ▁█ |');
  const table = (name: string) => {
    const [, rows = ''] = text.slice(text.indexOf(name)).split(/\n\n/);
    return rows
      .split('\n')
      .slice(2)
      .map(row =>
        row
          .split('|')
          .slice(1, 3)
          .map(cell => cell.trim())
          .join(' '),
      );
  };
  expect(table('held-out reward, with')).toEqual(['0 0.200', '4 no value', '8 0.600', '12 no value']);
  expect(table('trainer reward\n')).toEqual([
    ...['0 0', '1 0.100', '2 0.200', '3 to 5 no value', '6 0.600', '7 0.700', '8 to 9 no value'],
    ...['10 1.00', '11 1.10', '12 1.20'],
  ]);
  const html = await joined(rolloutsReport(owner, rollouts, options, context), 'html');
  const lines = [...html.matchAll(/<path d="([^"]*)" stroke="[^"]*" fill="none" stroke-width/g)];
  expect(
    lines.map(([, path = '']) =>
      path
        .split('M')
        .slice(1)
        .map(each => each.split('L').length),
    ),
  ).toEqual([
    [1, 1],
    [3, 2, 3],
  ]);
});

it('includes the audit’s findings on a training run (out30 B11)', async () => {
  const row = { training_run_id: 'trn_1', status: 'completed' };
  const { context } = reading({
    getTrainerRewards: () => ({
      trainer_rewards: Array.from({ length: 20 }, (_, at) => ({ step: at + 1, trainer_reward: 0.2 + at / 40 })),
    }),
    getHeldOutRewards: () => ({
      held_out_rewards: [5, 10, 15, 20].map(step => ({ step, held_out_reward: 0.2, completed_samples: 400 })),
    }),
    getStepTrajectoryRewards: () => Promise.reject(new CapabilityMissingError('getStepTrajectoryRewards')),
    getTrainingRun: () => row,
  });
  const owner = { resource: training as Resource, id: 'trn_1', row };
  const rollouts = { rows: [], notes: [], unread: [], owner } as unknown as OwnRollouts;
  const text = await joined(rolloutsReport(owner, rollouts, {}, context), 'markdown');
  expect(text).toMatch(/## Audit\n\n\|.*\n.*\n\| held-out \| .*trainer's reward rose/);
  expect(text).toContain('the service lists no rewards by step, texts of 0 rollouts, 4 held-out rewards.\n');
});

it('says that the rollouts of a run name no task (B5)', async () => {
  const { context } = reading({
    ...answers,
    listTrajectories: () => ({ items: [{ trajectory_id: 'traj_0', status: 'completed', reward: 1 }] }),
    getTrajectoryRewards: () => ({ trajectory_rewards: [{ reward: 1, trajectory_id: 'traj_0' }] }),
  });
  const owner = { resource: runs as Resource, id: 'evr_1', row: run('evr_1', { total_rollouts: 1 }) };
  const read = await readRollouts(owner, context);
  const text = await joined(rolloutsReport(owner, read, { worst: 0, best: 0 }, context), 'markdown');
  expect(text).toContain('1 rollout without a task not grouped');
});

const listedAs = (at: string) => {
  const isLast = at === '3';
  const row = { trajectory_id: `s${at}`, task_id: `t${at}`, status: isLast ? 'failed' : 'completed' };
  return { ...row, reward: isLast ? 0.25 : 0.5 };
};
it.each([
  ['no list', undefined],
  [
    'a list without status and reward',
    ['0', '1', '2', '3'].map(at => ({ trajectory_id: `s${at}`, task_id: `t${at}` })),
  ],
  ['a list with another reward', ['0', '1', '2', '3'].map(at => listedAs(at))],
])('counts the rewards of the run, not those only in records of rollouts, with %s (A9)', async (_, items) => {
  const given = [1, 1, 1, null].map((reward, at) => ({ trajectory_id: `s${at}`, task_id: `t${at}`, reward }));
  const { context } = reading({
    ...answers,
    getEvalProgress: () => ({ status: 'completed', total_rollouts: 4 }),
    listTrajectories: () => {
      if (!items) throw new CapabilityMissingError('listTrajectories');
      return { items };
    },
    getTrajectoryRewards: () => ({ trajectory_rewards: given }),
    getTrajectory: ({ params: { trajectory_id } }) => {
      const isLast = trajectory_id === 's3';
      return { trajectory_id, status: isLast ? 'failed' : 'completed', reward: isLast ? 0.25 : 1, steps: [] };
    },
  });
  const owner = { resource: runs as Resource, id: 'evr_1', row: run('evr_1', { total_rollouts: 4 }) };
  const read = await readRollouts(owner, context);
  const text = await joined(rolloutsReport(owner, read, { worst: 0, best: 0 }, context), 'markdown');
  expect(text).toMatch(/mean 1\.00 over 3 rewards, 95% CI .* over 3 of 4 tasks.*, 1 without a reward \(all failed\)/);
  expect(text).toContain('3 of 4 rollouts have a reward');
  const isRated = items?.some(item => 'reward' in item) === true;
  expect(text.includes("1 rollout has a reward that the run's rewards lack: not counted")).toBe(isRated);
  const classes = outcomeClasses((await withEnds(read, context)).rows);
  expect(classes.flatMap(({ value, scores }) => (value === 'failed' ? [scores] : []))).toEqual([[]]);
  expect(read.rows.map(({ reward }) => reward ?? null)).toEqual([1, 1, 1, null]);
});

it('shows no spread for a task with one rollout (out33 C5)', async () => {
  const items = ['one', 'two', 'two'].map((task_id, index) => ({
    ...{ trajectory_id: `traj_new_${index}`, task_id, status: 'completed', reward: 0.5 },
  }));
  const { context } = reading({ ...answers, listTrajectories: () => ({ items }) });
  const owner = { resource: datasets as Resource, id: 'ds_1', row: { dataset_id: 'ds_1', dataset_name: 'd' } };
  const read = await readRollouts(owner, context);
  const text = await joined(rolloutsReport(owner, read, { worst: 0, best: 0 }, context), 'markdown');
  expect(text).toContain('| one | 1 | 0.500 |  | 0.500 |');
  expect(text).toContain('| two | 2 | 0.500 | 0.500 0.500 | 0.500 |');
});

it('has the images of its transcripts, in HTML', async () => {
  const data = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(20, 1)]).toString('base64');
  const content = [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
  ];
  const { context, memory } = reading({
    ...answers,
    getTrajectory: ({ params: { trajectory_id } }) => ({
      ...{ trajectory_id, status: 'completed' },
      steps: [
        {
          step_index: 1,
          messages: [
            { role: 'system', content: 'x' },
            { role: 'user', content },
          ],
        },
      ],
    }),
  });
  memory.notes.change([{ kind: 'trajectory', id: 'traj_1', message: 0, author: 'me', label: 't' }], { flag: 'good' });
  const report = flaggedReport(context);
  if (!report) throw new Error('there is no report');
  let html = '';
  for await (const part of reportParts(report, 'html')) html += part;
  expect(html).toContain(`<figcaption>message 2, png 30 B</figcaption><img src="data:image/png;base64,${data}"`);
});
