/** `benchtop get`: prints everything about one resource. */

import * as z from 'zod/mini';
import { isRecord, own } from '../base/own-property.ts';
import { declaresField } from '../contract/fields.ts';
import { hasEnded } from '../contract/status.ts';
import { type Fact, withValue } from '../present/fact.ts';
import { factLines, factText } from '../present/fact-text.ts';
import { describeMean } from '../present/mean.ts';
import { messageNotes, noteFacts } from '../present/notes.ts';
import { doneWith } from '../queries/evaluations.ts';
import { readingOnce } from '../queries/query-context.ts';
import { resources } from '../resources/catalogue.ts';
import { isReadAlone, type Resource } from '../resources/define.ts';
import { type CurrentState, lookAt } from '../resources/look.ts';
import { failedAmong, withoutReward } from '../resources/run-outcome.ts';
import type { Watching } from '../resources/watch-reads.ts';
import { type Note, savedNotes, takesNotes } from '../store/notes.ts';
import { counted } from '../text/numbers.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type Found, resourceOrThrow } from './find.ts';
import { findOrCheckpoint, recordedCheckpoint } from './find-checkpoint.ts';
import { formatProgress } from './followed-state.ts';
import type { CommandIo } from './io.ts';
import { rowSchema } from './list.ts';
import { noteUnreadable, printRecord, printsRecord, type RecordFlags } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

/** Line width for a trajectory that does not go to a terminal. */
const defaultWidth = 100;

/** Everything known about a row: as facts for people, as a record for programs. */
interface Known {
  readonly facts: readonly Fact[];
  readonly record: object;
}

/** Reads the values that the record leaves out. */
async function knownOf(resource: Resource, row: object, context: CommandContext): Promise<Known> {
  const { io } = context;
  const { kind, list, watch } = resource;
  const id = list({}).id(row);
  const look = kind === undefined || !watch?.details ? undefined : await lookAt({ kind, id, label: id }, context);
  // Old rows have no status, but their progress may have one.
  const known = look?.status === undefined || hasValue(row, 'status') ? row : { ...row, status: look.status };
  const whole = (await resource.wholeFacts?.(known, context)) ?? { facts: resource.facts(known) };
  noteUnreadable(whole.answer, io);
  if (whole.unread !== undefined) io.note(whole.unread);
  const record = { ...known, ...whole.fields };
  if (!look || !watch) return { facts: whole.facts, record };
  for (const words of look.unreadable) io.note(words);
  // The rewards were read later, when more rollouts may have finished.
  const { graded } = z.catch(withGraded, {}).parse(whole.fields);
  const seen = { ...look, done: doneWith(look.done, graded) };
  const more = withValue(progressFacts(seen, watch, whole.hasMean ?? false));
  // A mean in the progress replaces the text for a missing mean.
  const replaced = new Set(more.map(({ label }) => label));
  return {
    facts: [...whole.facts.filter(({ label }) => !replaced.has(label)), ...more],
    record: { ...record, ...progressFields(seen, watch, record) },
  };
}

const withGraded = z.object({ graded: z.optional(z.number()) });

const hasValue = (record: object, name: string): boolean => isRecord(record) && own(record, name) != null;

/** The progress under the contract's names, without fields that the record already has. */
function progressFields(seen: CurrentState, { progressNames }: Watching, record: object): object {
  if (!progressNames) return {};
  const { done, total, mean, graded, heldOutFields: held_out } = seen;
  const { done: doneName, total: totalName, mean: meanName } = progressNames;
  const fields = {
    [doneName]: done,
    [totalName]: total,
    [meanName]: mean,
    graded,
    held_out,
  };
  const isNew = ([name, value]: [string, unknown]): boolean => value !== undefined && !hasValue(record, name);
  return Object.fromEntries(Object.entries(fields).filter(isNew));
}

function progressFacts(seen: CurrentState, watch: Watching, hasMean: boolean): Fact[] {
  const label = watch.recordsProgress ? 'trainer reward' : hasEnded(seen.status) ? 'mean' : 'mean so far';
  const without = withoutReward(seen);
  const mean = hasMean ? undefined : seen.mean;
  return [
    { label: 'progress', value: formatProgress(seen) },
    { label, value: mean === undefined ? undefined : describeMean({ mean, count: seen.graded }) },
    {
      label: 'no reward',
      value: without > 0 ? `${counted(without, 'rollout')}${failedAmong(without, seen.failed)}` : undefined,
    },
    { label: 'held-out reward', value: seen.heldOut },
    { label: 'interval', value: seen.noInterval },
    { label: 'best held-out', value: seen.bestHeldOut },
  ];
}

/** Whether the field belongs to the progress or the measurements, which may be unknown. */
const mayBeUnknown = ({ watch, measures }: Resource, names: readonly string[]): boolean => {
  const { progressNames } = watch ?? {};
  const isProgress = progressNames && [...Object.values(progressNames), 'graded'].includes(names.join('.'));
  return isProgress || measures?.columnOf?.(names) !== undefined;
};

/** A text field as the list's column has it: a deployment's role may have ended. JSON is left as the service sent it. */
function inWords({ columns }: Resource, row: object, { field = '' }: RecordFlags): object {
  const column = columns.find(({ id }) => id === field);
  const isText = isRecord(row) && typeof own(row, field) === 'string';
  return column && isText ? { [field]: column.value(row) } : {};
}

const checkpoints = resourceOrThrow('checkpoints');

/** Finds a checkpoint by run and step or by id, and any other resource by id or name. */
async function findToShow(among: readonly Resource[], word: string, context: CommandContext): Promise<Found> {
  const found = among.includes(checkpoints)
    ? await recordedCheckpoint(word, context)
    : await findOrCheckpoint(among, word, context, { inFull: true, takesKind: true });
  if ('resource' in found) return found;
  const row = { ...found.row, training_run_id: found.run?.training_run_id };
  return { resource: checkpoints, id: found.id, row };
}

/** The notes on a trajectory or a run. */
const notesOf = ({ kind }: Resource, id: string, { memory }: CommandContext): readonly Note[] =>
  takesNotes(kind) ? (savedNotes(memory).get(id) ?? []) : [];

export async function run({ args, flags }: CommandInput<'get'>, io: CommandIo): Promise<number> {
  const [first = '', second] = args;
  const among = second === undefined ? resources.filter(each => each.get) : [resourceOrThrow(first)];
  const [only] = second === undefined ? [] : among;
  if (only && !isReadAlone(only)) {
    throw new CommandError(
      `${only.names[0]} cannot be read one at a time: benchtop list ${only.names[0]} --${only.needs} ID lists them.`,
    );
  }
  return withService(flags, io, async connected => {
    const context = readingOnce(connected);
    const word = second ?? first;
    const [field] = flags.field?.split('.') ?? [];
    const { resource, id, row } = await findToShow(among, word, context);
    const isOfRow = field !== undefined && (field === 'id' || hasValue(row, field));
    const known = isOfRow ? { facts: [], record: row } : await knownOf(resource, row, context);
    if (printsRecord(flags)) {
      const schema = flags.field === undefined ? undefined : await rowSchema(resource, context);
      const mayLack = (names: readonly string[]): boolean =>
        (schema !== undefined && declaresField(schema, names)) || mayBeUnknown(resource, names);
      await printRecord({ ...known.record, ...inWords(resource, row, flags) }, id, flags, io, { mayLack });
      noteUnreadable(row, io);
      return exitCodes.done;
    }
    const notes = notesOf(resource, id, context);
    const facts = [...known.facts, ...noteFacts(notes)];
    await io.print(io.lines ? factLines(facts) : factText(facts, io.columns));
    const text = await resource.text?.(row, io.columns ?? defaultWidth, messageNotes(notes));
    if (text !== undefined) await io.print('\n');
    for (const part of text ?? []) await io.print(part);
    return exitCodes.done;
  });
}
