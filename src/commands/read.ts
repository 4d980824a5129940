/** `benchtop read`: reads a file of rollouts in any known format, without a service. */
import { mkdtempSync, rmSync, unwatchFile, watchFile } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { errorCode } from '../base/errors.ts';
import { parseWhole } from '../contract/proto-field.ts';
import { trajectory as trajectorySchema } from '../contract/trajectories.ts';
import type { RunningService } from '../local/daemon/daemon.ts';
import { readUploaded, rewardByLog } from '../local/server/uploaded-trajectory.ts';
import type { UploadFailure } from '../local/store/trajectory-uploads.ts';
import { factText } from '../present/fact-text.ts';
import { transcriptText } from '../present/transcript-lines.ts';
import { trajectoryFacts } from '../resources/trajectories.ts';
import { clean, safeJson } from '../text/sanitise.ts';
import { type FileTrajectory, Reading, trajectoriesIn } from '../uploads/foreign-files.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { emptyHeap, keepHeapSmall } from './heap.ts';
import type { CommandIo } from './io.ts';
import type { CommandInput } from './table/commands.ts';
import { Unread, withFile, withOpenFile } from './trajectory-files.ts';

type Flags = CommandInput<'read'>['flags'];

/** Columns of a transcript for a program: wide enough to leave its lines whole. */
const unwrapped = 10_000;

const refusal = ({ message }: UploadFailure): string => `Unreadable ${message}`;

/** A trajectory of a file as the service would send it, or why the service refuses it. */
function received(item: Record<string, unknown>, index: number) {
  const { termination_reason, messages, ...fields } = item;
  const steps = item['steps'] ?? (messages ? [{ messages }] : undefined);
  const read = parseWhole(trajectorySchema, {
    trajectory_id: `trajectory ${index}`,
    ...fields,
    ...(item['reward'] === undefined && { reward: rewardByLog(item) }),
    steps,
    ...(termination_reason !== undefined && { rollout: { termination_reason } }),
  });
  if (read.success && Array.isArray(steps) && steps.length > 0) return read.data;
  const refused = readUploaded(item, index);
  return 'code' in refused ? refusal(refused) : 'It cannot be read.';
}

function holdsNone({ first, count }: Unread): CommandError {
  const none = 'The file holds no trajectories';
  if (first === undefined) return new CommandError(`${none}.`);
  const more = count === 1 ? '' : ` ${count - 1} more cannot be read.`;
  return new CommandError(`${none}: ${first}${more}`, exitCodes.failed);
}

/** Prints the transcripts, or the trajectories as JSON Lines. */
async function printAll(path: string, { json }: Flags, io: CommandIo): Promise<ExitCode> {
  const reading = new Reading();
  const unread = new Unread();
  let count = 0;
  await withOpenFile(path, io, async file => {
    for await (const each of trajectoriesIn(file, reading)) {
      io.signal.throwIfAborted();
      count += 1;
      const trajectory = 'error' in each ? each.error : received(each.trajectory, count);
      if ('error' in each || typeof trajectory === 'string') unread.add(each.place, String(trajectory));
      else if (json) await io.print(`${safeJson(each.trajectory)}\n`);
      else {
        const head = factText(trajectoryFacts(trajectory), undefined);
        await io.print(`${count === 1 ? '' : '\n'}${head}\n${transcriptText(trajectory, io.columns ?? unwrapped)}`);
      }
    }
  });
  if (count === unread.count) throw holdsNone(unread);
  unread.note(io);
  for (const note of reading.notes) io.note(note);
  return unread.count + reading.unreadRewards > 0 ? exitCodes.failed : exitCodes.done;
}

const textOf = (each: FileTrajectory): string => JSON.stringify(each);

/** The part of a file that the dataset has. */
interface Stored {
  /** The number of trajectories and rewards that it lacks; a note names each. */
  readonly missing: number;
  /**
   * The last trajectory that it has: its number in the file, its JSON, and its time in epoch milliseconds. Undefined to
   * store all again.
   */
  readonly last: { readonly number: number; readonly text: string; readonly created: number } | undefined;
}

/**
 * Stores the trajectories of the file as a dataset of a folder: those after `last`, if the file still has it where it
 * was, otherwise all. Notes the missing ones.
 *
 * @throws CommandError if none can be read
 */
async function store(
  path: string,
  name: string,
  dataFolder: string,
  io: CommandIo,
  last?: Stored['last'],
): Promise<Stored> {
  const [{ fillFolder }, { newId }] = await Promise.all([
    import('../local/daemon/serve.ts'),
    import('../local/store/ids.ts'),
  ]);
  const reading = new Reading();
  const unread = new Unread();
  let count = 0;
  let stored: { readonly number: number; readonly each: FileTrajectory } | undefined;
  let created = last?.created ?? 0;
  let isAsBefore = last === undefined;
  await fillFolder(dataFolder, ({ database, trajectoryUploads }, organization) => {
    if (!last) database.run('delete from trajectories');
    /** Returns why it is not shown; undefined if it is. */
    const add = (trajectory: Record<string, unknown>): string | undefined => {
      const read = readUploaded(trajectory, 0);
      if ('code' in read) return refusal(read);
      const stored = (trace_id: string) =>
        database.transaction(() => {
          const [outcome] = trajectoryUploads.store(organization, name, [{ ...read, trace_id }]);
          if (outcome?.status !== 'uploaded') return outcome;
          // The screen sorts by this time, and would reverse the trajectories of one millisecond.
          created = Math.max(created + 1, Date.now());
          const created_at = new Date(created).toISOString();
          database.run(
            'update trajectories set created_at = ? where trajectory_id = ?',
            created_at,
            outcome.trajectory_id,
          );
          return outcome;
        });
      const outcome = stored(read.trace_id ?? newId('trace'));
      // All are shown, also equal ones and those of a group with one id.
      return outcome?.status === 'uploaded' ? undefined : stored(newId('trace'))?.failure?.message;
    };
    return withOpenFile(path, io, async file => {
      for await (const each of trajectoriesIn(file, reading)) {
        io.signal.throwIfAborted();
        count += 1;
        if (last && count === last.number) isAsBefore = textOf(each) === last.text;
        if (last && count <= last.number) continue;
        if (!isAsBefore) return;
        const why = 'error' in each ? each.error : add(each.trajectory);
        if (why === undefined) {
          stored = { number: count, each };
          continue;
        }
        unread.add(each.place, why);
      }
    });
  });
  if (!isAsBefore) return store(path, name, dataFolder, io);
  if (count === unread.count) throw holdsNone(unread);
  unread.note(io);
  for (const note of reading.notes) io.note(note);
  return {
    missing: unread.count + reading.unreadRewards,
    last: stored ? { number: stored.number, text: textOf(stored.each), created } : last,
  };
}

/** A local service in this process that has only the trajectories of a file. */
export interface ServedFile extends RunningService, Pick<Stored, 'missing'> {
  readonly folder: string;
}

/** Poll interval of the file, in milliseconds. */
const lookMs = 1_000;

/**
 * Serves a file under `name`, and follows it. The folder of the service is deleted at exit.
 *
 * @throws CommandError if none can be read
 */
export async function serveFile(path: string, name: string, io: CommandIo): Promise<ServedFile> {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-read-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const dataFolder = join(folder, 'data');
  const first = store(path, name, dataFolder, io);
  // The screen has no place for notes.
  const quiet = { ...io, note: () => undefined };
  let stored: Promise<Pick<Stored, 'last'>> = first;
  const follow = (): void => {
    stored = stored.then(({ last }) =>
      // While a program writes the file, it may be missing or incomplete.
      store(path, name, dataFolder, quiet, last).catch(() => ({ last: undefined })),
    );
  };
  // Before the file is read, so that no change is missed.
  watchFile(path, { interval: lookMs, persistent: false }, follow);
  try {
    const { missing } = await first;
    const { serve } = await import('../local/daemon/serve.ts');
    const running = await serve({ dataFolder, samples: false, signal: io.signal });
    void running.ended.then(() => unwatchFile(path, follow));
    return { ...running, folder, missing };
  } catch (error) {
    unwatchFile(path, follow);
    throw error;
  }
}

/** In bytes. Saving memory delays the start by a tenth of a second, so smaller files go without. */
const largeFile = 4 * 1024 * 1024;

/** Opens the file on screen under `name`, so that lists, groups and search work as usual. */
async function openOnScreen(path: string, name: string, { theme, mouse }: Flags, io: CommandIo): Promise<number> {
  const isLarge = (await stat(path)).size > largeFile;
  if (isLarge) keepHeapSmall();
  const served = await serveFile(path, name, io);
  if (isLarge) emptyHeap();
  const { baseUrl, apiKey, missing } = served;
  const environment = {
    // The key that the environment sets belongs to the address that it names.
    BENCHTOP_BASE_URL: baseUrl,
    BENCHTOP_API_KEY: apiKey,
    // What is written here would be deleted with the folder.
    BENCHTOP_READ_ONLY: '1',
    BENCHTOP_STATE_DIR: join(served.folder, 'state'),
    BENCHTOP_CACHE_DIR: join(served.folder, 'cache'),
  };
  const file = missing === 0 ? name : `${name}, ${missing} not read in full`;
  const sort = { column: 'created', descending: false };
  const start = { view: 'list', resource: 'trajectories', scope: { dataset: name }, sort } as const;
  const tui = await import('./tui.tsx');
  return tui.run({ baseUrl, theme, mouse }, { start, first: { environment, file } });
}

export async function run({ args: [path = ''], flags }: CommandInput<'read'>, io: CommandIo): Promise<number> {
  if (path !== '-') {
    const facts = await stat(path).catch((error: unknown) => {
      throw new CommandError(clean`${path} cannot be read (${errorCode(error)}).`);
    });
    if (facts.isDirectory()) throw new CommandError(clean`${path} is a folder: name a file.`);
  }
  const isOnScreen = process.stdin.isTTY && io.columns !== undefined && !flags.json && !flags.text;
  return withFile(path, io, file =>
    isOnScreen ? openOnScreen(file, basename(path), flags, io) : printAll(file, flags, io),
  );
}
