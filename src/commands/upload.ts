/** `benchtop upload`: a benchmark from a folder, or trajectories from a file. */
import { stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Fault, faultWords } from '../queries/fault.ts';
import { planUpload } from '../queries/uploads/benchmark-plan.ts';
import { BenchmarkUpload, type UploadPhase } from '../queries/uploads/benchmark-upload.ts';
import type { Job } from '../queries/uploads/job.ts';
import { TrajectoryUpload } from '../queries/uploads/trajectory-upload.ts';
import { bytes } from '../text/numbers.ts';
import { safeJson } from '../text/sanitise.ts';
import { saveFile } from '../ui/views/shared/outlets.ts';
import { CommandError, type ExitCode, exitCodes } from './failure.ts';
import { configFlags, configOptions } from './flags.ts';
import { type CommandIo, processIo } from './io.ts';
import { recordText } from './output.ts';
import { type CommandContext, withService } from './with-service.ts';

export const help = `benchtop upload FOLDER [options]
benchtop upload FILE --dataset NAME [options]

  A folder with a manifest.json becomes a benchmark: its files are sent, it is ingested, and the build of its images
  begins; benchtop watch ID waits for that. A file holds trajectories, one JSON object a line, or an array of them.
  After a failure the same command goes on where it stopped.

  --dataset NAME        where the trajectories go
  --failures FILE       a new file for the lines that were not taken
  --json                what became of it as JSON
`;

/** Progress is told this often. */
const tellMs = 2_000;

const phaseWords: Partial<Record<UploadPhase, string>> = { ingesting: 'ingesting', building: 'starting the builds' };

/** Runs a job to its end; ctrl-c stops it. */
async function finish<State>(job: Job<State>, work: Promise<void>, io: CommandIo, words: () => string): Promise<void> {
  let said = '';
  const tell = (): void => {
    const now = words();
    if (now !== said) io.note(now);
    said = now;
  };
  const stop = (): void => job.cancel();
  io.signal.addEventListener('abort', stop);
  const timer = setInterval(tell, tellMs);
  try {
    await work;
  } finally {
    clearInterval(timer);
    io.signal.removeEventListener('abort', stop);
  }
}

/** Says why it ended early. */
function tellEnd(phase: string, fault: Fault | undefined, io: CommandIo): ExitCode {
  if (phase === 'done') return exitCodes.done;
  if (phase === 'cancelled') {
    io.note('Stopped. The same command goes on from here.');
    return exitCodes.interrupted;
  }
  io.note(`benchtop: ${fault ? faultWords(fault) : 'it failed'}`);
  for (const [name, value] of Object.entries(fault?.context ?? {})) io.note(`  ${name}: ${safeJson(value)}`);
  return fault?.unreachable ? exitCodes.unreachable : exitCodes.failed;
}

async function uploadBenchmark(folder: string, asJson: boolean, { service, memory }: CommandContext, io: CommandIo) {
  const plan = await planUpload(folder);
  for (const note of plan.notes) io.note(note);
  const job = new BenchmarkUpload(plan.folder, plan, memory);
  await finish(
    job,
    job.run(async () => service),
    io,
    () => {
      const { phase, sent, files } = job.state;
      const whole = files.filter(({ state }) => state === 'sent').length;
      return phaseWords[phase] ?? `${whole} of ${files.length} files, ${bytes(sent)} of ${bytes(plan.bytes)}`;
    },
  );
  const { phase, benchId, files, fault } = job.state;
  for (const { file, fault: reason } of files) if (reason !== undefined) io.note(`${file.path}: ${reason}`);
  const code = tellEnd(phase, fault, io);
  if (code === exitCodes.done && benchId === undefined) throw new Error('The upload has ended without an id.');
  if (code === exitCodes.done || asJson) {
    const result = { bench_id: benchId ?? null, name: plan.name, files: files.length, bytes: plan.bytes, phase };
    await io.print(asJson ? recordText(result) : `${benchId}\n`);
  }
  return code;
}

async function uploadTrajectories(
  path: string,
  dataset: string,
  { json, failures }: { readonly json: boolean; readonly failures: string | undefined },
  { service }: CommandContext,
  io: CommandIo,
) {
  const job = new TrajectoryUpload(path, path, dataset);
  await finish(
    job,
    job.run(async () => service),
    io,
    () => `${job.state.outcomes.length} of ${job.state.total}`,
  );
  const { phase, outcomes, fault } = job.state;
  const of = (status: string): typeof outcomes => outcomes.filter(each => each.status === status);
  const failed = of('failed');
  if (json) await io.print(recordText(outcomes));
  else {
    for (const { line, message } of failed) io.note(`line ${line}: ${message ?? 'not taken'}`);
    await io.print(`${of('uploaded').length} stored, ${of('skipped').length} skipped, ${failed.length} failed\n`);
  }
  if (failures !== undefined && failed.length > 0) {
    const path = saveFile({ name: failures, text: job.failedLines() });
    io.note(`The lines that were not taken are in ${path}`);
  }
  const code = tellEnd(phase, fault, io);
  return code === exitCodes.done && failed.length > 0 ? exitCodes.failed : code;
}

export async function run(args: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      ...configOptions,
      dataset: { type: 'string' },
      failures: { type: 'string' },
      json: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new CommandError(`Say what to upload, once.\n\n${help}`);
  const facts = await stat(path).catch((error: unknown) => {
    throw new CommandError(`It cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  const { dataset, failures, json = false } = values;
  if (facts.isDirectory() && dataset !== undefined) {
    throw new CommandError('A folder is a benchmark; --dataset is for a file of trajectories.');
  }
  if (!facts.isDirectory() && dataset === undefined) {
    throw new CommandError('A file holds trajectories: say --dataset NAME.');
  }
  return withService(configFlags(values), io, async context => {
    context.service.requireWrites();
    if (dataset === undefined) return uploadBenchmark(path, json, context, io);
    return uploadTrajectories(path, dataset, { json, failures }, context, io);
  });
}
