/** `benchtop tasks`: lists the tasks in a run, training run or dataset. */
import { mean } from '../base/statistics.ts';
import { withoutEmpty } from '../present/column.ts';
import { sortRows } from '../present/sort.ts';
import { passAtK, passCurve, passHatK } from '../present/statistics/pass-at-k.ts';
import { passAtProblem } from '../present/statistics/tasks.ts';
import { passesOf, rolloutsOf, type TaskGroup } from '../present/task-groups.ts';
import { describeGroups, groupColumns, groupsOf, ofSteps, taskColumn, tasksByModel } from '../resources/task-groups.ts';
import { checkBenchmarks } from './compare.ts';
import { CommandError } from './exit.ts';
import type { CommandIo } from './io.ts';
import { printRecord, rowsText } from './output.ts';
import { checkSteps, codeOf, noteSteps, readRollouts } from './rollouts.ts';
import type { CommandInput } from './table/commands.ts';
import { withRollouts } from './with-rollouts.ts';

const taskFields = (group: TaskGroup) => ({
  task_id: group.task_id,
  rollouts: rolloutsOf(group),
  rewards: group.scores,
  mean: group.mean ?? null,
  passed: group.passed,
  failed: group.failed,
  not_listed: group.unlisted,
  without_reward: group.unscored,
  running: group.running,
  signal: group.kind,
  ...(!group.modelScores && passFields(group)),
  ...(group.stepScores && {
    by_step: group.stepScores.map(({ step, scores, mean }) => ({ step, mean: mean ?? null, rewards: scores })),
  }),
  ...(group.modelScores && { by_model: byModel(group.modelScores) }),
  ...(group.base && { base_mean: group.base.mean ?? null, base_rewards: group.base.scores }),
  ...(group.base?.modelScores && { base_by_model: byModel(group.base.modelScores) }),
  ...(group.base && { difference: group.difference ?? null }),
});

const byModel = (all: NonNullable<TaskGroup['modelScores']>) =>
  all.map(({ model = null, scores, mean = null, passed }) => ({
    ...{ model, mean, passed, rewards: scores, ...passFields({ scores, passed }) },
  }));

type Passed = Pick<TaskGroup, 'scores' | 'passed'>;

function passFields(rewards: Passed) {
  const passes = passesOf(rewards);
  const points = passCurve([passes]);
  const at = (of: typeof passAtK) => Object.fromEntries(points.map(({ k }) => [k, of(passes, k) ?? null]));
  return { pass_at_k: at(passAtK), pass_hat_k: at(passHatK) };
}

/** Each model's mean and passes over all tasks, if there are several models. */
function modelFields(groups: readonly Pick<TaskGroup, 'modelScores'>[]) {
  return [...tasksByModel(groups)].map(([model, own]) => {
    const scores = own.flatMap(each => each.scores);
    return {
      ...{ model: model ?? null, rewards: scores.length, mean: mean(scores) ?? null },
      pass: pointsOf(own),
    };
  });
}

type Models = ReturnType<typeof modelFields>;

const pointsOf = (groups: readonly Passed[]) =>
  passCurve(groups.filter(({ scores }) => scores.length > 0).map(passesOf)).map(({ k, tasks, any, all }) => ({
    k,
    tasks,
    pass_at_k: any,
    pass_hat_k: all,
  }));

export async function run({ args: [word = ''], flags }: CommandInput<'tasks'>, io: CommandIo): Promise<number> {
  const { steps } = flags;
  checkSteps(steps);
  return withRollouts({ word, takesFile: flags.base === undefined }, flags, io, async (context, named) => {
    const owner = await readRollouts(named, context);
    const { id, rewards } = owner;
    const rows = ofSteps(owner.rows, steps);
    const read = (base: string) => readRollouts({ word: base }, context, { among: ['runs'], prefix: `${base}: ` });
    const other = flags.base === undefined ? undefined : await read(flags.base);
    if (other) checkBenchmarks([owner, other], io);
    const tasks = groupsOf(rows, {
      run: rewards,
      range: context.compare.rewardRange,
      passAt: flags.passAt,
      base: other?.rows,
    });
    const problem = flags.passAt === undefined ? undefined : passAtProblem(flags.passAt, context.compare.rewardRange);
    // Rewards outside the range may reach it.
    if (problem !== undefined && !tasks.isOutside)
      throw new CommandError(`--pass-at takes ${problem}. Other rewards need the setting compare.rewardRange.`);
    const groups = sortRows(tasks.groups, row => (other ? row.difference : row.mean), false);
    const bases = groups.flatMap(({ base }) => base ?? []);
    const [models, baseModels] = [groups, bases].map(modelFields) as [Models, Models];
    const record = {
      id,
      status: rewards?.status ?? null,
      base: other?.id ?? null,
      pass_at: tasks.passAt,
      ungrouped_rollouts: tasks.nameless,
      not_listed: tasks.isUncounted ? null : tasks.unlisted,
      // The rewards of several models together are no curve of any of them.
      ...(models.length === 0 && { pass: pointsOf(groups) }),
      ...(other && baseModels.length === 0 && { base_pass: pointsOf(bases) }),
      models,
      ...(other && { base_models: baseModels }),
      tasks: groups.map(group => ({ ...taskFields(group), ...(tasks.isUncounted && { not_listed: null }) })),
    };
    await printRecord(record, id, flags, io, {
      text: () => {
        for (const words of describeGroups(tasks)) io.note(`${words}.`);
        noteSteps(rows, steps, io);
        if (groups.length === 0) return '';
        return rowsText(groups, withoutEmpty([taskColumn, ...groupColumns()], groups), 'table', io);
      },
    });
    return codeOf(owner, other);
  });
}
