import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cellText, fitColumns } from '../../../../src/present/column.ts';
import { comparisonDefaults } from '../../../../src/present/statistics/comparison.ts';
import { type ComparedTask, compareTasks, isChanged, lostBy, rolloutsToShow } from '../../../../src/queries/compare.ts';
import type { ReadRewards } from '../../../../src/queries/run-extent.ts';
import { comparedFacts, compareRuns, comparisonColumns } from '../../../../src/resources/comparison.ts';
import { compareManyPlace, comparePlace } from '../../../../src/resources/run-places.ts';
import { RememberedStore } from '../../../../src/store/store.ts';
import { comparisonLines } from '../../../../src/ui/views/runs/compare.tsx';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

const rewarded = (task_id: string | null, reward: number | null, trajectory_id = `traj_${task_id}`) => ({
  task_id,
  reward,
  trajectory_id,
});
const listed = (rewards: ReadRewards['rewards'], total = rewards.length): ReadRewards => ({
  rewards,
  total,
  status: 'completed',
});
const both = (base: ReadRewards['rewards'], fresh: ReadRewards['rewards']) => compareTasks(listed(base), listed(fresh));
const lines = (tasks: readonly ComparedTask[], width = 120): string[] =>
  comparisonLines(compareRuns(tasks), { base: 'untrained', new: 'trained' }, { width }, createTheme()).map(line =>
    stripVTControlCharacters(line),
  );
const cells = (task: ComparedTask | undefined) =>
  task && Object.fromEntries(comparisonColumns.map(column => [column.id, cellText(column, task)]));

it('shows the whole name of a task before the lowest rewards (out34 C5)', () => {
  const task = 'small-sums-of-two-numbers-039';
  const tasks = both([rewarded(task, 0), rewarded(task, 1)], [rewarded(task, 0), rewarded(task, 0)]);
  const shown = (room: number) => fitColumns(comparisonColumns, room, {}, tasks);
  expect(shown(76)[0]?.width).toBeGreaterThanOrEqual(task.length);
  expect(shown(76).map(({ column }) => column.id)).not.toContain('new_min');
  expect(shown(116).map(({ column }) => column.id)).toContain('new_min');
});

describe('compareTasks', () => {
  it('pairs the tasks of two runs, with the mean of several rollouts', () => {
    const tasks = both(
      [rewarded('a', 0.2), rewarded('a', 0.4), rewarded('b', 0), rewarded('c', 1), rewarded(null, 1)],
      [rewarded('a', 0.5, 'traj_new'), rewarded('b', null), rewarded('d', 1)],
    );
    expect(tasks.map(({ task_id }) => task_id)).toEqual(['a', 'b', 'c', 'd']);
    expect(tasks[0]).toMatchObject({ new: 0.5 });
    expect(tasks[0]?.base).toBeCloseTo(0.3);
    expect(tasks[0]?.difference).toBeCloseTo(0.2);
    // A missing reward is not 0.
    expect(tasks[1]).toMatchObject({ base: 0, new: undefined, difference: undefined });
    expect(tasks[2]).toMatchObject({ base: 1, new: undefined });
  });

  it('shows no difference that is only rounding', () => {
    const order = (values: readonly number[]) => values.map((value, index) => rewarded('a', value, `traj_${index}`));
    const [task] = both(order([0.1, 0.2, 0.3]), order([0.3, 0.2, 0.1]));
    expect(task?.difference).toBe(0);
    expect(cells(task)).toMatchObject({ difference: '0' });
  });

  it('counts rewards without a task and unreadable ones as missing, even if no total is known', () => {
    const tasks = Array.from({ length: 12 }, (_, index) => `t${index}`);
    const of = (reward: number, run: string) => tasks.map(task => rewarded(task, reward, `${run}_${task}`));
    const base = { ...listed(of(0, 'base')), total: undefined };
    const fresh = { rewards: of(1, 'new'), listed: 12, total: undefined };
    const nameless = tasks.map(task => rewarded(null, 0, `nameless_${task}`));
    for (const status of ['completed', undefined]) {
      const result = (run: Partial<ReadRewards>) => {
        const all = compareTasks({ ...base, status }, { ...fresh, status, ...run });
        const { verdict, gate, new: side } = compareRuns(all, { ...comparisonDefaults, ended: true });
        return [verdict.kind, gate(0.05).outcome, `${side.rated} of ${side.rollouts}`];
      };
      expect(result({})).toEqual(['better', 'passed', '12 of 12']);
      expect(result({ listed: 24 })).toEqual(['undecided', 'undecided', '12 of 24']);
      expect(result({ listed: 24, rewards: [...fresh.rewards, ...nameless] })).toEqual([
        'undecided',
        'undecided',
        '12 of 24',
      ]);
    }
  });

  it('says that rewards lack a task, not that there are none', () => {
    const tasks = Array.from({ length: 12 }, (_, index) => `t${index}`);
    const of = (reward: number) => tasks.map(task => rewarded(task, reward));
    const nameless = tasks.map(() => rewarded(null, 0));
    const words = (fresh: ReadRewards, missing: 'bound' | 'ignore' = 'bound') =>
      compareRuns(compareTasks(listed([...of(0), ...of(0)]), fresh), { ...comparisonDefaults, missing }).verdict.words;
    expect(words(listed([...of(1), ...nameless]))).toBe(
      'undecided: 12 of 24 rollouts of the new run have no readable task; ignoring these would decide it: --missing ignore; if each task has 2 rollouts, compare --samples-per-task 2 decides it',
    );
    const fewer = [...of(1), ...nameless.slice(1), rewarded(null, null), rewarded('t0', null)];
    expect(words(listed(fewer, 28))).toBe(
      'undecided: 5 of 28 rollouts of the new run have no reward and 11 have no readable task; ignoring these would decide it: --missing ignore; if each task has 2 rollouts, compare --samples-per-task 2 decides it',
    );
    // Rows that cannot be read at all, and whose tasks may be fine (out29 C2).
    expect(words({ ...listed(of(1), 24), listed: 24 })).toMatch(
      /: 12 of 24 rollouts of the new run could not be read;/,
    );
    expect(words({ ...listed([...of(1), ...nameless], 25), listed: 25 })).toMatch(
      /: 12 of 25 .* have no readable task and 1 could not be read;/,
    );
    expect(words({ ...listed(fewer, 28), listed: 26 })).toMatch(
      /: 4 of 28 rollouts of the new run have no reward, 11 have no readable task and 1 could not be read;/,
    );
    expect(words({ ...listed([], 24), listed: 24 })).toBe('undecided: the rewards of the new run could not be read');
    expect(words(listed([...of(1), ...nameless]), 'ignore')).toBe(
      'the new run is better, ignoring 12 rollouts without a reward or a readable task',
    );
  });

  it('shows the rollouts of a task, how many have no reward, and the lowest reward (R1)', () => {
    const [task] = both(
      [rewarded('a', 1), rewarded('a', 0.5)],
      [rewarded('a', 1), rewarded('a', 0), rewarded('a', null)],
    );
    expect(cells(task)).toMatchObject({ n: '2, 2/3', base_min: '0.500', new_min: '0' });
    expect(task && comparedFacts(task)).toContainEqual({
      label: 'new',
      value: '0.500 over 2 rollouts, lowest 0, 1 without a reward',
    });
  });

  const opened = (task: ComparedTask | undefined): unknown => {
    if (!task) return undefined;
    const { base, new: fresh } = rolloutsToShow(task);
    return [lostBy(task), base?.trajectory_id, fresh?.trajectory_id];
  };

  it('opens the lowest rollout of the losing run, and the highest of the other (R1)', () => {
    const base = [rewarded('a', 0.9, 'base_1'), rewarded('a', 1, 'base_2')];
    const fresh = [rewarded('a', 1, 'new_1'), rewarded('a', 0, 'new_2'), rewarded('a', null, 'new_3')];
    const [lost] = both(base, fresh);
    expect(opened(lost)).toEqual(['new', 'base_2', 'new_2']);
    const [won] = both(fresh, base);
    expect(opened(won)).toEqual(['base', 'new_2', 'base_2']);
    const [failed] = both(base, [rewarded('a', null, 'new_3')]);
    expect(opened(failed)).toEqual(['new', 'base_2', 'new_3']);
    const [only] = both(base, []);
    expect(opened(only)).toEqual(['new', 'base_2', undefined]);
    const [same] = both([rewarded('a', 0, 'base_1'), rewarded('a', 1, 'base_2')], [rewarded('a', 0.5, 'new_1')]);
    expect(opened(same)).toEqual(['new', 'base_1', 'new_1']);
  });

  it('counts a rollout that lost its reward as a change, and opens it, if the means are equal', () => {
    const base = [rewarded('a', 1, 'base_1'), rewarded('a', 1, 'base_2')];
    const [failed, kept] = [
      both(base, [rewarded('a', 1, 'new_1'), rewarded('a', null, 'new_2')])[0],
      both(base, [rewarded('a', 1, 'new_1')])[0],
    ];
    expect(opened(failed)).toEqual(['new', 'base_1', 'new_2']);
    expect([failed, kept, both(base, [])[0]].map(task => task && isChanged(task))).toEqual([true, false, true]);
  });

  it('opens one of more rollouts than a call can have arguments', () => {
    const many = Array.from({ length: 200_000 }, (_, index) =>
      rewarded('a', index === 150_000 ? 0 : 1, `new_${index}`),
    );
    const [task] = both([rewarded('a', 1, 'base_1')], many);
    expect(opened(task)).toEqual(['new', 'base_1', 'new_150000']);
  });

  it('finds the tasks of unlisted rollouts from the total of the run (R1)', () => {
    const base = listed([rewarded('a', 1), rewarded('b', 1)]);
    const fresh = listed([rewarded('a', 1)], 2);
    const [first, second] = compareTasks(base, fresh);
    expect([first?.rollouts.new.unlisted, second?.rollouts.new.unlisted]).toEqual([0, 1]);
    // Three rollouts of two tasks: whose is the third?
    const odd = compareTasks(base, listed([rewarded('a', 1)], 3));
    expect(odd).toHaveLength(3);
    expect(cells(odd[2])).toMatchObject({ task: '(not listed)', new: 'none', n: '0, 0/2' });
    expect(lines(odd)[0]).toMatch(/1\.00 over 2 tasks/);
    expect(lines(odd)[1]).toContain('1.00 over 1 task, 1 of 3 rollouts');
  });
});

describe('comparisonLines', () => {
  const run = (values: readonly (number | null)[]) => values.map((value, index) => rewarded(`t${index}`, value));
  const many = (value: number) => run(Array<number>(12).fill(value));

  it('name the means, the paired difference, its interval, the verdict, and which tasks each run won', () => {
    const said = lines(both(run([0.1, 0.2, 0.3, 0.4]), run([0.5, 0.55, 0.8, 0.4])));
    expect(said.slice(0, 2)).toEqual(['base  untrained  0.250 over 4 tasks', 'new   trained  0.563 over 4 tasks']);
    expect(said[2]).toMatch(/^diff {2}\+0\.313 {2}95% CI -0\.\d+ to \+0\.\d+$/);
    expect(said.slice(3)).toEqual([
      expect.stringMatching(/^ {6}Undecided: needs about \d+ more tasks$/),
      '      new is higher on 3, lower on 0, same on 1 of 4',
    ]);
  });

  it('are sure only if the interval leaves no doubt', () => {
    expect(lines(both(many(0.1), many(0.8)))[3]).toBe('      The new run is better');
    expect(lines(both(many(0.8), many(0.1)))[3]).toBe('      The new run is worse');
  });

  it('are not sure about one or two tasks that go from 0 to 1 (V44)', () => {
    expect(lines(both(run([0]), run([1]))).slice(2)).toEqual([
      expect.stringMatching(/^diff {2}\+1\.00 {2}95% CI -0\.9\d+ to \+1\.00$/),
      '      Undecided: needs about 5 more tasks',
      '      new is higher on 1, lower on 0, same on 0 of 1',
    ]);
    expect(lines(both(run([0, 0]), run([1, 1])))[2]).toBe('diff  +1.00  95% CI -0.684 to +1.00');
  });

  it('bound the means by missing rewards (R1)', () => {
    const said = lines(both(many(0), run([...Array<number>(10).fill(0.9), null, null])));
    expect(said[1]).toBe('new   trained  0.900 over 10 tasks, 10 of 12 rollouts; 0.750 to 0.917 with the 2 missing');
  });

  it('say if nothing can be compared', () => {
    const said = lines(both([rewarded('a', 1)], [rewarded('b', 1)]));
    expect(said.at(-1)).toBe('diff  Undecided: no task has a reward in both runs');
  });

  it('fit the width without losing a word of the result', () => {
    const said = lines(both(run([0.1, 0.5]), run([0.2, 0.9])), 30);
    for (const line of said) expect(line.length).toBeLessThan(31);
    expect(said.join(' ').replace(/ +/g, ' ')).toContain('new is higher on 2, lower on 0, same on 0 of 2');
    expect(said.at(-1)).toMatch(/^ {6}\S/);
  });
});

describe('the base of a comparison', () => {
  const memory = RememberedStore.inMemory('prod');
  const run = (eval_run_id: string, created_at?: string) =>
    ({ eval_run_id, created_at }) as Parameters<typeof comparePlace>[0];
  const baseOf = (one: ReturnType<typeof run>, other: ReturnType<typeof run>) => {
    const { base, new: fresh, isUndated } = comparePlace(one, other, memory);
    return [base.id, fresh.id, ...(isUndated ? ['undated'] : [])];
  };

  it('is the earlier run', () => {
    const [old, fresh] = [run('evr_old', '2026-01-01T02:00:00+02:00'), run('evr_new', '2026-01-01T01:00:00Z')];
    expect([baseOf(fresh, old), baseOf(old, fresh)]).toEqual(Array(2).fill(['evr_old', 'evr_new']));
  });

  it('is the lower step of one training run, whichever evaluation began first (out34 B7)', () => {
    const at = (step: number, created_at: string, training_run_id = 'trn_1') => ({
      ...run(`evr_${step}`, created_at),
      ...{ training_run_id, step },
    });
    const [late, early] = [at(60, '2026-01-01T00:00:00Z'), at(50, '2026-01-01T00:00:01Z')];
    expect([baseOf(late, early), baseOf(early, late)]).toEqual(Array(2).fill(['evr_50', 'evr_60']));
    const between = at(55, '2026-01-01T00:00:02Z');
    expect(compareManyPlace([between, late, early], memory).base).toBe('evr_50');
    expect(baseOf(late, at(50, '2026-01-01T00:00:01Z', 'trn_2'))).toEqual(['evr_60', 'evr_50']);
  });

  it('is the run selected first if it is unknown when they started', () => {
    expect(baseOf(run('evr_b'), run('evr_a'))).toEqual(['evr_b', 'evr_a', 'undated']);
    // Without a time it may be the older or the newer one.
    expect(baseOf(run('evr_b', '2026-01-01T00:00:00Z'), run('evr_a'))).toEqual(['evr_b', 'evr_a', 'undated']);
    // The first sight of a run says nothing about its start but that it was earlier.
    memory.see([{ kind: 'run', id: 'evr_c' }], 1);
    memory.see([{ kind: 'run', id: 'evr_d' }], 2);
    expect(baseOf(run('evr_d'), run('evr_c'))).toEqual(['evr_d', 'evr_c', 'undated']);
  });

  it('is the run that existed when this machine started the other', () => {
    memory.see([{ kind: 'run', id: 'evr_seen' }], 10);
    memory.see([{ kind: 'run', id: 'evr_started', isStart: true }], 20);
    memory.see([{ kind: 'run', id: 'evr_started' }], 30);
    expect(baseOf(run('evr_started'), run('evr_seen'))).toEqual(['evr_seen', 'evr_started']);
    expect(baseOf(run('evr_started'), run('evr_dated', new Date(15).toISOString()))).toEqual([
      'evr_dated',
      'evr_started',
    ]);
  });
});
