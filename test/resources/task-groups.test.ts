/** Texts about groups of rollouts. */
import { expect, it } from 'vitest';
import { describeGroups, describePolicies, groupFacts, groupsOf, parseSteps } from '../../src/resources/task-groups.ts';

it('lists for a training run the steps of its passed rollouts', () => {
  const rows = [10, 20, 30].map(policy_step => ({
    ...{ trajectory_id: `t${policy_step}`, task_id: 'a', status: 'completed', reward: 1, policy_step },
  }));
  const words = 'These rollouts are from 3 training steps, 10 to 30, and so from different models';
  expect(describeGroups(groupsOf(rows, { range: [0, 1] }))).toContain(words);
  const ofOne = rows.map(row => ({ ...row, policy_step: 30 }));
  expect(describeGroups(groupsOf(ofOne, { range: [0, 1] })).join()).not.toContain('training');
});

it('name the models of pooled rollouts, the most frequent ones first, but not of training steps', () => {
  const rows = ['a', 'b', 'b', 'c', 'd', 'e'].map((model_id, index) => ({
    ...{ trajectory_id: `t${index}`, task_id: 'a', status: 'completed', reward: index % 2, model_id },
  }));
  const words = `From 5 models together: b (mean 0.500 over 2 rewards), ${['a', 'c', 'd']
    .map((model, index) => `${model} (mean ${['0', '1.00', '0'][index]} over 1 reward)`)
    .join(', ')}, 1 more`;
  expect(describeGroups(groupsOf(rows, { range: [0, 1] }))).toContain(words);
  const ofSteps = rows.map((row, policy_step) => ({ ...row, policy_step }));
  expect(describeGroups(groupsOf(ofSteps, { range: [0, 1] })).join()).not.toContain('together');
});

it('show for each model how often it passes, not for all together (issue 19)', () => {
  const rewards = { large: [1, 1, 1, 0], 'a small one': [0, 0, 0, 1] };
  const rows = Object.entries(rewards).flatMap(([model_id, own]) =>
    own.map((reward, index) => ({
      ...{ trajectory_id: `${model_id}${index}`, task_id: `t${index % 2}`, status: 'completed', reward, model_id },
    })),
  );
  const words = describeGroups(groupsOf(rows, { range: [0, 1] }));
  expect(words.filter(line => line.startsWith('pass'))).toEqual([
    'pass@k, large  1 75%  2 100%',
    'pass@k, a small one  1 25%  2 50%',
    'pass^k, large  1 75%  2 50%',
    'pass^k, a small one  1 25%  2 0%   reward at least 1.00',
  ]);
  const one = describeGroups(
    groupsOf(
      rows.filter((_, index) => index % 4 === 0),
      { range: [0, 1] },
    ),
  );
  expect(one).toContain('passed, large 100% (reward at least 1.00)');
});

it('show how often a base passes, and over how many tasks (issue 19)', () => {
  const rows = ['a', 'a', 'b', 'b'].map((task_id, index) => ({
    ...{ trajectory_id: `t${index}`, task_id, status: 'completed', reward: 1 },
  }));
  const base = [0, 1, 0].map((reward, index) => ({ trajectory_id: `b${index}`, task_id: 'aab'[index], reward }));
  expect(describeGroups(groupsOf(rows, { range: [0, 1], base })).filter(line => line.startsWith('pass'))).toEqual([
    'pass@k  1 100%  2 100%',
    'pass@k, base  1 25%  2 100%',
    'pass^k  1 100%  2 100%',
    'pass^k, base  1 25%  2 0%   reward at least 1.00; 1 of 2 tasks have 2 rewards, base',
  ]);
});

it('are by model on both sides if the base is from several models too', () => {
  const of = (model_id: string, ...rewards: number[]) =>
    rewards.map((reward, index) => ({ trajectory_id: `${model_id}${index}`, task_id: 'a', model_id, reward }));
  const groups = groupsOf(of('new', 1, 1), { range: [0, 1], base: [...of('one', 1), ...of('two', 0, 0)] });
  expect(groups.models).toEqual([
    'Base: From 2 models together: two (mean 0 over 2 rewards), one (mean 1.00 over 1 reward)',
  ]);
  expect(describeGroups(groups).filter(line => line.startsWith('pass@'))).toEqual([
    'pass@k  1 100%  2 100%',
    'pass@k, base, two  1 0%  2 0%',
    'pass@k, base, one  1 100%',
  ]);
  const [group] = groups.groups;
  expect(group?.modelScores).toBeUndefined();
  expect(group && groupFacts(group).filter(fact => fact.group === 'base by model')).toMatchObject([
    { label: 'two', value: '0 over 2 rewards, 0 passed' },
    { label: 'one', value: '1.00 over 1 reward, 1 passed' },
  ]);
});

it('name a model without rewards (attack34 C)', () => {
  const rows = [0.5, null].map((reward, index) => ({ trajectory_id: `t${index}`, reward, model_id: `m${index}` }));
  expect(describePolicies(rows)).toEqual(['From 2 models together: m0 (mean 0.500 over 1 reward), m1 (no rewards)']);
});

it('read the requested steps', () => {
  expect(['50..60', '50..', '..60', ' 7 '].map(parseSteps)).toEqual([
    [50, 60],
    [50, Number.POSITIVE_INFINITY],
    [0, 60],
    [7, 7],
  ]);
  for (const text of ['', '..', '6..5', '1..2..3', 'x', '1.5']) expect(parseSteps(text), text).toBeUndefined();
});
