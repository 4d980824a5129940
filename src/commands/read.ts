/** `benchtop read`: reads a file of rollouts in any known format, without a service. */
import { mkdtempSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { errorCode } from '../base/errors.ts';
import { parseWhole } from '../contract/proto-field.ts';
import { trajectory as trajectorySchema } from '../contract/trajectories.ts';
import { rewardByLog } from '../local/server/uploaded-trajectory.ts';
import { factText } from '../present/fact-text.ts';
import { transcriptTextParts } from '../present/transcript-lines.ts';
import { trajectoryFacts } from '../resources/trajectories.ts';
import { jsonFileParts } from '../text/export.ts';
import { clean } from '../text/sanitise.ts';
import { Reading, trajectoriesIn } from '../uploads/foreign-files.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { type FileReading, FollowedFile, storable } from './followed-file.ts';
import { emptyHeap, keepHeapSmall } from './heap.ts';
import type { CommandIo } from './io.ts';
import type { CommandInput } from './table/commands.ts';
import { FileProblems, withFile, withOpenFile } from './trajectory-files.ts';

type Flags = CommandInput<'read'>['flags'];

/** The width of a transcript for a program: wide enough that no line wraps. */
const unwrappedWidth = 10_000;

/** A trajectory from a file, as the service would send it, or why the service would refuse it. */
function receiveItem(item: Record<string, unknown>, place: string) {
  const { termination_reason, messages, ...fields } = item;
  const steps = item['steps'] ?? (messages ? [{ messages }] : []);
  const read = parseWhole(trajectorySchema, {
    trajectory_id: place,
    ...fields,
    ...(item['reward'] === undefined && { reward: rewardByLog(item) }),
    steps,
    ...(termination_reason !== undefined && { rollout: { termination_reason } }),
  });
  if (read.success && Array.isArray(steps) && (steps.length > 0 || read.data.error != null)) return read.data;
  const refused = storable(item);
  return typeof refused === 'string' ? refused : 'It cannot be read.';
}

/** Prints the transcripts, or the trajectories as JSON Lines. */
async function printAll(
  path: string,
  { json, score }: Flags,
  io: CommandIo,
  cut: string | undefined,
): Promise<ExitCode> {
  const reading = new Reading(score);
  const unread = new FileProblems();
  let count = 0;
  await withOpenFile(path, io, async file => {
    for await (const each of trajectoriesIn(file, reading)) {
      io.signal.throwIfAborted();
      count += 1;
      const { place, value } = each;
      const trajectory = value ? receiveItem(value, place) : each.error;
      if (typeof trajectory !== 'object') unread.add(place, trajectory ?? 'It cannot be read.');
      else if (json) for (const part of jsonFileParts(value, 0)) await io.print(part);
      else {
        const facts = trajectoryFacts(trajectory);
        // The file may have ids of its own.
        const isId = value?.['trajectory_id'] !== undefined;
        const named = facts.map(fact =>
          fact.label === 'id' && !fact.group && !isId ? { ...fact, label: 'place' } : fact,
        );
        const head = factText(named, undefined);
        await io.print(`${count === 1 ? '' : '\n'}${head}\n`);
        for (const part of transcriptTextParts(trajectory, io.columns ?? unwrappedWidth)) await io.print(part);
      }
    }
  });
  if (count === unread.count) throw unread.holdsNone();
  unread.note(io);
  for (const note of reading.notes) io.note(note);
  return cut !== undefined || unread.count + reading.missingRewards > 0 ? exitCodes.failed : exitCodes.done;
}

/**
 * Serves a file under `name` from a local service in this process. The service's folder is deleted on exit.
 *
 * @throws CommandError if no trajectory can be read
 */
export async function serveFile(path: string, name: string, io: CommandIo, reading: FileReading = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-read-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const dataFolder = join(folder, 'data');
  const file = new FollowedFile(path, name, dataFolder, io, reading);
  await file.open();
  try {
    const { serve } = await import('../local/daemon/serve.ts');
    const running = await serve({ dataFolder, samples: false, signal: io.signal });
    void running.ended.then(() => file.close());
    const stop = async (): Promise<void> => {
      await running.stop();
      remove();
      process.off('exit', remove);
    };
    const environment = {
      // A key from the environment would belong to another address.
      BENCHTOP_BASE_URL: running.baseUrl,
      BENCHTOP_API_KEY: running.apiKey,
      // Anything written here would be deleted with the folder.
      BENCHTOP_READ_ONLY: '1',
      BENCHTOP_STATE_DIR: join(folder, 'state'),
      BENCHTOP_CACHE_DIR: join(folder, 'cache'),
    };
    return { ...running, stop, folder, environment, file };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** In bytes. Saving memory delays startup by a tenth of a second, so smaller files skip it. */
const largeFile = 4 * 1024 * 1024;

/** Opens the file on screen under `name`, so that lists, groups and search work as usual. */
async function openOnScreen(
  path: string,
  name: string,
  { theme, mouse, score }: Flags,
  io: CommandIo,
  cut: string | undefined,
): Promise<number> {
  const isLarge = (await stat(path)).size > largeFile;
  if (isLarge) keepHeapSmall();
  const served = await serveFile(path, name, io, { cut, score });
  if (isLarge) emptyHeap();
  const { baseUrl, environment, file } = served;
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
  const isOnScreen = process.stdin.isTTY && io.columns !== undefined && !flags.json && !flags.text && !io.lines;
  let cut: string | undefined;
  return withFile(
    path,
    io,
    file => (isOnScreen ? openOnScreen(file, basename(path), flags, io, cut) : printAll(file, flags, io, cut)),
    why => {
      cut = why;
      io.note(why);
    },
  );
}
