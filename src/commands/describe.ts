/** `benchtop describe`: describes a training run's curves, and its teaching signal. */
import { findingKinds } from '../present/audit.ts';
import { describeTeaching, type GroupCounts, teachingOf, teachingTurn, widenedRange } from '../present/teaching.ts';
import { type ReadStep, readSteps, stepsIn, stepsToRead } from '../queries/step-rewards.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../queries/training-curves.ts';
import { nothingFound, readAudit } from '../resources/audit.ts';
import { describeTrainingCurves } from '../resources/describe-training-curves.ts';
import { runs } from '../resources/runs.ts';
import { training } from '../resources/training.ts';
import { describeError, failsAlone, isNotOffered } from '../service/errors.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import { findAmong, isNone, lookUp } from './find.ts';
import type { CommandIo } from './io.ts';
import { noteUnreadable, printRecord, type RecordFlags } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

export async function run({ args: [word = ''], flags }: CommandInput<'describe'>, io: CommandIo): Promise<number> {
  return withService(flags, io, async context => {
    const found = findAmong([training], word, context);
    const { id, row } = await found.catch((error: unknown) => rejectOther(error, word, context));
    if (flags.audit) return printAudit(id, flags, context);
    let isPart = false;
    const unread = (what: string) => (error: unknown) => {
      context.signal.throwIfAborted();
      if (!failsAlone(error)) throw error;
      isPart = true;
      io.note(`${what} could not be read. ${describeError(error)}`);
      return undefined;
    };
    const [heldOut, trainer] = await Promise.all([
      heldOutRewardsQuery(id, true).read(context).catch(unread('The held-out rewards')),
      trainerRewardsQuery(id, true).read(context).catch(unread('The trainer rewards')),
    ]);
    for (const answer of [heldOut, trainer]) isPart = noteUnreadable(answer, io) || isPart;
    const { rewardRange } = context.compare;
    const teaching = await readTeaching(id, trainer && stepsIn(trainer), context, (error, step) =>
      unread(`Step ${step}`)(error),
    );
    const words = [...describeTrainingCurves(heldOut, trainer, rewardRange), ...teaching.words];
    const { display_name, status } = row;
    const record = { training_run_id: id, display_name, status, words, teaching: teaching.record };
    await printRecord(record, id, flags, io, { text: () => `${words.join('\n')}\n` });
    return isPart ? exitCodes.failed : exitCodes.done;
  });
}

/** @throws CommandError that names the right command if the word is an evaluation run's; otherwise the error */
async function rejectOther(error: unknown, word: string, context: CommandContext): Promise<never> {
  if (!isNone(error)) throw error;
  const { found } = await lookUp([runs], word, context).catch(() => ({ found: [] }));
  const [other] = found;
  if (!other) throw error;
  const use = `benchtop failures ${other.id} for how its rollouts ended, benchtop regrade ${other.id} --with exact to check its grader`;
  throw new CommandError(
    clean`${word} is an evaluation run, and describe takes training runs. Use ${use}.`,
    exitCodes.notFound,
  );
}

interface Teaching {
  readonly words: readonly string[];
  /** Null if the service does not list rewards by step, or the steps are unknown. */
  readonly record: {
    readonly known_steps: number;
    readonly read_steps: number;
    readonly teaches_nothing_since: number | null;
    readonly steps: readonly ({ readonly step: number; readonly groups: number } & GroupCounts)[];
  } | null;
}

async function readTeaching(
  runId: string,
  steps: Float64Array | undefined,
  context: CommandContext,
  onUnread: (error: unknown, step: number) => void,
): Promise<Teaching> {
  if (!steps) return { words: ['teaching signal: unknown without the trainer rewards'], record: null };
  let read: readonly ReadStep[];
  try {
    read = await readSteps(runId, stepsToRead(steps), context, onUnread);
  } catch (error) {
    if (!isNotOffered(error)) throw error;
    return { words: ['teaching signal: the service lists no rewards by step'], record: null };
  }
  const range = widenedRange(context.compare.rewardRange, read);
  const taught = read.map(step => teachingOf(step, range));
  return {
    words: describeTeaching(taught, steps.length),
    record: {
      known_steps: steps.length,
      read_steps: taught.length,
      teaches_nothing_since: teachingTurn(taught)?.since ?? null,
      steps: taught.map(({ counts, ...step }) => ({ ...step, ...counts })),
    },
  };
}

async function printAudit(id: string, flags: RecordFlags, context: CommandContext): Promise<number> {
  const { io } = context;
  const { findings, read, unread } = await readAudit(id, context.compare.rewardRange, context);
  for (const { what, error } of unread) io.note(clean`${what} could not be read. ${describeError(error)}`);
  const record = {
    training_run_id: id,
    read,
    findings: findings.map(({ kind, words, evidence, of }) => ({
      ...{ kind, words, rollouts: of },
      trajectory_ids: evidence.map(({ trajectory_id }) => trajectory_id),
    })),
  };
  const found = findings.flatMap(({ kind, words, evidence }) => [
    clean`${findingKinds[kind]}: ${words}`,
    clean`  to read: ${evidence
      .slice(0, 3)
      .map(({ trajectory_id }) => trajectory_id)
      .join(', ')}`,
  ]);
  const nothing = found.length === 0 ? [`${nothingFound}.`] : [];
  await printRecord(record, id, flags, io, { text: () => `${[...found, ...nothing, `(${read})`].join('\n')}\n` });
  return unread.length > 0 ? exitCodes.failed : exitCodes.done;
}
