/** `benchtop notes …`: people's flags and notes, kept on this machine. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { errorMessage } from '../base/errors.ts';
import { parseDeepJson } from '../base/json-depth.ts';
import { loadConfig } from '../config/load.ts';
import { type Column, plainColumn } from '../present/column.ts';
import { transcriptOf } from '../present/transcript.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { resourceOfId, resources } from '../resources/catalogue.ts';
import { isNotOffered, ServiceError } from '../service/errors.ts';
import {
  conflictsIn,
  type MergeCounts,
  type Note,
  type NoteChange,
  noteKinds,
  noteProblem,
  parseNote,
  saysSomething,
  takesNotes,
} from '../store/notes.ts';
import type { RememberedStore } from '../store/store.ts';
import { counted } from '../text/numbers.ts';
import { clean, safeJson } from '../text/sanitise.ts';
import { type Noted, Notes } from '../workbench/notes.ts';
import { refOfFound } from './awaited-changes.ts';
import { openRemembered } from './connect.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { findAmong, isNone, isRefusedId, lookUp, nameOf, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import { printRecord, rowsText } from './output.ts';
import { writeOutput } from './output-file.ts';
import type { CommandInput } from './table/commands.ts';
import { configFlags } from './table/flags.ts';
import { type CommandContext, withService } from './with-service.ts';

/** Warns if notes may be missing. @throws CommandError if there is no file for them */
function noteLack({ notes: { lack, unwritable } }: RememberedStore, io: CommandIo): void {
  if (unwritable !== undefined) throw new CommandError(`${unwritable}.`, exitCodes.failed);
  if (lack !== undefined) io.note(`${lack}.`);
}

interface Context {
  readonly memory: RememberedStore;
  /** The exit code for a command that reads the notes: failed if some may be missing. */
  readonly read: ExitCode;
}

/** Opens the notes for `work`, without the service. @throws CommandError if there is no file for them */
async function withNotes(
  flags: { readonly profile?: string | undefined },
  io: CommandIo,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  const memory = openRemembered(loadConfig(configFlags(flags), io.environment));
  try {
    noteLack(memory, io);
    return await work({ memory, read: memory.notes.lack === undefined ? exitCodes.done : exitCodes.failed });
  } finally {
    memory.close();
  }
}

/** @throws CommandError if they cannot be read */
function allNotes(memory: RememberedStore): Note[] {
  const all = memory.notes.all();
  if (!all) throw new CommandError(`${memory.notes.lack}.`, exitCodes.failed);
  return all;
}

/** Undefined if the time is unknown. */
const timeOf = (at: number): string | undefined => (at === 0 ? undefined : new Date(at).toISOString());

const withTime = (note: Note) => ({ ...note, at: timeOf(note.at) ?? null, since: timeOf(note.since) ?? null });

const columns: readonly Column<Note>[] = [
  { id: 'label', title: 'OF', width: { min: 10, max: 40, grow: 1 }, value: note => note.label },
  { id: 'flag', title: 'FLAG', width: { min: 6, max: 24, grow: 0 }, value: note => note.flag || undefined },
  { id: 'message', title: 'MESSAGE', width: 7, align: 'right', value: note => note.message || undefined },
  plainColumn('text', 'NOTE', { min: 10, max: 200, grow: 3 }, note => note.text || undefined, { cutAt: 'end' }),
  { id: 'author', title: 'AUTHOR', width: { min: 6, max: 20, grow: 0 }, value: note => note.author },
  { id: 'at', title: 'AT', width: 24, value: note => timeOf(note.at) },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 0 }, value: note => note.id },
];

/** The notes with a flag, or all. Ignores case, as filters do. */
const notesWithFlag = (all: readonly Note[], flag: string | undefined): Note[] =>
  flag === undefined ? [...all] : all.filter(note => note.flag.toLowerCase() === flag.toLowerCase());

export async function list({ flags }: CommandInput<'notes list'>, io: CommandIo): Promise<number> {
  return withNotes(flags, io, async ({ memory, read }) => {
    const all = notesWithFlag(allNotes(memory), flags.flag).filter(saysSomething);
    if (all.length === 0) io.note(flags.flag === undefined ? 'There are no notes.' : 'No notes match.');
    const text = () => (all.length === 0 ? '' : rowsText(all, columns, 'table', io));
    await printRecord({ notes: all.map(withTime) }, 'notes', flags, io, { text });
    return read;
  });
}

const noted = resources.filter(({ kind }) => takesNotes(kind));

/**
 * What an id or a name means, as in other commands. If the service cannot be asked, an id is taken as it is.
 *
 * @throws CommandError for the id of a resource that takes no notes, and for a training run; as `findAmong` does if
 * nothing has the word
 */
async function subjectOf(word: string, context: CommandContext): Promise<Noted> {
  const { memory, service, signal, io } = context;
  // A remembered id's kind is certain; the form of an id is only a hint.
  for (const kind of noteKinds) {
    const seen = memory.seen.find(kind, word);
    if (seen) return { kind, id: word, label: seen.label ?? word };
  }
  const { kind } = resourceOfId(word) ?? {};
  if (kind !== undefined && !takesNotes(kind))
    throw new CommandError(clean`${word} is a ${kind}: notes are only for trajectories and evaluation runs.`);
  try {
    const reading = { ...context, service: service.background };
    return refOfFound(await findAmong(noted, word, reading, { use: 'write' }));
  } catch (error) {
    signal.throwIfAborted();
    const training =
      isNone(error) && (await lookUp([resourceOrThrow('training')], word, context).catch(() => undefined));
    const [found] = training ? training.found : [];
    if (found)
      throw new CommandError(`${nameOf(found)} takes no notes: they are only for trajectories and evaluation runs.`);
    if (kind === undefined || !isUnasked(error)) throw error;
    io.note(clean`It is not known whether there is a ${kind} ${word}: ${error.message}`);
    return { kind, id: word, label: word };
  }
}

/** Whether the service could not be asked. */
const isUnasked = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (isNotOffered(error) || !isRefusedId(error));

/** If the service cannot be asked, the message is taken as it is. @throws CommandError if there is no such message */
async function checkMessage({ kind, id, label }: Noted, message: number, context: CommandContext): Promise<void> {
  if (kind !== 'trajectory') throw new CommandError(clean`${label} is a ${kind}: only trajectories have messages.`);
  try {
    const trajectory = await trajectoryQuery(id).read({ ...context, service: context.service.background });
    const { length } = transcriptOf(trajectory, { showHidden: false, details: false }).messages;
    if (message <= length) return;
    throw new CommandError(clean`${label} has ${counted(length, 'message')}: there is no message ${message}.`);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isUnasked(error)) throw error;
    context.io.note(clean`It is not known whether ${label} has a message ${message}: ${error.message}`);
  }
}

export async function set({ args, flags }: CommandInput<'notes set'>, io: CommandIo): Promise<number> {
  const { flag, note, message = 0 } = flags;
  if (flag === undefined && note === undefined) throw new CommandError('Give a flag or a note: --flag or --note.');
  const change: NoteChange = {
    ...(flag !== undefined && { flag: flag.trim() }),
    ...(note !== undefined && { text: note.trim() }),
  };
  const problem = noteProblem(change);
  if (problem !== undefined) throw new CommandError(`Nothing was saved: ${problem}.`);
  if (args.some(id => id.trim() === '')) throw new CommandError('An id is empty.');
  return withService(flags, io, async context => {
    const { memory, config } = context;
    noteLack(memory, io);
    const subjects: Noted[] = [];
    const removesOnly = !Object.values(change).some(Boolean);
    for (const word of args) {
      const subject = await subjectOf(word, context);
      if (message > 0 && !removesOnly) await checkMessage(subject, message, context);
      subjects.push({ ...subject, message });
    }
    const notes = new Notes(() => memory, config.preferences.triage);
    const removed = subjects.filter(subject => {
      const { flag, text } = notes.own(subject) ?? {};
      return (change.flag === '' && flag) || (change.text === '' && text);
    });
    const unsaved = notes.say(subjects, change);
    if (unsaved !== undefined) throw new CommandError(`${unsaved}.`, exitCodes.failed);
    const what = note === undefined ? 'flag' : 'note';
    if (!removesOnly) io.note(clean`${counted(subjects.length, 'note')} by ${notes.author}`);
    else if (removed.length > 0) io.note(clean`${counted(removed.length, what)} by ${notes.author} removed`);
    else io.note(clean`There was no ${what} by ${notes.author}`);
    return exitCodes.done;
  });
}

export async function exportAll({ flags }: CommandInput<'notes export'>, io: CommandIo): Promise<number> {
  return withNotes(flags, io, async ({ memory, read }) => {
    // Includes removed notes, so that merging removes them elsewhere.
    const all = notesWithFlag(allNotes(memory), flags.flag);
    const lines = all.map(note => `${safeJson(withTime(note))}\n`);
    const output = await writeOutput(flags.output, lines, io);
    io.note(`${counted(all.length, 'note')}${output === undefined ? '' : clean` in ${output}`}`);
    return read;
  });
}

/** @throws CommandError for a line that is not a note, before anything is merged */
async function readNotes(path: string, { input }: Pick<CommandIo, 'input'>): Promise<Note[]> {
  if (path === '-' && input.isTTY) throw new CommandError('Pipe the notes in: - is standard input.');
  const notes: Note[] = [];
  let number = 0;
  try {
    for await (const line of createInterface({ input: path === '-' ? input : createReadStream(path, 'utf8') })) {
      number += 1;
      // Also removes a byte-order mark.
      const text = line.trim();
      if (text === '') continue;
      const note = parseNote(parseDeepJson(text));
      if (typeof note === 'string') {
        throw new CommandError(clean`${path}, line ${number}: ${note}. Nothing was merged.`);
      }
      notes.push(note);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(clean`${path} could not be read: ${errorMessage(error)}. Nothing was merged.`);
  }
  return notes;
}

const describeMerge = ({ added, updated, kept }: MergeCounts): string =>
  `${added} new, ${updated} newer, ${kept} unchanged`;

export async function importAll(
  { args: [path = ''], flags }: CommandInput<'notes import'>,
  io: CommandIo,
): Promise<number> {
  const notes = await readNotes(path, io);
  return withNotes(flags, io, async ({ memory, read }) => {
    const merged = memory.notes.merge(notes);
    if (!merged) throw new CommandError(`${memory.file.problem ?? 'The notes could not be saved'}.`, exitCodes.failed);
    io.note(describeMerge(merged));
    for (const { label, id, message, author } of merged.renamed) {
      const where = message > 0 ? `, message ${message}` : '';
      io.note(clean`Two notes by one name: ${label} (${id})${where}: the imported one is by ${author} here`);
    }
    const imported = new Set(notes.map(({ id }) => id));
    for (const different of conflictsIn(allNotes(memory).filter(({ id }) => imported.has(id)))) {
      const [first] = different;
      const words = different.map(({ author, flag }) => clean`${author} says ${flag}`).join(', ');
      const where = first && first.message > 0 ? `, message ${first.message}` : '';
      io.note(clean`Flagged differently: ${first?.label ?? ''} (${first?.id ?? ''})${where}: ${words}`);
    }
    return read;
  });
}
