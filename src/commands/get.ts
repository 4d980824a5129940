/** `benchtop get`: prints everything about one resource. */
import type { EvalRun } from '../contract/evaluations.ts';
import { mayHaveField } from '../contract/fields.ts';
import { hasEnded } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import type { Fact } from '../present/fact.ts';
import { transcriptText } from '../present/transcript-lines.ts';
import { resourceOfId, resources } from '../resources/catalogue.ts';
import { isFoundByLabel, isReadAlone, type Resource } from '../resources/define.ts';
import { outcomeOf, type RunOutcome, runFacts, summariseRewards } from '../resources/runs.ts';
import { lookAt } from '../resources/watch.ts';
import { counted, reward } from '../text/numbers.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type Found, findAmong, findCheckpoint, isCheckpointId, resourceOrThrow, searchCheckpoint } from './find.ts';
import type { CommandIo } from './io.ts';
import { rowSchema } from './list.ts';
import { checkRecordFlags, factText, noteUnreadable, printRecord } from './output.ts';
import { readinessFacts } from './readiness.ts';
import type { CommandInput } from './table/commands.ts';
import { progressWords, withoutReward } from './until-ended.ts';
import { type CommandContext, withService } from './with-service.ts';

/** Line width of a trajectory in a file. */
const defaultWidth = 100;

/** The progress of a run. */
async function progressFacts(
  { kind, list, watch }: Resource,
  row: object,
  hasMean: boolean,
  context: CommandContext,
): Promise<Fact[]> {
  if (kind === undefined || !watch?.details) return [];
  const { service, memory, signal } = context;
  const id = list({}).id(row);
  const seen = await lookAt({ kind, id, label: id }, { service, signal, memory });
  // The record of a finished run may already hold its mean.
  const known = hasMean || ('reward_mean' in row && row.reward_mean != null);
  const label = watch.recordsProgress ? 'trainer reward' : hasEnded(seen.status) ? 'mean' : 'mean so far';
  const without = withoutReward(seen);
  return [
    { label: 'progress', value: progressWords(seen) },
    { label, value: seen.mean === undefined || known ? undefined : reward(seen.mean) },
    { label: 'no reward', value: without > 0 ? counted(without, 'rollout') : undefined },
    { label: 'held-out reward', value: seen.heldOut },
  ];
}

/** The mean of a run, and of how many rewards it is; undefined if they cannot be read, or there is none. */
async function outcomeByRewards(
  row: object,
  { service, signal }: CommandContext,
  io: CommandIo,
): Promise<RunOutcome | undefined> {
  const run = row as EvalRun;
  try {
    const answer = await service.call('getTrajectoryRewards', { params: { eval_run_id: run.eval_run_id } }, { signal });
    noteUnreadable(answer, io);
    const outcome = outcomeOf(run, undefined, summariseRewards(answer.trajectory_rewards));
    return outcome.mean === undefined ? undefined : outcome;
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

/** A checkpoint is given by run and step, or by its id. */
async function findToShow(among: readonly Resource[], word: string, context: CommandContext): Promise<Found> {
  const checkpoints = resourceOrThrow('checkpoints');
  const isId = isCheckpointId(word);
  if (!isId && !word.includes('@') && !among.includes(checkpoints)) return findAmong(among, word, context);
  if (!isId) {
    const { id, row } = await findCheckpoint(word, context);
    if (row) return { resource: checkpoints, id, row };
  }
  const { row, run } = (await searchCheckpoint(word, context)).found ?? {};
  if (row) return { resource: checkpoints, id: word, row: { ...row, training_run_id: run?.training_run_id } };
  throw new CommandError(`No training run that is listed has a checkpoint ${word}.`, exitCodes.notFound);
}

export async function run({ args, flags }: CommandInput<'get'>, io: CommandIo): Promise<number> {
  const [first = '', second] = args;
  const ofId = second === undefined ? resourceOfId(first) : undefined;
  const among = ofId
    ? [ofId]
    : second === undefined
      ? resources.filter(each => each.get && isFoundByLabel(each))
      : [resourceOrThrow(first)];
  const [only] = among;
  if (only && !isReadAlone(only)) {
    throw new CommandError(
      `Single ${only.names[0]} cannot be read: benchtop list ${only.names[0]} --${only.needs} ID lists them.`,
    );
  }
  await checkRecordFlags(flags, [], io);
  return withService(flags, io, async context => {
    const { resource, id, row } = await findToShow(among, second ?? first, context);
    if (flags.json || flags.field !== undefined || flags.jq !== undefined) {
      const schema = flags.field === undefined ? undefined : await rowSchema(resource, context);
      await printRecord(row, id, flags, io, { mayLack: names => schema !== undefined && mayHaveField(schema, names) });
      noteUnreadable(row, io);
      return exitCodes.done;
    }
    const outcome = resource.kind === 'run' ? await outcomeByRewards(row, context, io) : undefined;
    const own = outcome ? runFacts(row as EvalRun, outcome) : resource.facts(row);
    const ready = resource.kind === 'benchmark' ? await readinessFacts(id, context) : [];
    const facts = [...own, ...ready, ...(await progressFacts(resource, row, outcome !== undefined, context))];
    await io.print(factText(facts, io.columns));
    if (resource.kind === 'trajectory') {
      await io.print(`\n${transcriptText(row as Trajectory, io.columns ?? defaultWidth)}`);
    }
    return exitCodes.done;
  });
}
