/** The checkpoints of a training run with their measurements. */
import { describe, expect, it } from 'vitest';
import { cellText } from '../../src/present/column.ts';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { certaintyOf } from '../../src/queries/run-mean.ts';
import {
  describeEvaluations,
  measuredCheckpointFacts,
  newestUncertain,
  poolKey,
  withMeasured,
} from '../../src/resources/checkpoint-columns.ts';
import { deployedColumns, trainingFacts } from '../../src/resources/training.ts';

const rows = [10, 20, 30, 40].map(step => ({ checkpoint_id: `ckpt_${step}`, step_index: step }));
const heldOut = [10, 20, 30].map((step, index) => ({
  step,
  held_out_reward: [0.4, 0.7, 0.7][index],
  completed_samples: 100,
  split: 'test',
}));
const run = (checkpoint: string, reward_mean: number, reward_count: number, more: object = {}) => ({
  ...{ eval_run_id: `evr_${checkpoint}_${reward_mean}`, parent_checkpoint_id: checkpoint, reward_mean, reward_count },
  ...{ status: 'completed', split: 'test', total_rollouts: reward_count, created_at: '2026-01-02T00:00:00Z', ...more },
});
const range = [0, 1] as const;
const cells = (row: object) =>
  Object.fromEntries(deployedColumns(range).map(column => [column.title, cellText(column, row as never)]));

describe('checkpoints', () => {
  it('have the held-out reward of their step; the latest of equal ones is the best', () => {
    const measured = withMeasured(rows, heldOut, [], range);
    expect(measured.map(cells).map(cell => [cell['HELD-OUT'], cell['BEST'], cell['95% CI']])).toEqual([
      ['0.400', '', expect.stringMatching(/^0\.30\d\.\.0\.50\d$/)],
      ['0.700', '', expect.any(String)],
      ['0.700', 'best', expect.stringMatching(/^0\.60\d\.\.0\.78\d$/)],
      ['', '', ''],
    ]);
    const best = measured[2];
    const words = measuredCheckpointFacts(best ?? {}, range).find(({ label }) => label === 'best')?.value;
    expect(words).toContain('chosen and measured on the same tasks, so it looks better than it is');
    const apart = withMeasured(
      rows,
      heldOut.map(point => ({ ...point, split: 'validation' })),
      [],
      range,
    );
    const plain = measuredCheckpointFacts(apart[2] ?? {}, range).find(({ label }) => label === 'best')?.value;
    expect(plain).toBe('highest held-out reward of the checkpoints; tied with step 20; the latest wins');
    // The interval of 70 of 100 reaches down to about 0.6.
    const near = withMeasured(
      rows,
      [{ step: 10, held_out_reward: 0.65, completed_samples: 100 }, ...heldOut.slice(1)],
      [],
      range,
    );
    const close = measuredCheckpointFacts(near[2] ?? {}, range).find(({ label }) => label === 'best')?.value;
    expect(close).toContain('; the latest wins; 1 other checkpoint is within its 95% CI');
    // One that lost samples may be as good, even if it is not the best (attack26 B4).
    const lost = { held_out_reward: 0.72, loaded_trajectories: 70, expected_samples: 114, round_completed: true };
    const whole = { step: 20, held_out_reward: 0.75, completed_samples: 114 };
    const lossy = withMeasured(rows, [{ step: 10, ...lost }, whole], [], range);
    expect(lossy.map(({ rivals }) => rivals?.close)).toEqual([undefined, 1, undefined, undefined]);
    // With one there is nothing to choose.
    expect(withMeasured(rows.slice(0, 1), heldOut, [], range)[0]?.is_best).toBeUndefined();
  });

  it('say if the model before training was at least as good as the best', () => {
    const curveFrom = (held_out_reward: number) => [{ step: 0, held_out_reward, completed_samples: 100 }, ...heldOut];
    const cellsAt = (reward: number) => withMeasured(rows, curveFrom(reward), [], range).map(row => cells(row)['BEST']);
    expect(cellsAt(0.69)).toEqual(['', '', 'best', '']);
    expect(cellsAt(0.7)).toEqual(['', '', 'equals step 0', '']);
    expect(cellsAt(0.8)).toEqual(['', '', 'below step 0', '']);
    const [only] = withMeasured(rows.slice(0, 1), curveFrom(0.8), [], range);
    const words = measuredCheckpointFacts(only ?? {}, range).find(({ label }) => label === 'best')?.value;
    expect(words).toBe('the model before training (step 0) scored 0.800, and no checkpoint beats it');
    // An unfinished round says little.
    const unfinished = [{ step: 0, held_out_reward: 1, completed_samples: 2, expected_samples: 100 }, ...heldOut];
    expect(cells(withMeasured(rows, unfinished, [], range)[2] ?? {})['BEST']).toBe('best');
  });

  it('say if a higher reward does not count, as its round is incomplete', () => {
    const point = { step: 40, held_out_reward: 0.95, completed_samples: 5, expected_samples: 100 };
    const best = withMeasured(rows, [...heldOut, point], [], range)[2] ?? {};
    expect(cells(best)['BEST']).toBe('best');
    const words = measuredCheckpointFacts(best, range).find(({ label }) => label === 'best')?.value;
    expect(words).toMatch(/; step 40 has 0\.950, but its round is incomplete and does not count$/);
    const lower = withMeasured(rows, [...heldOut, { ...point, held_out_reward: 0.6 }], [], range)[2];
    expect(lower?.better).toBeUndefined();
  });

  it('say if a step without a checkpoint was better', () => {
    const [first] = withMeasured(rows.slice(0, 1), heldOut, [], range);
    expect(cells(first ?? {})['BEST']).toBe('below step 30');
    const words = measuredCheckpointFacts(first ?? {}, range).find(({ label }) => label === 'best')?.value;
    expect(words).toBe('step 30 had 0.700, but has no checkpoint');
  });

  it('have the mean of their evaluations on the same tasks, over all rewards', () => {
    const runs = [
      run('ckpt_10', 0.2, 100),
      run('ckpt_10', 0.8, 300),
      run('ckpt_10', 1, 50, { split: 'train', created_at: '2026-01-01T00:00:00Z' }),
      run('ckpt_20', 0.5, 10, { total_rollouts: 20 }),
      run('ckpt_20', 0.9, 10, { status: 'running' }),
      run('ckpt_30', 0.5, 0, { reward_mean: null }),
      { ...run('ckpt_40', 0.5, 1), reward_count: null },
    ];
    const measured = withMeasured(rows, [], runs, range);
    expect(measured.map(({ evaluations }) => evaluations?.runs)).toEqual([2, 1, undefined, 1]);
    expect(measured[0]?.evaluations?.mean).toBeCloseTo(0.65);
    expect(cells(measured[0] ?? {})).toMatchObject({ EVALUATED: '0.650', RUNS: '2' });
    const words = measured.flatMap(({ evaluations }) => (evaluations ? describeEvaluations(evaluations) : []));
    expect(words).toEqual(['evaluated 0.650 n=400 in 2 runs', 'evaluated 0.500 n=10', 'evaluated 0.500']);
    const facts = measured.map(row => measuredCheckpointFacts(row, range).find(({ label }) => label === 'evaluated'));
    expect(facts[0]?.value).toBe('0.650 over 400 rewards in 2 evaluations, interval not read yet');
    expect(facts[3]?.value).toBe('0.500 in 1 evaluation, interval not read yet');
  });

  it('say how many rewards of their evaluations are full, if others are partial (out34 B9)', () => {
    const rewards = [1, 0.5, 0.2, 0].map((reward, index) => ({ task_id: `t${index}`, reward }));
    const certainty = certaintyOf(rewards, { status: 'completed', total: 4, range });
    const words = (runs: Parameters<typeof withMeasured>[2], pools?: Parameters<typeof withMeasured>[4]) => {
      const { evaluations } = withMeasured(rows, [], runs, range, pools)[0] ?? {};
      const fact = measuredCheckpointFacts({ evaluations }, range).find(({ label }) => label === 'evaluated');
      return [evaluations && describeEvaluations(evaluations), fact?.value];
    };
    const one = { ...run('ckpt_10', 0.425, 4, { total_rollouts: 4 }), certainty };
    expect(words([one])).toEqual([
      'evaluated 0.425 n=4 (full reward 25%)',
      expect.stringMatching(/, full reward 1 of 4 \(25%\)$/),
    ]);
    const two = [one, { ...one, eval_run_id: 'evr_other' }];
    const data = { rewards: [...rewards, ...rewards], status: 'completed', total: 8 } as never;
    expect(words(two, new Map([[poolKey(two), { data }]]))).toEqual([
      'evaluated 0.425 n=8 in 2 runs (full reward 25%)',
      expect.stringMatching(/, full reward 2 of 8 \(25%\)$/),
    ]);
    const whole = certaintyOf([{ task_id: 'a', reward: 1 }], { status: 'completed', total: 1, range });
    expect(words([{ ...run('ckpt_10', 1, 1, { total_rollouts: 1 }), certainty: whole }])[0]).toBe('evaluated 1.00 n=1');
  });

  it('mark the mean of several evaluations until the rewards of each are counted', () => {
    const runs = [run('ckpt_10', 0.2, 100), { ...run('ckpt_10', 0.8, 300), reward_count: null }];
    const { evaluations, ...measured } = withMeasured(rows, [], runs, range)[0] ?? {};
    expect(cells({ ...measured, evaluations })['EVALUATED']).toBe('0.500?');
    expect(evaluations && describeEvaluations(evaluations)).toBe('evaluated 0.500? in 2 runs');
    const facts = measuredCheckpointFacts({ evaluations }, range);
    expect(facts.find(({ label }) => label === 'evaluated')?.value).toBe(
      '0.500? in 2 evaluations, interval not read yet',
    );
  });

  it('weight each evaluation by the rewards read from it, if its record has no number', () => {
    const read = (rewards: readonly number[]) => ({
      ...run('ckpt_10', rewards.reduce((sum, each) => sum + each, 0) / rewards.length, 0),
      reward_count: null,
      certainty: certaintyOf(
        rewards.map((reward, index) => ({ task_id: `t${index}`, reward })),
        { status: 'completed', total: rewards.length },
      ),
    });
    const [measured] = withMeasured(rows, [], [read([1]), read([0, 0, 1, 1, 0, 0, 0, 0, 0])], range);
    expect(measured?.evaluations).toMatchObject({ rewards: 10, mean: 0.3 });
  });

  it('have the interval of a single evaluation; of several by task, once their rewards were read', () => {
    const rewards = Array.from({ length: 40 }, (_, at) => ({
      task_id: `${at % 8}`,
      trajectory_id: `${at}`,
      reward: at % 2,
    }));
    const certainty = certaintyOf(rewards, { status: 'completed', total: 40 });
    const one = run('ckpt_10', 0.5, 40, { certainty });
    const repeated = [one, { ...one, eval_run_id: 'evr_again' }];
    const intervals = [[one], repeated, [run('ckpt_10', 0.5, 40)]].map(
      runs => withMeasured(rows, [], runs, range)[0]?.evaluations?.interval,
    );
    expect(intervals).toEqual([certainty.interval, undefined, undefined]);
    expect(certainty.interval).toBeDefined();
    const all = { status: 'completed', total: 80 };
    const twice = [...rewards, ...rewards].map((each, at) => ({ ...each, trajectory_id: `${at}` }));
    const pooledFact = (pool: object) => {
      const [measured] = withMeasured(rows, [], repeated, range, new Map([[poolKey(repeated), pool]]));
      const fact = measuredCheckpointFacts(measured ?? {}, range).find(({ label }) => label === 'evaluated');
      return [measured?.evaluations?.interval, fact?.value];
    };
    // Repeated rollouts are no new tasks: the interval is as wide.
    expect(pooledFact({ data: { ...all, rewards: twice } })).toEqual([
      certainty.interval,
      expect.stringMatching(/^0\.500 over 80 rewards in 2 evaluations, 95% CI 0\.\d+ to 0\.\d+ over 8 tasks$/),
    ]);
    expect(pooledFact({ data: { ...all, rewards: twice.map(each => ({ ...each, task_id: null })) } })).toEqual([
      undefined,
      '0.500 over 80 rewards in 2 evaluations, no interval: 80 rewards have no readable task',
    ]);
    expect(pooledFact({ error: new Error('gone') })[1]).toMatch(/, no interval: gone$/);
    expect(pooledFact({})).toEqual([undefined, '0.500 over 80 rewards in 2 evaluations, interval not read yet']);
  });

  it('have the interval of several evaluations only beside its own mean', () => {
    const values = Array.from({ length: 60 }, (_, at) => (at < 3 || at % 3 > 0 ? 1 : 0));
    const all = values.map((each, at) => ({ task_id: `${at}`, trajectory_id: `${at}`, reward: each }));
    const few = Array.from({ length: 15 }, (_, at) => ({
      task_id: `${at % 3}`,
      trajectory_id: `few ${at}`,
      reward: 1,
    }));
    const runs = [run('ckpt_10', values.reduce<number>((sum, each) => sum + each, 0) / 60, 60), run('ckpt_10', 1, 15)];
    const data = { status: 'completed', total: 75, rewards: [...all, ...few] };
    const [measured] = withMeasured(rows, [], runs, range, new Map([[poolKey(runs), { data }]]));
    expect(cells(measured ?? {})).toMatchObject({ EVALUATED: '0.747', 'EVAL 95% CI': '' });
    expect(measuredCheckpointFacts(measured ?? {}, range).find(({ label }) => label === 'evaluated')?.value).toMatch(
      /^0\.747 over 75 rewards in 2 evaluations, mean of tasks 0\.683, 95% CI 0\.\d+ to 0\.\d+ over 60 tasks$/,
    );
  });

  it.each([
    ['oldest', [...Array(22).keys()]],
    ['newest', [...Array(22).keys()].reverse()],
  ])('say that only the newest evaluations are read, listed %s first', (_, steps) => {
    const listed = steps.map(step => ({ checkpoint_id: `ckpt_${step}`, step_index: step }));
    const runs = steps.map(step => run(`ckpt_${step}`, 0.5, 4));
    const { uncertain, left } = newestUncertain(runs, listed, range);
    const read = uncertain.map(([each]) => each?.parent_checkpoint_id).sort();
    expect(read).toEqual(Array.from({ length: 20 }, (_, index) => `ckpt_${index + 2}`).sort());
    const measured = withMeasured(listed, [], runs, range, new Map(left)).find(({ step_index }) => step_index === 1);
    expect(measuredCheckpointFacts(measured ?? {}, range).find(({ label }) => label === 'evaluated')?.value).toBe(
      '0.500 over 4 rewards in 1 evaluation, no interval: only those of the newest 20 checkpoints are read',
    );
  });

  it('have no interval of a held-out mean if another mean is outside the range (A3)', () => {
    const odd = heldOut.map((point, index) => ({ ...point, held_out_reward: [0.4, 0.7, 1.5][index] }));
    expect(
      withMeasured(rows, odd, [], range)
        .map(cells)
        .map(cell => [cell['HELD-OUT'], cell['95% CI']]),
    ).toEqual([
      ...[
        ['0.400', ''],
        ['0.700', ''],
        ['1.50', ''],
      ],
      ['', ''],
    ]);
  });
});

it('says for a training run its best held-out reward, and that it is optimistic', () => {
  const mean = { step: 20, reward: 0.7, samples: 100, split: 'test' };
  const facts = trainingFacts(
    { training_run_id: 'trn_1' },
    { last: { ...mean, step: 30, reward: 0.6 }, best: mean },
    range,
  );
  const value = (name: string) => facts.find(({ label }) => label === name)?.value;
  expect(value('held-out')).toMatch(/^0\.600 at step 30, on the test tasks/);
  expect(value('best')).toMatch(/^0\.700 at step 20.*Choosing a checkpoint by this reward overstates it$/);
});

it('says for a training run that @best is never its best held-out reward if that is at step 0', () => {
  const held = heldOutMeans([{ step: 0, held_out_reward: 0.8, completed_samples: 100 }, ...heldOut]);
  const facts = trainingFacts({ training_run_id: 'trn_1' }, held, range);
  expect(facts.find(({ label }) => label === 'best')?.value).toMatch(
    /^0\.800 at step 0.*, before training: @best is the best of the checkpoints/,
  );
});
