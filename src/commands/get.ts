/** `benchtop get`: prints everything about one resource. */
import { declaresField } from '../contract/fields.ts';
import { hasEnded } from '../contract/status.ts';
import type { Fact } from '../present/fact.ts';
import { factText } from '../present/fact-text.ts';
import { resourceOfId, resources } from '../resources/catalogue.ts';
import { isFoundByLabel, isReadAlone, type Resource } from '../resources/define.ts';
import { lookAt } from '../resources/watch.ts';
import { counted, reward } from '../text/numbers.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type Found, findAmong, findCheckpoint, isCheckpointId, resourceOrThrow, searchCheckpoint } from './find.ts';
import type { CommandIo } from './io.ts';
import { rowSchema } from './list.ts';
import { checkRecordFlags, noteUnreadable, printRecord, printsRecord } from './output.ts';
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
  const label = watch.recordsProgress ? 'trainer reward' : hasEnded(seen.status) ? 'mean' : 'mean so far';
  const without = withoutReward(seen);
  return [
    { label: 'progress', value: progressWords(seen) },
    { label, value: seen.mean === undefined || hasMean ? undefined : reward(seen.mean) },
    { label: 'no reward', value: without > 0 ? counted(without, 'rollout') : undefined },
    { label: 'held-out reward', value: seen.heldOut },
  ];
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
    if (printsRecord(flags)) {
      const schema = flags.field === undefined ? undefined : await rowSchema(resource, context);
      await printRecord(row, id, flags, io, { mayLack: names => schema !== undefined && declaresField(schema, names) });
      noteUnreadable(row, io);
      return exitCodes.done;
    }
    const whole = (await resource.wholeFacts?.(row, context)) ?? { facts: resource.facts(row) };
    noteUnreadable(whole.answer, io);
    const progress = await progressFacts(resource, row, whole.hasMean ?? false, context);
    await io.print(factText([...whole.facts, ...progress], io.columns));
    const text = await resource.text?.(row, io.columns ?? defaultWidth);
    if (text !== undefined) await io.print(`\n${text}`);
    return exitCodes.done;
  });
}
