/** `benchtop upload`: uploads a benchmark from a folder, or trajectories from a file. */

import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { planUpload } from '../queries/uploads/benchmark-plan.ts';
import { BenchmarkUpload, type UploadPhase } from '../queries/uploads/benchmark-upload.ts';
import type { Job, JobState } from '../queries/uploads/job.ts';
import { handledItems, TrajectoryUpload } from '../queries/uploads/trajectory-upload.ts';
import { missingSecretWords } from '../resources/benchmarks.ts';
import { describeError, ServiceError } from '../service/errors.ts';
import { errorCode, errorMessage } from '../text/errors.ts';
import { isTaken } from '../text/new-file.ts';
import { bytes, counted } from '../text/numbers.ts';
import { safeJson, sanitiseLine } from '../text/sanitise.ts';
import { awaited } from './awaited-changes.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { exitCodeOfKind } from './failure.ts';
import { resourceOrThrow, rowsNamed } from './find.ts';
import type { CommandIo } from './io.ts';
import { recordText } from './output.ts';
import { type MissingSecrets, missingSecrets } from './readiness.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

const progressEveryMs = 2_000;

const phaseWords: Partial<Record<UploadPhase, string>> = {
  waiting: 'connecting',
  reading: 'reading the folder',
  ingesting: 'ingesting',
  building: 'starting the builds',
};

/** Runs a job to its end; ctrl-c stops it, and the end of --timeout. */
async function finish(
  job: Job<JobState>,
  work: Promise<void>,
  { io, signal }: { readonly io: CommandIo; readonly signal: AbortSignal },
  words: () => string,
): Promise<void> {
  let noted = '';
  const note = (): void => {
    const now = words();
    if (now !== noted) io.note(now);
    noted = now;
  };
  const stop = (): void => job.cancel();
  signal.addEventListener('abort', stop);
  // It may have aborted while the folder or standard input was read.
  if (signal.aborted) stop();
  const timer = setInterval(note, progressEveryMs);
  try {
    await work;
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** Reports why it ended early. */
function noteEnd(phase: string, error: Error | undefined, io: CommandIo): ExitCode {
  if (phase === 'done') return exitCodes.done;
  if (phase === 'cancelled') {
    io.note('Stopped. The same command continues from here.');
    return io.signal.aborted ? exitCodes.interrupted : exitCodes.timeout;
  }
  io.note(`benchtop: ${error ? describeError(error) : 'it failed'}`);
  if (!(error instanceof ServiceError)) return exitCodes.failed;
  for (const [name, value] of Object.entries(error.context ?? {})) io.note(`  ${name}: ${safeJson(value)}`);
  return exitCodeOfKind(error.kind);
}

const none: MissingSecrets = { names: [], notes: [] };

interface BenchmarkFlags {
  readonly json: boolean;
  readonly startOver: boolean;
  readonly wait: boolean;
  /** In seconds. */
  readonly timeout: number | undefined;
}

/** A folder that was uploaded before becomes one more benchmark of its name: the service allows that. */
async function noteNamesakes(name: string, context: CommandContext, io: CommandIo): Promise<void> {
  const benchmarks = resourceOrThrow('benchmarks');
  const rows = await rowsNamed(benchmarks, name, context).catch((error: unknown) => {
    if (context.signal.aborted) throw error;
    // The upload reports what is wrong with the service.
    return [];
  });
  if (rows.length === 0) return;
  const ids = rows.map(row => benchmarks.list({}).id(row)).join(', ');
  const areNamed = rows.length === 1 ? 'is named' : 'are named';
  io.note(sanitiseLine(`${ids} ${areNamed} ${name} too: this makes another benchmark.`));
}

async function uploadBenchmark(
  folder: string,
  { json, startOver, wait, timeout }: BenchmarkFlags,
  context: CommandContext,
  io: CommandIo,
) {
  const { service, memory, signal } = context;
  const plan = await planUpload(folder).catch((error: unknown) => {
    // Nothing was sent.
    throw new CommandError(errorMessage(error));
  });
  const job = new BenchmarkUpload(folder, plan, memory);
  if (startOver) job.startOver();
  if (!job.hasStarted) await noteNamesakes(plan.name, context, io);
  await finish(
    job,
    job.run(async () => service),
    { io, signal },
    () => {
      const { phase, sent, sentFiles, plan } = job.state;
      return (
        phaseWords[phase] ??
        `${sentFiles} of ${counted(plan.files.length, 'file')}, ${bytes(sent)} of ${bytes(plan.bytes)}`
      );
    },
  );
  const { phase, benchId, notes, failedTasks, error } = job.state;
  for (const note of [...plan.notes, ...notes]) io.note(note);
  for (const { file, error: reason } of job.files) if (reason !== undefined) io.note(`${file.path}: ${reason}`);
  const code = noteEnd(phase, error, io);
  if (job.isTaken) io.note(`benchtop upload --new ${folder} makes a new benchmark of it.`);
  if (code === exitCodes.done && benchId === undefined) throw new Error('The upload has ended without an id.');
  const missing =
    benchId !== undefined && code === exitCodes.done ? await missingSecrets(benchId, { service, signal }) : none;
  for (const note of missing.notes) io.note(note);
  const noted = missing.names.map(missingSecretWords);
  const isAwaited = wait && code === exitCodes.done && benchId !== undefined;
  const ready = isAwaited
    ? await awaited({ kind: 'benchmark', id: benchId, label: plan.name }, { timeout, noted }, context, io)
    : undefined;
  if (code === exitCodes.done || json) {
    const result = {
      bench_id: benchId ?? null,
      name: plan.name,
      files: plan.files.length,
      bytes: plan.bytes,
      phase,
      failed_tasks: failedTasks,
      missing_secret_names: missing.names,
      notes,
      ...(ready && { status: ready.status ?? null }),
    };
    await io.print(json ? recordText(result) : `${benchId}\n`);
  }
  if (code !== exitCodes.done || ready?.code) return ready?.code ?? code;
  return failedTasks.length > 0 ? exitCodes.failed : code;
}

async function uploadTrajectories(
  path: string,
  dataset: string,
  { json, failures, kept }: { readonly json: boolean; readonly failures: string | undefined; readonly kept: boolean },
  { service, memory, signal }: CommandContext,
  io: CommandIo,
) {
  const job = new TrajectoryUpload(path, path, dataset, { records: kept ? memory.trajectoryUploads : undefined });
  await finish(
    job,
    job.run(async () => service),
    { io, signal },
    () => {
      const { handled, size } = job.state;
      return `${counted(handledItems(job.state.counts), 'trajectory', 'trajectories')}, ${bytes(handled)} of ${bytes(size)}`;
    },
  );
  const { phase, counts, error } = job.state;
  if (json) await io.print(recordText(job.outcomes));
  else {
    for (const { line, status, failed, message } of job.outcomes) {
      if (failed) io.note(sanitiseLine(`line ${line}: ${message ?? status}`));
    }
    if (job.outcomes.some(({ status }) => status === 'counted'))
      io.note('The service counts the trajectories and does not say which are stored, skipped or failed.');
    await io.print(`${counts.stored} stored, ${counts.skipped} skipped, ${counts.failed} failed\n`);
  }
  if (failures !== undefined && job.failures > 0) {
    io.note(`The rejected lines are in ${await job.saveFailures(failures)}`);
  }
  const code = noteEnd(phase, error, io);
  return code === exitCodes.done && counts.failed > 0 ? exitCodes.failed : code;
}

/**
 * Returns a path that can be read repeatedly at any position. Standard input, a pipe or a device is first copied to a
 * file in `folder`.
 *
 * @throws CommandError if standard input is a terminal
 */
async function seekable(path: string, folder: string, { input, signal }: CommandIo): Promise<string> {
  if (path === '-' && input.isTTY) throw new CommandError('Pipe the trajectories in: - is standard input.');
  if (path !== '-' && (await stat(path)).isFile()) return path;
  const kept = join(folder, 'trajectories.jsonl');
  await pipeline(path === '-' ? input : createReadStream(path), createWriteStream(kept, { mode: 0o600 }), { signal });
  return kept;
}

/** @throws CommandError if it cannot be read */
async function isFolder(path: string): Promise<boolean> {
  if (path === '-') return false;
  if (path === '') throw new CommandError('Give the path of a folder or a file: it was empty.');
  const facts = await stat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') throw new CommandError(`There is no file or folder ${path}.`);
    throw new CommandError(`${path} cannot be read (${errorCode(error)}).`);
  });
  return facts.isDirectory();
}

/** @throws CommandError if the file cannot be created; checked before anything is sent */
async function requireNew(path: string): Promise<void> {
  if (await isTaken(path)) throw new CommandError(`${path} exists already. Name a new file with --failures.`);
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw new CommandError(`${path} cannot be made (${errorCode(error)}). Name another file with --failures.`);
  });
}

export async function run({ args, flags }: CommandInput<'upload'>, io: CommandIo): Promise<number> {
  const [path = ''] = args;
  const isBenchmark = await isFolder(path);
  const { dataset, failures, json = false, new: startOver = false, wait = false, timeout } = flags;
  if (isBenchmark && dataset !== undefined) {
    throw new CommandError('A folder is a benchmark; --dataset is for a file of trajectories.');
  }
  if (isBenchmark) {
    await stat(join(path, 'manifest.json')).catch((error: unknown) => {
      throw new CommandError(`${path} holds no manifest.json that can be read (${errorCode(error)}).`);
    });
  }
  if (!isBenchmark && dataset === undefined) {
    throw new CommandError('A file holds trajectories: add --dataset NAME.');
  }
  if (!isBenchmark && startOver) throw new CommandError('--new is for the folder of a benchmark.');
  if (!isBenchmark && wait) throw new CommandError('--wait is for the folder of a benchmark.');
  if (failures !== undefined) await requireNew(failures);
  const work = async (context: CommandContext): Promise<ExitCode> => {
    context.service.requireWrites();
    if (dataset === undefined) return uploadBenchmark(path, { json, startOver, wait, timeout }, context, io);
    const folder = await mkdtemp(join(tmpdir(), 'benchtop-upload-')).catch((error: unknown) => {
      throw new CommandError(
        `The temporary folder ${tmpdir()} cannot be used (${errorCode(error)}). Set TMPDIR to another one.`,
      );
    });
    try {
      const file = await seekable(path, folder, io);
      return await uploadTrajectories(file, dataset, { json, failures, kept: file === path }, context, io);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  return withService(flags, io, work, 'uploaded');
}
