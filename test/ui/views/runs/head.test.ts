/** The head of a run: every number says what it covers, and none contradicts another. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { describeFollowedState, stateFields } from '../../../../src/commands/followed-state.ts';
import {
  type EvalProgress,
  type EvalRun,
  evalRun,
  type TrajectoryReward,
} from '../../../../src/contract/evaluations.ts';
import { formatConfidence } from '../../../../src/present/number-columns.ts';
import { defaultRange } from '../../../../src/present/statistics/interval.ts';
import { evalProgressQuery } from '../../../../src/queries/evaluations.ts';
import { type RunMean, runMeanOf } from '../../../../src/queries/run-mean.ts';
import { knownResource } from '../../../../src/queries/statuses/known-resource.ts';
import { withTraining } from '../../../../src/resources/measured-run.ts';
import { describeCertainty } from '../../../../src/resources/run-mean.ts';
import { outcomeOf, summariseRewards } from '../../../../src/resources/run-outcome.ts';
import { runFacts, runs } from '../../../../src/resources/runs.ts';
import { RememberedStore } from '../../../../src/store/store.ts';
import { distributionLines, summaryLines } from '../../../../src/ui/views/runs/head.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';
import { fakeService } from '../../../service/fake-service.ts';

const theme = createTheme('plain');
const run: EvalRun = { eval_run_id: 'evr_1', display_name: 'baseline', status: 'running' };
const rewardsOf = (...values: (number | null)[]): TrajectoryReward[] =>
  values.map((reward, index) => ({ reward, trajectory_id: `traj_${index}`, task_id: 'a' }));

function head(status: string, rewards: readonly TrajectoryReward[] | undefined, progress: Partial<EvalProgress> = {}) {
  const full: EvalProgress = { eval_run_id: 'evr_1', total_rollouts: 28, ...progress };
  const summary = rewards && summariseRewards(rewards, full.total_rollouts);
  return summaryLines({ run: { ...run, status }, progress: full, rewards: summary }, 100, theme).map(
    stripVTControlCharacters,
  );
}

it('never cuts the time since which a run without a status has its rewards', () => {
  const unreported: EvalRun = { ...run, status: null };
  const at = Date.parse('2026-01-01T00:00:00Z');
  const lines = summaryLines({ run: unreported, rewards: summariseRewards(rewardsOf(1)), rewardedAt: at }, 40, theme);
  expect(lines.every(line => stripVTControlCharacters(line).length <= 40)).toBe(true);
  expect(lines.slice(1, 3).map(stripVTControlCharacters).join(' ')).toMatch(
    /^The service reports no status; no new reward since \d{4}-\d{2}-\d{2} \d{2}:\d{2}$/,
  );
});

describe('the mean', () => {
  it('covers the shown rewards, with their number, while it runs', () => {
    const live = { provisional_reward_mean: 0.9, scored_rollouts: 16 };
    const lines = head('running', rewardsOf(0, 0.25, 0.5), { terminal_rollouts: 3, live });
    expect(lines[2]).toBe('mean so far 0.250 over 3 rewards');
    const summary = summariseRewards(rewardsOf(0, 0.25, 0.5), 28);
    const facts = runFacts(run, outcomeOf(run, undefined, summary));
    expect(facts).toContainEqual({ label: 'mean so far', value: '0.250 over 3 rewards' });
    expect(facts.some(({ label }) => label === 'mean')).toBe(false);
  });

  it('covers the rollouts that were completed before a cancel', () => {
    const live = { scored_rollouts: 2, cancelled_rollouts: 26 };
    const lines = head('cancelled', rewardsOf(0, 1), { terminal_rollouts: 28, live });
    expect(lines[1]).toMatch(/2 of 28 rollouts/);
    expect(lines[2]).toBe('mean 0.500 over 2 rewards  26 without a reward');
  });

  it('comes from the progress if no reward is listed yet', () => {
    const live = { provisional_reward_mean: 0.5, scored_rollouts: 16 };
    expect(head('running', undefined, { live })[2]).toBe('mean so far 0.500 over 16 rewards');
    expect(head('running', [], {})[2]).toBe('no reward yet');
    expect(head('running', rewardsOf(null, null))[2]).toBe('no reward; 2 rollouts without one');
  });

  it.each(['completed', 'succeeded', 'failed', 'cancelled'])('is not “so far” for a run that is %s', status => {
    expect(head(status, rewardsOf(0, 1))[2]).toMatch(/^mean 0\.500 over 2 rewards/);
  });

  it('of the service is shown next to that of the rewards if they differ', () => {
    const ended = { ...run, status: 'completed', reward_mean: 0.25 };
    const rewards = summariseRewards(rewardsOf(0.5, null), 2);
    expect(summaryLines({ run: ended, rewards }, 100, theme)[2]).toContain('(0.500 by the 1 reward listed)');
  });

  it('counts a reward with neither trajectory nor task', () => {
    const nameless = [{ reward: 1, trajectory_id: null, task_id: null }, ...rewardsOf(0)];
    expect(head('running', nameless)[2]).toBe('mean so far 0.500 over 2 rewards');
    expect(distributionLines(summariseRewards(nameless).values, 40, 60, theme)).toHaveLength(2);
  });
});

describe('the interval', () => {
  const ofTasks = (...values: (number | null)[]): TrajectoryReward[] =>
    values.map((reward, index) => ({ reward, trajectory_id: `traj_${index}`, task_id: `t${index}` }));
  const wordsOf = (run: RunMean): string => describeCertainty(run, run.mean);
  const certainty = (
    status: string,
    rewards: readonly TrajectoryReward[],
    total = rewards.length,
    each?: number,
  ): string =>
    wordsOf(runMeanOf(rewards, { status, total, samplesPerTask: each === undefined ? each : { each, isSent: false } }));

  it('follows the mean, in the head and in the facts (V44)', () => {
    const words = certainty('completed', ofTasks(...Array<number>(19).fill(1), 0));
    // Clopper and Pearson: 19 of 20.
    expect(words).toBe('95% CI 0.751 to 0.999 over 20 tasks');
    const ended = { ...run, status: 'completed' };
    expect(summaryLines({ run: ended, certainty: words }, 100, theme).at(-1)).toBe(words);
    expect(runFacts(ended, undefined, words)).toContainEqual({ label: 'interval', value: words });
  });

  it('names the mean over tasks that it belongs to if the mean over all rewards differs', async () => {
    const skewed = Array.from({ length: 119 }, (_, index) => ({
      reward: index < 100 ? 1 : 0,
      trajectory_id: `traj_${index}`,
      task_id: `t${Math.max(0, index - 99)}`,
    }));
    const words = 'mean of tasks 0.0500, 95% CI 0.00127 to 0.249 over 20 tasks';
    const certain = runMeanOf(skewed, { status: 'completed', total: 119 });
    expect(describeCertainty(certain, 100 / 119)).toBe(words);
    const seen = {
      id: 'evr_1',
      label: 'skew',
      kind: 'run',
      status: 'completed',
      done: 119,
      total: 119,
      mean: 100 / 119,
    };
    expect(describeFollowedState({ ...seen, graded: 119, runMean: certain })).toContain(
      `mean 0.840 over 119 rewards (${words})`,
    );
    expect(stateFields({ ...seen, runMean: certain })).toMatchObject({ task_mean: expect.closeTo(0.05, 9) });
    expect(describeCertainty(runMeanOf(ofTasks(7, 0), { status: 'completed' }), 1)).toBe(
      'mean of tasks 3.50, no interval: rewards are outside 0..1; set their range with the setting compare.rewardRange',
    );
    const service = fakeService({
      getTrajectoryRewards: () => ({ trajectory_rewards: skewed }),
      getEvalProgress: () => ({ eval_run_id: 'evr_1', status: 'completed', total_rollouts: 119 }),
    });
    const context = { service, signal: new AbortController().signal, memory: RememberedStore.inMemory('test') };
    const whole = await runs.wholeFacts?.({ ...run, status: 'completed', reward_mean: 0.840336 }, context);
    expect(whole?.facts).toContainEqual({ label: 'mean', value: '0.840 over 119 rewards' });
    expect(whole?.facts).toContainEqual({ label: 'interval', value: words });
    expect(whole?.fields).toMatchObject({ task_mean: expect.closeTo(0.05, 9) });
  });

  it('is wrapped, with its condition and both bounds (X21, out29 B1)', () => {
    const words = '95% CI 0.416 to 0.484 over 300 tasks, if the run has ended and these are all its rollouts';
    const said = (certain: string) =>
      summaryLines({ run, certainty: certain }, 56, theme).slice(3).map(stripVTControlCharacters);
    expect(said(words)).toEqual([
      '95% CI 0.416 to 0.484 over 300 tasks, if the run has',
      'ended and these are all its rollouts',
    ]);
    const bounds = '0.750 to 1.00 with the 5 missing';
    expect(said(`${words} (total unknown); ${bounds}`).join(' ')).toBe(`${words} (total unknown); ${bounds}`);
  });

  it('moves the numbers beside its mean to their own lines if they do not fit', () => {
    const rewards = summariseRewards(
      rewardsOf(...Array.from({ length: 15 }, () => 1), 0.5, null, null),
      20,
      0,
      defaultRange,
    );
    const lines = (width: number) =>
      summaryLines({ run: { ...run, status: 'completed' }, rewards }, width, theme)
        .slice(2)
        .map(stripVTControlCharacters);
    const [all = ''] = lines(100);
    expect(all).toContain('full reward 15');
    expect(lines(58).length).toBe(2);
    expect(lines(58).join('  ')).toBe(all);
  });

  it('counts tasks, not rollouts (V44)', () => {
    expect(certainty('completed', rewardsOf(1, 1, 1, 1))).toBe('95% CI 0.0250 to 1.00 over 1 task');
  });

  it('rounds its confidence correctly', () => {
    const interval = { low: 0, high: 1 };
    expect([0.95, 0.9999999, 0.57].map(confidence => formatConfidence({ ...interval, confidence }))).toEqual([
      '95%',
      '99.99999%',
      '57%',
    ]);
  });

  it('says what missing rewards could change (R1)', () => {
    const rewards = ofTasks(...Array<number>(17).fill(1), ...Array<number>(7).fill(0), null, null, null);
    expect(certainty('completed', rewards, 28, 1)).toMatch(
      /^95% CI 0\.4\d+ to 0\.8\d+ over 24 of 28 tasks; 0\.607 to 0\.750 with the 4 missing$/,
    );
  });

  it('says how many tasks the interval covers, listed or not, if that is certain', () => {
    const rated = ofTasks(...Array<number>(163).fill(1));
    expect(certainty('completed', rated, 200, 1)).toMatch(/ over 163 of 200 tasks; /);
    expect(certainty('completed', rated, 200)).toMatch(/ over 163 tasks; /);
    // Three tasks, one of them of two rollouts, or four: nobody knows.
    expect(certainty('completed', ofTasks(1, 0, 1), 4)).toMatch(/ over 3 tasks; /);
    expect(certainty('completed', rated, 163)).toMatch(/ over 163 tasks$/);
  });

  it('counts rewards that will come, or never will, as the lowest and as the highest', () => {
    expect(certainty('running', ofTasks(1, 0, 1), 28, 1)).toMatch(
      /^95% CI 0\.00\d+ to 0\.99\d+ over 3 of 28 tasks; 0\.0714 to 0\.964 with the 25 to come$/,
    );
    expect(certainty('cancelled', ofTasks(1, 0, 1), 28, 1)).toMatch(/; 0\.0714 to 0\.964 with the 25 missing$/);
    // Some may belong to these tasks: at worst, six to each task with a mean of 1, and 13 to others.
    expect(certainty('running', ofTasks(1, 0, 1), 28)).toBe(
      'no interval: with so many rewards missing, it would be the whole range; 0.0179 to 0.995 with the 25 to come',
    );
  });

  it('is left out if the service does not report how many are to come, unless the run has ended', () => {
    const words = (status: string | null) => wordsOf(runMeanOf(ofTasks(1, 0, 1), { status }));
    expect(words('running')).toBe('no interval: the service does not report how many rewards are missing');
    expect(words(null)).toMatch(/^95% CI 0\.\d+ to 0\.\d+ over 3 tasks, if the run has ended and these are all /);
    // A2: it may leave out failed rollouts.
    expect(words('completed')).toMatch(/over 3 tasks, if these are all its rollouts \(total unknown\)$/);
  });

  it('does not take an impossible number as that of its rollouts', () => {
    for (const total of [0, -5, 2.5, 2, 1e300, Number.NaN])
      expect(certainty('running', ofTasks(1, 0, 1), total)).toMatch(/^no interval: the service does not report/);
  });

  it('does not count the tasks of rollouts without a task, while more may come', () => {
    const some = [...ofTasks(1, 0), { reward: 1, trajectory_id: 'x', task_id: null }];
    expect(certainty('running', some, 28)).toMatch(/^no interval/);
  });

  it('has no bounds from rewards outside the range', () => {
    const run = runMeanOf(ofTasks(5, 5, null), { status: 'completed' });
    expect([run.bounds, run.interval]).toEqual([undefined, undefined]);
  });

  it('counts more tasks than a call can have arguments', () => {
    const many = Array.from({ length: 200_000 }, (_, task) => ({
      reward: task % 2,
      trajectory_id: null,
      task_id: `t${task}`,
    }));
    expect(runMeanOf(many, { status: 'running', total: 250_000 }).interval).toBeDefined();
  });

  it('is left out if rewards name no task, as several may share one', () => {
    const nameless = ofTasks(1, 0, 1).map(each => ({ ...each, task_id: null }));
    const words = 'no interval: 3 rewards have no readable task';
    expect(certainty('completed', nameless)).toBe(words);
    expect(certainty('running', nameless, 10)).toBe(words);
    const seen = { id: 'evr_1', label: 'nameless', kind: 'run', status: 'completed', done: 3, total: 3, mean: 0.5 };
    const mixed = runMeanOf([...ofTasks(1, 0), ...nameless.slice(0, 1)], { status: 'completed' });
    expect(stateFields({ ...seen, runMean: mixed })).toMatchObject({
      task_mean: null,
      interval: null,
      mean_bounds: null,
    });
    // One that has no reward is missing, in any task.
    expect(certainty('completed', [...ofTasks(...Array<number>(19).fill(1)), { task_id: null, reward: null }])).toMatch(
      /^95%/,
    );
  });

  it('is left out if the range of the rewards is unknown', () => {
    expect(certainty('completed', ofTasks(1, 5, 7))).toBe(
      'no interval: rewards are outside 0..1; set their range with the setting compare.rewardRange',
    );
    expect(wordsOf(runMeanOf(ofTasks(1, 5, 7), { status: 'completed', range: [0, 10] }))).toMatch(/^95% CI/);
  });
});

describe('the counts', () => {
  it('name what is unreadable, and do not count it as missing', () => {
    const rewards = summariseRewards(rewardsOf(0, 1), undefined, 1);
    const lines = summaryLines({ run: { ...run, status: 'completed' }, rewards }, 100, theme);
    const [, , mean] = lines.map(stripVTControlCharacters);
    expect(mean).toBe('mean 0.500 over 2 rewards  1 reward could not be read');
  });

  it('are never behind the rewards', () => {
    expect(head('running', rewardsOf(0, 1, 1), { terminal_rollouts: 2 })[1]).toContain('3 of 28 rollouts');
    expect(head('running', rewardsOf(0, 1, 1), { terminal_rollouts: 9 })[1]).toContain('9 of 28 rollouts');
  });

  it('name rollouts without a reward, with the failed ones, as everywhere', () => {
    const live = { failed_rollouts: 2 };
    expect(head('completed', rewardsOf(1, 1, null), { live })[2]).toBe(
      'mean 1.00 over 2 rewards  26 without a reward (2 failed)',
    );
    const progress: EvalProgress = { status: 'completed', terminal_rollouts: 28, total_rollouts: 28, live };
    const observed = evalProgressQuery('evr_1').observes?.(progress) ?? { kind: 'run', id: 'evr_1' };
    const seen = { ...knownResource({ kind: 'run', id: 'evr_1', label: 'a' }, [observed]), graded: 2, mean: 1 };
    expect(describeFollowedState(seen)).toBe(
      'completed, 28 of 28, mean 1.00 over 2 rewards, 26 without a reward (2 failed)',
    );
    expect(head('completed', rewardsOf(1, null, null), { live, total_rollouts: 3 })[2]).toBe(
      'mean 1.00 over 1 reward  2 without a reward (all failed)',
    );
    // The service lists no failed rollout before the end.
    expect(head('running', rewardsOf(1), { live })[2]).toBe('mean so far 1.00 over 1 reward  2 failed');
    expect(head('running', rewardsOf(null, null, null), { live })[2]).toBe(
      'no reward; 3 rollouts without one (2 failed)',
    );
    expect(head('running', rewardsOf(1, null), {})[2]).toBe('mean so far 1.00 over 1 reward  1 without a reward');
  });
});

describe('the distribution', () => {
  it('starts and ends at round numbers, even on one line', () => {
    const values = [0.02, 0.13, 0.31, 0.32, 0.55, 0.87];
    const ranges = distributionLines(values, 40, 60, theme).map(line => line.trim().split(' █')[0]);
    expect(ranges.slice(0, 2)).toEqual(['[0, 0.1)', '[0.1, 0.2)']);
    expect(ranges.at(-1)).toBe('[0.8, 0.9]');
    expect(distributionLines(values, 20, 60, theme)[0]).toMatch(/^rewards 0 \S+ 0\.9$/);
    expect(distributionLines([], 20, 60, theme)).toEqual([]);
  });

  it('is in words if there is only one value', () => {
    expect(distributionLines([0, 0, 0], 20, 60, theme)).toEqual(['rewards all 0']);
    expect(distributionLines([0.25], 20, 60, theme)).toEqual(['rewards 0.25']);
    expect(distributionLines([0, 1], 20, 60, theme)[0]).toMatch(/^rewards 0 \S+ 1$/);
  });
});

it('names the options that a run ignored, and what its tasks lack', () => {
  const read = evalRun.parse({ ...run, warnings: 'one task has no grader', ignored_options: ['algorithm', 'seed'] });
  expect(runFacts(read)).toEqual(
    expect.arrayContaining([
      { label: 'warning', value: 'one task has no grader' },
      { label: 'ignored options', value: 'algorithm, seed' },
    ]),
  );
});

it('calls a run of a checkpoint optimistic only if the held-out curve is known to be of the same tasks (X23)', () => {
  const cautions = (more: object) =>
    runFacts({ ...run, parent_checkpoint_id: 'ckpt_1', ...more }).filter(
      ({ label, value }) => label === 'caution' && value,
    );
  expect(cautions({ split: 'test', held_out_split: 'validation' })).toEqual([]);
  expect(cautions({ split: 'test', held_out_split: 'test' })).toHaveLength(1);
  // Until its curve has been read, nothing false.
  expect(cautions({ split: 'test' })).toEqual([]);
  expect(cautions({ held_out_split: 'test' })).toEqual([]);
  expect(cautions({})).toEqual([]);
  expect(cautions({ parent_checkpoint_id: null })).toEqual([]);
});

it.each(['validation', 'test'])('says that its checkpoint was measured on the %s tasks (X23)', async split => {
  const service = fakeService({
    getTrajectoryRewards: () => ({ trajectory_rewards: [] }),
    getHeldOutRewards: () => ({ held_out_rewards: [{ step: 1, split, held_out_reward: 0.5 }] }),
  });
  const row = { ...run, split: 'test', parent_checkpoint_id: 'ckpt_1', training_run_id: 'trn_1' };
  const context = { service, signal: new AbortController().signal, memory: RememberedStore.inMemory('test') };
  const whole = await runs.wholeFacts?.(row, context);
  const caution = whole?.facts.find(({ label }) => label === 'caution');
  expect(caution?.value !== undefined).toBe(split === 'test');
  expect(withTraining(row, { split })).toMatchObject({ held_out_split: split });
});
