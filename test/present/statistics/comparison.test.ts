import { describe, expect, it } from 'vitest';
import { comparisonDefaults, summariseComparison } from '../../../src/present/statistics/comparison.ts';
import type { Missing, RunTasks } from '../../../src/present/statistics/tasks.ts';
import { Random } from '../../../tools/rig/random.ts';

type Task = readonly (number | undefined)[];

const run = (tasks: readonly (Task | number)[], extent: Partial<RunTasks> = {}): RunTasks => ({
  tasks: tasks.map(rewards => (typeof rewards === 'number' ? [rewards] : rewards)),
  end: 'complete',
  ...extent,
});
const compared = (
  base: readonly (Task | number)[],
  fresh: readonly (Task | number)[],
  options: {
    missing?: Missing;
    equalWithin?: number;
    range?: readonly [number, number];
    ended?: boolean;
  } & Partial<RunTasks> = {},
) => {
  const { end = 'complete', total, samplesPerTask, isEachGiven, ...others } = options;
  const padded = [...fresh, ...base.slice(fresh.length).map(() => [])];
  const runs = [
    run(base, extentOf(base)),
    run(padded, end === 'complete' && !total ? extentOf(padded) : { end, total, samplesPerTask, isEachGiven }),
  ];
  return summariseComparison(...(runs as [RunTasks, RunTasks]), {
    ...comparisonDefaults,
    ended: end === 'complete',
    ...others,
  });
};
/** A service that reports the total, unless a task may belong to the other run. */
const extentOf = (tasks: readonly (Task | number)[]): Partial<RunTasks> => {
  const lengths = tasks.map(task => (typeof task === 'number' ? 1 : task.length));
  return lengths.includes(0)
    ? { samplesPerTask: Math.max(...lengths) }
    : { total: lengths.reduce((sum, length) => sum + length, 0) };
};
const times = (count: number, value: Task | number) => Array<Task | number>(count).fill(value);

describe('a verdict', () => {
  it('names what the service does not report beside the missing rewards of the list', () => {
    const fresh = [...times(20, 1), ...times(8, [undefined])];
    const { verdict, isConditional } = compared(times(28, 0.5), fresh, { end: 'unreported' });
    expect(isConditional).toBe(true);
    expect(verdict.words).toMatch(
      /^undecided: the service does not report that both runs have ended; if they have .*, still undecided: 8 of 28 rollouts/,
    );
  });

  it('says what most tasks show if the mean is undecided (out34 B1)', () => {
    const base = Array.from({ length: 21 }, (_, index) => 0.3 + index / 100);
    const lower = base.map((value, index) => value - 0.05 - (index % 3) * 0.09);
    const most = 'lower on 21 of 21 tasks (sign test: p < 0.001)';
    const { verdict, gate } = compared(base, lower);
    expect(verdict.kind).toBe('undecided');
    expect(verdict.words).toMatch(/^undecided: needs about \d+ more tasks; lower on 21 of 21/);
    expect(verdict.words).toContain(most);
    expect(gate(0)).toMatchObject({ outcome: 'undecided' });
    expect(gate(0).words).toContain(most.replace('lower', 'Lower'));
    expect(compared(lower, base).verdict.words).toContain('; higher on 21 of 21 tasks (sign test');
    const mixed = lower.map((value, index) => (index < 2 ? 1 : value));
    expect(compared(base, mixed).verdict.words).toContain('lower on 19 and higher on 2 of 21 tasks');
    // Not of an even split, not of a run that goes on, and not if the verdict says it.
    expect(
      compared(
        base,
        base.map((value, index) => value + (index % 2 ? 0.05 : -0.05)),
      ).verdict.words,
    ).not.toContain('sign');
    expect(compared(base, lower, { end: 'running', total: 40 }).verdict.words).not.toContain('sign');
    expect(compared(times(28, 1), times(28, 0)).verdict.words).toBe('the new run is worse');
  });

  it('counts only the tasks that differ for the sign test (rev38data B6)', () => {
    const of = (higher: number) =>
      compared(times(200, 0.5), [...times(higher, 0.6), ...times(200 - higher, 0.5)], { equalWithin: 0 });
    expect(of(6).verdict.words).toContain('higher on 6 of the 6 tasks that differ (sign test: p = 0.031)');
    expect(of(8).verdict.words).toContain('higher on 8 of the 8 tasks that differ (sign test: p = 0.0078)');
  });

  it('does not follow from two tasks that go from 0 to 1 (V44)', () => {
    const { interval, verdict, gate } = compared([0, 0], [1, 1]);
    expect(interval?.low).toBeCloseTo(-1 + 2 * Math.sqrt(0.025), 6);
    expect(interval?.high).toBe(1);
    expect(verdict).toMatchObject({ kind: 'undecided', words: 'undecided: needs about 4 more tasks', moreTasks: 4 });
    expect(gate(0.9).outcome).toBe('undecided');
  });

  it('is reached by six gains, or by six losses', () => {
    expect(compared(times(6, 0), times(6, 1)).verdict).toMatchObject({
      kind: 'better',
      words: 'the new run is better',
    });
    expect(compared(times(6, 1), times(6, 0)).verdict).toMatchObject({ kind: 'worse', words: 'the new run is worse' });
    expect(compared(times(5, 0), times(5, 1)).verdict.kind).toBe('undecided');
  });

  it('does not miss a rare loss behind small gains', () => {
    // Each task but one in ten gains 0.1, that one loses 0.9: the mean is 0, and ten tasks may not show the loss.
    expect(compared(times(10, 0.9), times(10, 1)).verdict.kind).not.toBe('better');
  });

  it('is equal if no larger difference is possible', () => {
    const same = compared(times(200, 0.5), times(200, 0.5));
    expect(same.verdict).toMatchObject({ kind: 'equal', words: 'equal within ±0.05' });
    expect(compared(times(200, 0.5), times(200, 0.5), { equalWithin: 0.01 }).verdict.words).toMatch(
      /^undecided: needs about \d+ more tasks to be equal$/,
    );
    expect(compared(times(28, 0.5), times(28, 0.5), { equalWithin: 0 }).verdict.words).toBe('undecided');
  });

  it('counts several rollouts of a task as one value', () => {
    const few = compared(times(3, [0, 0, 0, 0]), times(3, [1, 1, 1, 1]));
    expect(few.interval).toEqual(compared(times(3, 0), times(3, 1)).interval);
    expect(few.verdict.kind).toBe('undecided');
  });

  it('is equal even if a difference within the margin is certain, and the gate ignores the word', () => {
    const [before, after] = [times(1000, 0.5), times(1000, 0.52)];
    const higher = compared(before, after, { equalWithin: 0.1 });
    expect(higher.verdict).toEqual({
      kind: 'equal',
      words: 'equal within ±0.1, although the new run is certainly higher',
    });
    expect(higher.interval?.low).toBeGreaterThan(0);
    expect([higher.gate(0).outcome, compared(after, before, { equalWithin: 0.1 }).gate(0).outcome]).toEqual([
      'passed',
      'failed',
    ]);
    expect(compared(after, before, { equalWithin: 0.1 }).verdict.words).toBe(
      'equal within ±0.1, although the new run is certainly lower',
    );
    // No larger is not certain, or is not asked.
    expect(compared(before, after, { equalWithin: 0.02 }).verdict.words).toBe('the new run is better');
    expect(compared(before, after, { equalWithin: 0 }).verdict.words).toBe('the new run is better');
    expect(compared([...times(500, 0), ...times(500, 1)], times(1000, 0.5), { equalWithin: 1 }).verdict.kind).toBe(
      'equal',
    );
  });

  it('ignores a difference that is only rounding', () => {
    const half = times(30, [0.1, 0.2, 0.3]);
    const exact = compared(times(30, 0.2), times(30, 0.2));
    for (const [base, fresh] of [
      [half, times(30, [0.3, 0.2, 0.1])],
      [times(30, 0.3), times(30, 0.1 + 0.2)],
      [times(30, [0.1, 0.2, -0.3, 0]), times(30, [-0.3, 0, 0.2, 0.1])],
      [times(30, 1e15 + 0.25), times(30, 1e15)],
    ] as const) {
      const range = [-1, 1e16] as const;
      const { difference, wins, losses, ties } = compared(base, fresh, { range });
      expect([difference, wins, losses, ties]).toEqual([0, 0, 0, 30]);
      expect(compared(base, fresh, { range }).interval).toEqual(compared(base, base, { range }).interval);
    }
    expect(compared(half, times(30, [0.3, 0.2, 0.1])).interval).toEqual(exact.interval);
    // Differences that cancel each other, and small ones that are real.
    expect(compared([0.3, 0.2], [0.2, 0.1 + 0.2]).difference).toBe(0);
    expect(compared(times(3, 1e-9), times(3, 2e-9))).toMatchObject({ wins: 3 });
    expect(compared([0.1 + 0.2, 1e9], [0.3 + 1e-6, 1e9 + 1], { range: [0, 2e9] })).toMatchObject({ wins: 2 });
  });

  it('says if there is nothing to compare', () => {
    const nothing = compared([[1], []], [[], [1]]);
    expect(nothing).toMatchObject({ pairs: 0, tasks: 2, difference: undefined, lacking: 2 });
    expect(nothing.verdict.words).toBe('undecided: no task has a reward in both runs');
    expect(compared([], []).interval).toBeUndefined();
  });
});

it('says for each run that its tasks may have chosen it, in the gate too', () => {
  const chosen = { isMeasuredAsChosen: true };
  const words = 'run is optimistic if its checkpoint was chosen by held-out reward on these tasks';
  const [base, fresh] = [run(times(6, 0), { total: 6 }), run(times(6, 1), { total: 6, ...chosen })];
  const { caution, verdict, gate } = summariseComparison(base, fresh);
  expect([caution, verdict.kind]).toEqual([`the new ${words}`, 'better']);
  for (const least of [0, 1]) expect(gate(least).words).toMatch(new RegExp(`\\. The new ${words}\\.$`));
  expect(summariseComparison({ ...base, ...chosen }, fresh).caution).toBe(`the base ${words}; the new ${words}`);
  expect(summariseComparison(base, base).caution).toBe('');
});

describe('the text of the gate', () => {
  it('never round a number across the required bound, or to it', () => {
    const { interval, gate } = compared(times(28, 0), times(28, 1));
    const { low = 0 } = interval ?? {};
    for (const least of [low + 1e-4, low - 1e-4, low + 1e-9, 0.3196]) {
      const { words } = gate(least);
      const [from = 0, , last = 0] =
        words
          .replace(/^Undecided [^:]*/, '')
          .match(/[+-][\d.]+\d/g)
          ?.map(Number) ?? [];
      expect(words).toContain(`at least +${least}`);
      expect(Math.sign(from - least)).toBe(Math.sign(low - least));
      if (words.startsWith('Passed')) expect(last).toBe(least);
    }
  });

  it('say what passes if more tasks would not decide and that does', () => {
    const same = compared(times(28, 0.5), times(28, 0.5));
    const [, margin = '0'] =
      /More tasks like these would not decide the gate; .* --fail-below (-0\.\d+) passes\.$/.exec(same.gate(0).words) ??
      [];
    expect([same.gate(Number(margin)).outcome, same.gate(Number(margin) + 0.011).outcome]).toEqual([
      'passed',
      'undecided',
    ]);
    expect(compared([0.5], [0.5]).gate(0).words).not.toContain('--fail-below -1');
  });

  it('name the flag that leaves out rollouts without a reward, if that would decide', () => {
    const close = [...times(8, 1), ...times(14, 0), ...times(6, [undefined])];
    const base = [...times(22, 0), ...times(6, 1)];
    const flag = 'Ignoring these would decide it: --missing ignore.';
    expect(compared(base, close).gate(0).words).toContain(`6 of 28 rollouts of the new run have no reward. ${flag}`);
    expect(compared(base, close, { missing: 'ignore' }).gate(0).outcome).toBe('passed');
  });
});

describe('tasks missing from the list of a run', () => {
  it('are not counted as rollouts without a reward if the service reports no total', () => {
    const [base, fresh] = [
      [...times(40, 0.5), ...times(20, [])],
      [...times(20, []), ...times(40, 0.5)],
    ];
    const half = compared(base, fresh, { end: 'unreported', ended: true });
    expect([half.base, half.new]).toMatchObject(
      Array(2).fill({ rated: 40, rollouts: 40, tasks: 40, unlisted: 20, bounds: undefined }),
    );
    expect(half.verdict.words).toBe(
      'undecided: the base run lists no rollout of 20 tasks and the new run lists no rollout of 20 tasks',
    );
    expect(compared(base, fresh, { missing: 'ignore' }).verdict.words).toMatch(
      /, ignoring tasks that one of the runs does not list$/,
    );
    expect(compared(base, [[undefined], ...fresh.slice(1)], { end: 'unreported', ended: true }).new).toMatchObject({
      rollouts: 41,
      bounds: [expect.closeTo(20 / 41), expect.closeTo(21 / 41)],
    });
  });

  it('are the only reason if no task is in both runs', () => {
    const none = compared([...times(5, 1), ...times(5, [])], [...times(5, []), ...times(5, 1)], {
      end: 'unreported',
      ended: true,
    });
    expect([none.interval, none.verdict.words]).toEqual([undefined, 'undecided: no task has a reward in both runs']);
    expect(none.gate(0).words).toMatch(/: no task has a reward in both runs\.$/);
  });
});

describe('what would decide it', () => {
  it('is more tasks, however many rollouts each has', () => {
    const one = compared(times(4, 0), times(4, 1)).verdict;
    const four = compared(times(4, [0, 0, 0, 0]), times(4, [1, 1, 1, 1])).verdict;
    expect(four).toEqual(one);
    expect(four).toMatchObject({ words: 'undecided: needs about 2 more tasks', moreTasks: 2 });
  });
});

describe('missing rewards', () => {
  const fresh = [...times(24, 1), ...times(4, [undefined])];

  it('bound the mean', () => {
    const rewards = [...times(17, 1), ...times(7, 0), ...times(4, [undefined])];
    const { mean, rated, rollouts, bounds = [] } = compared(times(28, 0), rewards).new;
    expect([mean, rated, rollouts]).toEqual([expect.closeTo(0.708, 3), 24, 28]);
    expect(bounds).toEqual([expect.closeTo(0.607, 3), expect.closeTo(0.75, 3)]);
  });

  it('count against a verdict until it holds for any value', () => {
    expect(compared(times(28, 0), fresh)).toMatchObject({ lacking: 4, verdict: { kind: 'better' } });
    const close = [...times(8, 1), ...times(14, 0), ...times(6, [undefined])];
    const base = [...times(22, 0), ...times(6, 1)];
    expect(compared(base, close).verdict.words).toBe(
      'undecided: 6 of 28 rollouts of the new run have no reward; ignoring these would decide it: --missing ignore',
    );
    const ignoring = compared(base, close, { missing: 'ignore' });
    expect(ignoring.verdict).toMatchObject({
      kind: 'better',
      words: 'the new run is better, ignoring 6 rollouts without a reward',
    });
    expect(ignoring.gate(0).words).toMatch(/Ignoring 6 rollouts without a reward\.$/);
    expect(compared(base, times(28, 1), { missing: 'ignore' }).verdict.words).toBe('the new run is better');
  });

  it('are part of a task that has others', () => {
    const { interval } = compared(times(6, 0), times(6, [1, 1, 1, undefined]));
    expect(interval).toEqual({ ...compared(times(6, 0), times(6, [1, 1, 1, 0])).interval, high: 1 });
  });

  it('are named instead of tasks that could not make up for them', () => {
    const { verdict } = compared(times(6, 0), [...times(4, 1), ...times(2, [undefined])]);
    expect(verdict.words).toBe('undecided: 2 of 6 rollouts of the new run have no reward');
    const both = compared([[undefined], 0, 0, 0], [1, 1, 1, [undefined]]).verdict.words;
    expect(both).toBe(
      'undecided: 1 of 4 rollouts of the base run has no reward and 1 of 4 rollouts of the new run has no reward',
    );
  });

  it('include those of a task that only one run has', () => {
    const { lacking, pairs } = compared([1, 1], [1, []]);
    expect([lacking, pairs]).toEqual([1, 1]);
  });

  it('include unlisted rollouts, spread evenly over tasks', () => {
    const unlisted = compared(times(6, [0, 0]), [...times(5, [1, 1]), [1]], { total: 12, samplesPerTask: 2 });
    expect(unlisted.interval).toEqual(compared(times(6, [0, 0]), [...times(5, [1, 1]), [1, undefined]]).interval);
    expect(unlisted).toMatchObject({ lacking: 0, tasks: 6, new: { rated: 11, rollouts: 12 } });
    // The base has none of two more tasks.
    const more = compared(times(6, 0), times(6, 1), { total: 8, samplesPerTask: 1 });
    expect(more).toMatchObject({ tasks: 6, lacking: 0, new: { allTasks: 8, bounds: [0.75, 1] } });
    expect(more.interval).toEqual(compared(times(6, 0), times(6, 1)).interval);
  });

  it('belong to the same tasks if both runs lack equally many', () => {
    const some = [1, 0.5].map(reward => run(times(27, reward), { total: 40, samplesPerTask: 1 }));
    const both = summariseComparison(...(some as [RunTasks, RunTasks]));
    expect(both).toMatchObject({ lacking: 13, tasks: 40, unsure: 13 });
    const named = [1, 0.5].map(reward => run([...times(27, reward), ...times(13, [undefined])], { total: 40 }));
    const [base, fresh] = named as [RunTasks, RunTasks];
    expect(both.interval).toEqual(summariseComparison(base, fresh, comparisonDefaults).interval);
  });

  it('may belong to any task if the service does not report how many rollouts each has', () => {
    for (const [rewards, total, worst] of [
      [[[1, 1], [1], [1]], 5, [0.5, 1, 1]],
      // The total would fit two rollouts of each task. All three may belong to one task, or each to a different one.
      [times(3, 1), 6, [0.25, 0.5, 0.5]],
    ] as const) {
      const { interval, new: fresh } = compared([0, 0, 0], rewards, { total });
      expect(interval?.low).toBe(compared([0, 0, 0], worst).interval?.low);
      expect(fresh).toMatchObject({ tasks: 3, allTasks: undefined, rollouts: total });
    }
  });

  it('have no limit beyond what some distribution over the tasks gives', () => {
    const random = new Random('spread');
    const ways = (tasks: readonly (readonly number[])[], loose: number): (readonly (readonly number[])[])[] =>
      loose === 0
        ? [tasks]
        : tasks.flatMap((_, at) =>
            ways(
              tasks.map((each, index) => (index === at ? [...each, 0] : each)),
              loose - 1,
            ),
          );
    for (let round = 0; round < 60; round++) {
      const tasks = Array.from({ length: random.between(2, 4) }, () =>
        Array.from({ length: random.between(1, 3) }, () => random.pick([0, 0.5, 1])),
      );
      const [base, loose] = [tasks.map(() => random.pick([0, 0.25, 1])), random.between(1, 3)];
      const { interval } = compared(base, tasks, { total: tasks.flat().length + loose });
      const limits = ways(tasks, loose).map(way => compared(base, way).interval?.low ?? 1);
      expect(interval?.low).toBeLessThanOrEqual(Math.min(...limits) + 1e-7);
    }
  });

  it('affect no more tasks than there can be rollouts', () => {
    const few = compared(times(28, 0), times(6, 1), { end: 'running', total: 10, samplesPerTask: 1 });
    expect(few.interval).toEqual(compared(times(10, 0), [...times(6, 1), ...times(4, [undefined])]).interval);
    expect(few).toMatchObject({ lacking: 4, tasks: 10, unsure: 4 });
  });

  it('keep the interval valid for a run that has fewer tasks than the other', () => {
    // The attack: the base has 50 tasks more, and the new run lacks one of its 100 rollouts.
    const [base, fresh] = [[...times(99, 0.2), ...times(51, 1)], times(99, 0.8)];
    for (const samplesPerTask of [1, undefined]) {
      const { interval, gate, ...summary } = compared(base, fresh, { total: 100, samplesPerTask });
      expect(interval?.low).toBeGreaterThan(0.5);
      expect(interval?.high).toBeGreaterThan(0.6);
      expect(gate(0.5).outcome).toBe('passed');
      expect(summary).toMatchObject({ lacking: 1, tasks: 100, unsure: 1 });
    }
    // The mirrored attack: tasks that only the base has do not make a loss smaller.
    const [all, lower] = [[...times(1_000, 0.5), ...times(500, 0)], times(999, 0.2)];
    const lost = compared(all, lower, { total: 1_000, samplesPerTask: 1 });
    expect([lost.gate(-0.27).outcome, lost.verdict.kind]).toEqual(['failed', 'worse']);
    // Each task of it is listed.
    const whole = compared(times(150, [0, 0]), [...times(99, [1, 1]), [1]], { total: 200, samplesPerTask: 2 });
    expect(whole).toMatchObject({ lacking: 0, tasks: 100, unsure: 0 });
  });

  it('are not mentioned if the service does not report how many there are', () => {
    for (const [end, words] of [
      ['running', 'is still running'],
      ['stopped', 'stopped early'],
    ] as const) {
      const { interval, verdict, gate } = compared(times(28, 0), times(28, 1), { end });
      expect(interval).toBeUndefined();
      const reason = `the new run ${words}, and the service does not report how many rewards are missing`;
      expect(verdict.words).toBe(`undecided: ${reason}`);
      expect(gate(-1)).toEqual({
        outcome: 'undecided',
        words: `Undecided whether the difference is at least -1.00: ${reason}.`,
      });
      // Three rollouts of each of five tasks, and one more of any task.
      expect(compared(times(5, 0), times(5, [1, 1, 1]), { end, total: 16 }).interval?.low).toBe(
        compared(times(5, 0), [...times(4, 1), 0.75]).interval?.low,
      );
      expect(compared(times(28, 0), times(28, 1), { end, total: 20 }).interval).toBeUndefined();
      expect(compared(times(2, 0), [1, [undefined]], { end }).new.bounds).toBeUndefined();
    }
  });

  it('are ignored on request: the result is that of the present rewards', () => {
    const stopped = compared(times(28, 0), times(28, 1), { end: 'stopped', missing: 'ignore' });
    expect([stopped.verdict.kind, stopped.interval === undefined]).toEqual(['better', false]);
    expect(compared(times(28, 0), times(28, 1), { end: 'stopped' }).interval).toBeUndefined();
  });

  it('are none, on a condition, if the service reports neither the end of a run nor its rollouts', () => {
    const { verdict, gate } = compared(times(28, 0), times(28, 1), { end: 'unreported' });
    const endUnreported = 'the service does not report that both runs have ended';
    expect(verdict).toEqual({
      kind: 'undecided',
      words: `undecided: ${endUnreported}; if they have and all rollouts are listed, the new run is better`,
    });
    expect(gate(0)).toEqual({
      outcome: 'undecided',
      words: `Undecided whether the difference is at least 0: ${endUnreported}. To treat the listed rewards as complete, use --ended.`,
    });
    const few = compared([0.5, 0.5], [0.5, 0.5], { end: 'unreported' });
    expect(few.verdict.words).toMatch(
      `undecided: ${endUnreported}; if they have and all rollouts are listed, still undecided: needs about `,
    );
    expect(few.gate(0).words).toMatch(/ and \+0\.842\. The service does not report that both runs have ended\.$/);
    const ended = compared(times(28, 0), times(28, 1), { end: 'unreported', ended: true });
    expect([ended.verdict.words, ended.gate(0).outcome]).toEqual(['the new run is better', 'passed']);
    expect(compared(times(28, 0), times(28, 1), { end: 'unreported', total: 28 }).verdict.words).toBe(
      'the new run is better',
    );
    // Ten tasks that only the base has are not left out.
    expect(
      compared(times(28, 0.5), [...times(18, 1), ...times(10, [])], { end: 'unreported', ended: true }).gate(0).outcome,
    ).toBe('undecided');
  });
});

describe('a complete run of an unknown number of rollouts (A2)', () => {
  const whole = { total: 48 };
  const of = (
    base: RunTasks,
    fresh: RunTasks,
    options: Partial<typeof comparisonDefaults> = {},
  ): ReturnType<typeof summariseComparison> => summariseComparison(base, fresh, { ...comparisonDefaults, ...options });
  const half = times(12, [0, 0, 1, 1]);
  const unknown = 'the service does not report how many rollouts the new run has';

  it('lacks at least as many rollouts as its tasks have in the other run', () => {
    // The attack: three of four rollouts of each task crashed, and are not listed.
    const { verdict, gate, interval, new: fresh } = of(run(half, whole), run(times(12, 1)));
    expect(verdict.words).toBe(
      'undecided: the new run lists 12 rollouts, 36 fewer than with 4 per task as in the other run, which could reverse it',
    );
    const clear = of(run(times(12, [0, 0, 0, 0]), whole), run(times(12, [1, 1, 1])));
    expect(clear.verdict.words).toBe(
      `undecided: ${unknown}; if no task has more than 4 rollouts, the new run is better`,
    );
    expect(interval).toEqual(
      of(run(half, whole), run(times(12, [1, undefined, undefined, undefined]), whole)).interval,
    );
    expect(fresh).toMatchObject({ rated: 12, rollouts: 12, unlistedRollouts: 36, bounds: [0.25, 1] });
    expect(gate(0)).toMatchObject({
      outcome: 'undecided',
      words: expect.stringMatching(
        /The new run lists 12 rollouts, 36 fewer than with 4 per task as in the other run\. Ignoring these would decide it: --missing ignore\. The service does not report how many/,
      ),
    });
    // Even if the user says that these are all: the runs then differ by design, which only --missing ignore accepts.
    expect(of(run(half, whole), run(times(12, 1)), { ended: true }).gate(0).outcome).toBe('undecided');
    const ignoring = of(run(half, whole), run(times(12, 1)), { missing: 'ignore' });
    expect([ignoring.gate(0).outcome, ignoring.verdict.words]).toEqual([
      'passed',
      'the new run is better, ignoring at least 36 rollouts that the service does not list',
    ]);
  });

  it('says which rollouts a gate ignores, even if the listed ones count as all', () => {
    const { outcome, words } = of(run(half, whole), run(times(12, 1)), { ended: true, missing: 'ignore' }).gate(0);
    expect(outcome).toBe('passed');
    expect(words).toMatch(/ignoring 36 rollouts that the service does not list/i);
  });

  it('lacks at least as many rollouts as its other tasks have, or its options say', () => {
    const uneven = [...times(11, 1), [1, 1, 1, 1]];
    const alone = of(run(times(12, 0), { total: 12 }), run(uneven), { ended: true });
    expect(alone.new).toMatchObject({ rollouts: 15, unlistedRollouts: 33, each: 4 });
    const options = { samplesPerTask: 4 };
    const known = of(run(times(12, 0), { total: 12 }), run(times(12, 1), options), { ended: true });
    expect(known.new).toMatchObject({ rollouts: 12, unlistedRollouts: 36, each: 4 });
    // The base has four for each task, although it lists three.
    const three = of(run([[0, 0, 0, 0], ...times(11, [0, 0, 0])], whole), run(times(12, [1, 1, 1])), { ended: true });
    expect(three.new.unlistedRollouts).toBe(12);
    // Its own options count more than the other run.
    const one = of(run(half, whole), run(times(12, 1), { samplesPerTask: 1 }), { ended: true });
    expect([one.new.unlistedRollouts, one.verdict.words]).toEqual([0, 'the new run is better']);
  });

  it('passes no gate without evidence, unless the user says that all rollouts are listed', () => {
    const runs = [run(times(28, 0), { total: 28 }), run(times(28, 1))] as const;
    expect(of(...runs).verdict).toEqual({
      kind: 'undecided',
      words: `undecided: ${unknown}; if all rollouts are listed, the new run is better`,
    });
    expect(of(...runs).gate(0)).toEqual({
      outcome: 'undecided',
      words: `Undecided whether the difference is at least 0: ${unknown}. To treat the listed rewards as complete, use --ended.`,
    });
    expect(of(run(times(28, 0)), run(times(28, 1))).gate(0).words).toContain('how many rollouts the runs have.');
    // It fails none either.
    expect(of(run(times(28, 1), { total: 28 }), run(times(28, 0))).gate(0)).toEqual(of(...runs).gate(0));
    const ended = of(...runs, { ended: true });
    expect([ended.verdict.words, ended.gate(0).outcome]).toEqual(['the new run is better', 'passed']);
  });

  it('counts rollouts without a task as unlisted ones', () => {
    const nameless = { least: 14, nameless: 2 };
    const with14 = of(run(half, whole), run(times(12, 1), nameless), { ended: true });
    expect(with14.new).toMatchObject({ rollouts: 14, unlistedRollouts: 34, nameless: 2 });
    expect(with14.interval).toEqual(of(run(half, whole), run(times(12, 1)), { ended: true }).interval);
    const with50 = of(run(half, whole), run(times(12, 1), { least: 50, nameless: 38 }), { ended: true });
    expect(with50.interval?.low).toBeLessThan(with14.interval?.low ?? -1);
  });
});

describe('tasks that only one run has', () => {
  it('are not missing from a run whose rollouts are complete', () => {
    const subset = compared(times(28, 0), times(6, 1), { total: 6 });
    expect(subset).toMatchObject({ pairs: 6, tasks: 6, lacking: 0, verdict: { kind: 'better' } });
    expect(subset.new).toMatchObject({ rated: 6, rollouts: 6, bounds: undefined });
    expect(subset.interval).toEqual(compared(times(6, 0), times(6, 1)).interval);
    expect(compared(times(28, 0), times(6, 1), { end: 'stopped', total: 6 }).verdict.kind).toBe('undecided');
  });

  it('do not hide that a task may have more rollouts', () => {
    // Half of the tasks of the base, with four rollouts each; the last two are lower.
    const base = [...times(50, 0.6), ...times(50, 0)];
    for (const seen of [1, 2, 3, 4]) {
      const rewards = times(50, [1, 1, 0, 0].slice(0, seen));
      const look = compared(base, rewards, { end: seen < 4 ? 'running' : 'complete', total: 200 });
      expect(look.interval?.low).toBeLessThan(0);
    }
  });
});

describe('the number of rollouts per task', () => {
  // 4 of 80 rollouts are missing, which says nothing about their tasks.
  const base = Array.from({ length: 20 }, (_, task) => [0, 1, 2, 3].map(sample => ((task + sample) % 3 === 0 ? 1 : 0)));
  const fresh = base.map((_, task) =>
    [0, 1, 2, 3].slice(0, task < 8 ? 3 : 4).map(sample => ((task + sample) % 5 === 0 ? 0 : 1)),
  );
  const look = (more: object = {}) => compared(base, fresh, { total: 80, ...more });

  it('is named if it would decide', () => {
    const { verdict, gate } = look();
    expect(verdict.words).toBe(
      'undecided: 8 of 80 rollouts of the new run have no reward; ignoring these would decide it: --missing ignore; if each task has 4 rollouts, compare --samples-per-task 4 decides it',
    );
    expect(gate(0).words).toContain('If each task has 4 rollouts, compare --samples-per-task 4 decides it.');
    expect(gate(0.9).words).not.toContain('samples-per-task');
    // Nor where it cannot be true.
    expect(look({ total: 79 }).verdict.words).not.toContain('samples-per-task');
  });

  it('is marked as given by the user, even if it does not fit', () => {
    const given = look({ samplesPerTask: 4, isEachGiven: true });
    expect(given.verdict.words).toBe('the new run is better');
    expect(given.interval).toEqual(look({ samplesPerTask: 4 }).interval);
    const caution = 'the new run is assumed to have 4 rollouts per task (--samples-per-task 4)';
    expect([given.caution, look({ samplesPerTask: 4 }).caution]).toEqual([caution, '']);
    expect(given.gate(0).words).toContain('The new run is assumed to have 4 rollouts per task');
    const other = look({ samplesPerTask: 3, isEachGiven: true });
    expect(other.caution).toBe(
      '--samples-per-task 3 does not fit the rollouts of the new run, so missing rollouts may belong to any task',
    );
    expect(other.interval).toEqual(look().interval);
  });

  it('is unused if a task has more and the total is unknown, or the service reports another, and not mentioned if nothing is missing', () => {
    const uncounted: RunTasks = { tasks: fresh, end: 'complete', samplesPerTask: 3, isEachGiven: true };
    expect(summariseComparison({ ...uncounted, tasks: base }, uncounted).caution).toBe(
      '--samples-per-task 3 does not fit the rollouts of the new run, so it is not used',
    );
    const returned: RunTasks = { tasks: fresh, total: 80, end: 'complete', samplesPerTask: 3, unusedEach: 4 };
    expect(summariseComparison({ ...returned, tasks: base }, returned).caution).toBe(
      'the service reports 3 rollouts per task for the new run, so --samples-per-task 4 is not used',
    );
    const ignoring = { ...comparisonDefaults, missing: 'ignore' } as const;
    const given = { samplesPerTask: 4, isEachGiven: true };
    const run = (end: RunTasks['end']): RunTasks => ({ tasks: fresh, total: 80, end, ...given });
    const whole: RunTasks = { tasks: base, total: 80, end: 'complete', ...given };
    expect(summariseComparison(whole, run('complete'), ignoring).caution).toBe('');
    // Pending rewards are never ignored.
    expect(summariseComparison(whole, run('running'), ignoring).caution).toContain('is assumed to have 4 rollouts');
  });

  it('is named with that of the other run, if that is complete and different', () => {
    const given = { samplesPerTask: 5, isEachGiven: true };
    const begun = fresh.slice(0, 10);
    const run: RunTasks = { tasks: [...begun, ...begun.map(() => [])], total: 100, end: 'running', ...given };
    const whole: RunTasks = { tasks: base, total: 80, end: 'complete', ...given };
    expect(summariseComparison(whole, run).caution).toBe(
      'the new run is assumed to have 5 rollouts per task (--samples-per-task 5), although the base run has at most 4 per task',
    );
    expect(summariseComparison({ ...whole, total: 81 }, run).caution).not.toContain('though');
  });
});

describe('a running run', () => {
  const shareOf = (done: number) =>
    compared(times(40, 0.2), times(done, 1), { end: 'running', total: 40, samplesPerTask: 1 });

  it('is better once future rewards cannot change that', () => {
    expect(shareOf(10).verdict.words).toBe(
      'undecided: 30 of 40 rollouts of the new run have no reward yet; these could decide it',
    );
    expect(shareOf(30).verdict.words).toBe('the new run is better');
    expect(shareOf(30).interval).toEqual(compared(times(40, 0.2), times(30, 1)).interval);
  });

  it('is open while all rollouts of its total have a reward: there may be more to come', () => {
    const { interval, verdict, gate } = shareOf(40);
    expect(interval).toBeUndefined();
    expect(verdict.words).toBe(
      'undecided: the new run is still running, and the service does not report how many rewards are missing',
    );
    expect(gate(0).outcome).toBe('undecided');
    // A service may list all rollouts from the start.
    const pending = compared(times(40, 0.2), [...times(38, 1), ...times(2, [undefined])], {
      end: 'running',
      total: 40,
    });
    expect(pending.verdict.kind).toBe('better');
  });

  it('is treated the same if the service does not say that it is running', () => {
    const look = { end: 'unreported', total: 40, missing: 'ignore' } as const;
    const early = compared(times(40, 0.5), times(20, 1), look);
    expect(early.verdict.words).toBe(
      'undecided: 20 of 40 rollouts of the new run have no reward, which could reverse it',
    );
    expect(early.gate(0)).toMatchObject({
      outcome: 'undecided',
      words: expect.stringMatching(
        /Ignoring these would decide it, if the runs have ended: --ended --missing ignore\.$/,
      ),
    });
    expect(compared(times(20, 0.5), times(20, [1, undefined]), { ...look, missing: 'ignore' }).gate(0.1).outcome).toBe(
      'undecided',
    );
    const ended = compared(times(40, 0.5), times(20, 1), { ...look, ended: true });
    expect([ended.verdict.words, ended.gate(0).outcome]).toEqual([
      'the new run is better, ignoring 20 rollouts without a reward',
      'passed',
    ]);
  });

  it('is decided if the mean difference stays on its side whatever is missing', () => {
    const words = (base: number, fresh: number) =>
      compared(times(20, base), times(8, fresh), { total: 20, samplesPerTask: 1 }).verdict.words;
    const few =
      'undecided: 12 of 20 rollouts of the new run have no reward; ignoring these would decide it: --missing ignore';
    expect([words(0.2, 0.8), words(0.8, 0.2)]).toEqual([few, few]);
  });

  it('lists what is to come, if that is all', () => {
    const { verdict, gate } = compared(times(4, 0), times(2, 1), { end: 'running', total: 4 });
    expect(verdict.words).toBe('undecided: 2 of 4 rollouts of the new run have no reward yet');
    expect(gate(0).words).toContain('2 of 4 rollouts of the new run have no reward yet');
    const { words } = compared(times(4, 0), times(2, 1), { end: 'running', total: 4, missing: 'ignore' }).verdict;
    expect(words).toBe(verdict.words);
  });

  it('has limits that later rewards never widen', () => {
    const rewards = [1, 0, 1, 1, 0, 1, 1, 1];
    const limits = [2, 4, 6, 7].map(count => {
      const seen = [...rewards.slice(0, count).map(reward => [reward]), ...times(8 - count, [])];
      return compared(times(8, 0.5), seen, { end: 'running', total: 8 }).interval;
    });
    for (const [index, limit] of limits.slice(1).entries()) {
      expect(limit?.low).toBeGreaterThanOrEqual(limits[index]?.low ?? 1);
      expect(limit?.high).toBeLessThanOrEqual(limits[index]?.high ?? -1);
    }
  });
});

describe('rewards outside the range', () => {
  const spread = (count: number) => Array.from({ length: count }, (_, index) => 2 + (index % 7));

  it('have no interval if there are few, with the reason', () => {
    const { interval, verdict, gate } = compared(spread(28), spread(28).toReversed());
    expect(interval).toBeUndefined();
    expect(verdict.words).toBe(
      'undecided: rewards are outside 0..1; set their range with --reward-range or the setting compare.rewardRange',
    );
    expect(gate(0)).toMatchObject({ outcome: 'undecided' });
  });

  it('have none if there are many, as a reward too rare to be seen may have any size', () => {
    expect(compared(Array(300).fill(0), spread(300)).interval).toBeUndefined();
  });

  it('decide nothing, however many there are', () => {
    const { verdict, gate } = compared(Array(300).fill(0), spread(300));
    expect(verdict.words).toBe(
      'undecided: rewards are outside 0..1; set their range with --reward-range or the setting compare.rewardRange',
    );
    expect(gate(0).outcome).toBe('undecided');
  });

  it('count as the end of the range if they exceed it only by rounding', () => {
    const rounded = 0.2 + 0.4 + 0.3 + 0.1;
    expect(rounded).toBeGreaterThan(1);
    const seen = [...times(76, 1), ...times(4, 0)];
    const [over, at] = [compared(seen, times(80, rounded)), compared(seen, times(80, 1))];
    expect(over.interval).toBeDefined();
    for (const part of ['interval', 'verdict', 'base', 'new', 'wins', 'ties'] as const)
      expect(over[part]).toEqual(at[part]);
    expect(over.gate(-0.1)).toEqual(at.gate(-0.1));
    expect(compared(times(80, -1e-12), times(80, 1 + 1e-10)).interval).toEqual(
      compared(times(80, 0), times(80, 1)).interval,
    );
    // More than rounding.
    expect(compared(times(80, 0), times(80, 1 + 1e-8)).interval).toBeUndefined();
    expect(compared(times(80, 0), times(80, 10 + 1e-8), { range: [-10, 10] }).interval).toBeDefined();
  });

  it('are normal once the range is set', () => {
    expect(compared(times(28, 0), times(28, 8), { range: [0, 10] }).verdict.kind).toBe('better');
  });
});

describe('the gate', () => {
  it('passes at its limit, and fails only below', () => {
    expect(compared([1, 1], [0, 0]).gate(-1).outcome).toBe('passed');
    expect(compared([0, 0], [1, 1]).gate(1).outcome).toBe('undecided');
  });

  it('passes, fails or reports that it does not know', () => {
    const { gate } = compared(times(28, 0), times(28, 0.5));
    expect(gate(0)).toMatchObject({
      outcome: 'passed',
      words: expect.stringMatching(
        /^Passed\. The difference is between \+0\.\d+ and \+0\.\d+\. Required: at least 0\.$/,
      ),
    });
    expect(gate(0.9)).toMatchObject({
      outcome: 'failed',
      words: expect.stringMatching(/^Too low\. The difference is between/),
    });
  });

  it('answers if the difference is large enough, not which run is better', () => {
    const { gate, verdict } = compared(times(28, 0), times(28, 0.5));
    expect(verdict.kind).toBe('better');
    expect(gate(0.45)).toMatchObject({
      outcome: 'undecided',
      words: expect.stringMatching(
        /^Undecided whether the difference is at least \+0\.450: it is between \+0\.\d+ and \+0\.\d+\. About \d+ more tasks would decide the gate\.$/,
      ),
    });
    const lacking = compared(times(28, 0), [...times(20, 0.5), ...times(8, [undefined])]);
    expect(lacking.gate(0.2).words).toMatch(
      /^Undecided whether the difference is at least \+0\.200: it is .*\. 8 of 28 rollouts of the new run have no reward\. Ignoring these would decide it: --missing ignore\.$/,
    );
    expect(compared([], []).gate(0).words).toBe(
      'Undecided whether the difference is at least 0: no task has a reward in both runs.',
    );
  });
});
