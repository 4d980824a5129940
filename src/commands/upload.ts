/** `benchtop upload`: uploads a benchmark from a folder, or trajectories from a file. */

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { errorCode, errorMessage } from '../base/errors.ts';
import { newFileProblem } from '../base/new-file.ts';
import { benchmarks, describeMissingSecret } from '../resources/benchmarks.ts';
import { type ErrorDetails, ServiceError } from '../service/errors.ts';
import { bytes, counted } from '../text/numbers.ts';
import { clean, safeJson } from '../text/sanitise.ts';
import { planUpload, type UploadPlan } from '../uploads/benchmark-plan.ts';
import { BenchmarkUpload, type UploadPhase } from '../uploads/benchmark-upload.ts';
import {
  type BatchReport,
  describeReason,
  describeReport,
  handledItems,
  otherWarnings,
  sentTimes,
  type Outcome as TrajectoryOutcome,
  totalOf,
} from '../uploads/trajectory-outcomes.ts';
import { TrajectoryUpload } from '../uploads/trajectory-upload.ts';
import { countsOfRun, describeRunCounts, sentNothing } from '../uploads/trajectory-upload-state.ts';
import type { Job, JobState } from '../workbench/jobs.ts';
import { awaitChange } from './awaited-changes.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { exitCodeAfterChange, exitCodeOf } from './failure.ts';
import { rowsNamed } from './find.ts';
import type { CommandIo } from './io.ts';
import { checkField, printRecord, printsRecord } from './output.ts';
import { type MissingSecrets, missingSecrets } from './readiness.ts';
import type { CommandInput } from './table/commands.ts';
import { FileProblems, withFile } from './trajectory-files.ts';
import { printBenchmarkPlan, printTrajectoryPlan } from './upload-plan.ts';
import { type CommandContext, withService } from './with-service.ts';

const progressEveryMs = 2_000;

const phaseLabels: Partial<Record<UploadPhase, string>> = {
  waiting: 'connecting',
  reading: 'reading the folder',
  ingesting: 'ingesting',
  building: 'starting the builds',
};

/** Runs a job until it ends, or until ctrl-c or --timeout stops it. */
async function finish(job: Job<JobState>, { service, signal, io }: CommandContext, words: () => string): Promise<void> {
  const work = job.run(async () => service);
  let noted = '';
  const note = (): void => {
    const now = words();
    if (now !== noted) io.note(now);
    noted = now;
  };
  const stop = (): void => job.cancel();
  signal.addEventListener('abort', stop);
  const unsubscribe = job.subscribe(() => job.state.phase === 'queued' && note());
  // It may have aborted while the folder or standard input was being read.
  if (signal.aborted) stop();
  const timer = setInterval(note, progressEveryMs);
  try {
    await work;
  } finally {
    clearInterval(timer);
    unsubscribe();
    signal.removeEventListener('abort', stop);
  }
}

/** Reports why an upload ended early. @param isChange whether part of it is stored, or may be */
async function noteEnd(
  { phase, error }: JobState,
  isChange: boolean,
  asJson: boolean,
  io: CommandIo,
): Promise<ExitCode> {
  if (phase === 'done') return exitCodes.done;
  if (phase === 'cancelled') {
    io.note('Stopped. Run the same command again to continue from here.');
    return io.signal.aborted ? exitCodes.interrupted : exitCodes.timeout;
  }
  const failure = error ?? new CommandError('The upload ended early.', exitCodes.failed);
  const code = isChange ? exitCodeAfterChange(failure) : exitCodeOf(failure);
  await io.fail(failure, code);
  // The JSON error already has them.
  const { context, docUrl } = failure instanceof ServiceError && !asJson ? failure : noDetails;
  for (const [name, value] of Object.entries(context ?? {})) io.note(clean`  ${name}: ${safeJson(value)}`);
  if (docUrl !== undefined) io.note(clean`  ${docUrl}`);
  return code;
}

const noDetails: ErrorDetails = {};
const none: MissingSecrets = { names: [], notes: [] };

const uploadedBenchmark = z.object({
  bench_id: z.nullable(z.string()),
  name: z.string(),
  files: z.number(),
  bytes: z.number(),
  phase: z.string(),
  failed_tasks: z.readonly(z.array(z.unknown())),
  missing_secret_names: z.readonly(z.array(z.string())),
  notes: z.readonly(z.array(z.string())),
  status: z.optional(z.nullable(z.string())),
});

const reason = {
  message: z.optional(z.string()),
  code: z.optional(z.string()),
  context: z.optional(z.record(z.string(), z.unknown())),
};

const uploadedTrajectories = z.object({
  dataset: z.string(),
  phase: z.string(),
  stored: z.number(),
  skipped: z.number(),
  failed: z.number(),
  unknown: z.number(),
  sent_before: z.number(),
  sent_before_for_another_agent: z.number(),
  sent_before_with_another_key: z.number(),
  trajectories: z.array(
    z.object({
      line: z.number(),
      place: z.string(),
      status: z.string(),
      failed: z.boolean(),
      trajectory_id: z.optional(z.string()),
      trace_id: z.optional(z.string()),
      ...reason,
    }),
  ),
  reports: z.array(
    z.object({
      kind: z.enum(['failure', 'summary', 'error']),
      first_line: z.number(),
      last_line: z.number(),
      item_index: z.optional(z.number()),
      ...reason,
      doc_url: z.optional(z.string()),
      request_id: z.optional(z.string()),
    }),
  ),
});

type Flags = CommandInput<'upload'>['flags'];

/** Notes other benchmarks with this name: the service allows them, so a folder may be uploaded twice by mistake. */
async function noteNamesakes(name: string, context: CommandContext): Promise<void> {
  const { rows } = await rowsNamed(benchmarks, name, context).catch((error: unknown) => {
    if (context.signal.aborted) throw error;
    // The upload will report the service's error.
    return { rows: [] };
  });
  if (rows.length === 0) return;
  const ids = rows.map(({ bench_id }) => bench_id).join(', ');
  const areNamed = rows.length === 1 ? 'is also named' : 'are also named';
  context.io.note(clean`${ids} ${areNamed} ${name}: this makes another benchmark.`);
}

/** @throws CommandError if the folder cannot be uploaded; nothing was sent */
function planFolder(folder: string): Promise<UploadPlan> {
  return planUpload(folder).catch((error: unknown) => {
    throw new CommandError(errorMessage(error));
  });
}

async function uploadBenchmark(folder: string, flags: Flags, context: CommandContext) {
  const { memory, io } = context;
  const plan = await planFolder(folder);
  const job = new BenchmarkUpload(folder, plan, memory);
  if (flags.new) job.startOver();
  if (!job.hasStarted) {
    if (memory.file.setAside !== undefined)
      io.note(`An upload of this folder may have begun. ${memory.file.setAside}.`);
    await noteNamesakes(plan.name, context);
  }
  let shownNotes = 0;
  /** Called before the files are sent: the user should know where they go. */
  const noteNews = (): void => {
    for (const note of job.state.notes.slice(shownNotes)) io.note(note);
    shownNotes = job.state.notes.length;
  };
  job.subscribe(noteNews);
  await finish(job, context, () => {
    const { phase, sent, sentFiles, plan } = job.state;
    const words = `${sentFiles} of ${counted(plan.files.length, 'file')}, ${bytes(sent)} of ${bytes(plan.bytes)}`;
    return phaseLabels[phase] ?? words;
  });
  noteNews();
  for (const note of plan.notes) io.note(note);
  return reportBenchmark(job, folder, flags, context);
}

/** Prints how a benchmark's upload ended, and waits for its images if asked to. */
async function reportBenchmark(job: BenchmarkUpload, folder: string, flags: Flags, context: CommandContext) {
  const { io } = context;
  const { plan, phase, benchId, notes, failedTasks } = job.state;
  for (const { file, error: reason } of job.files) if (reason !== undefined) io.note(clean`${file.path}: ${reason}`);
  const code = await noteEnd(job.state, benchId !== undefined, flags.json ?? false, io);
  // The JSON result already has it.
  if (code !== exitCodes.done && benchId !== undefined && !printsRecord(flags)) {
    io.note(clean`bench_id: ${benchId}`);
  }
  if (job.isTaken) io.note(clean`benchtop upload --new ${folder} makes a new benchmark from it.`);
  if (code === exitCodes.done && benchId === undefined) throw new Error('The upload has ended without an id.');
  const missing = benchId !== undefined && code === exitCodes.done ? await missingSecrets(benchId, context) : none;
  for (const note of missing.notes) io.note(note);
  const noted = missing.names.map(describeMissingSecret);
  const isAwaited = flags.wait && code === exitCodes.done && benchId !== undefined;
  const ready = isAwaited
    ? await awaitChange(
        { kind: 'benchmark', id: benchId, label: plan.name },
        { timeout: flags.timeout, noted },
        context,
      )
    : undefined;
  if (code === exitCodes.done || printsRecord(flags)) {
    const result: z.infer<typeof uploadedBenchmark> = {
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
    await printRecord(result, benchId ?? '', flags, io, { mayLack: () => true });
  }
  if (code !== exitCodes.done || ready?.code) return ready?.code ?? code;
  return failedTasks.length > 0 ? exitCodes.failed : code;
}

/** An outcome with the contract's field names. */
const outcomeRecord = ({
  line,
  place,
  status,
  failed,
  trajectoryId,
  traceId,
  message,
  code,
  context,
}: TrajectoryOutcome) => ({
  line,
  place,
  status,
  failed,
  trajectory_id: trajectoryId,
  trace_id: traceId,
  ...{ message, code, context },
});

const reportRecord = ({
  kind,
  lines: [first_line, last_line],
  itemIndex,
  docUrl,
  requestId,
  ...others
}: BatchReport) => ({
  ...{ kind, first_line, last_line, ...others },
  item_index: itemIndex,
  doc_url: docUrl,
  request_id: requestId,
});

/** Notes the trajectories that were not sent again, and the service's message for each trajectory. */
function noteUpload(job: TrajectoryUpload, flags: Flags, io: CommandIo): void {
  const { dataset, unrecorded } = job;
  const { phase, counts, sentBefore } = job.state;
  if (unrecorded !== undefined) {
    io.note(
      clean`This upload is not recorded, so do not upload the file into ${dataset} again, with or without --new: it would be stored twice. ${unrecorded}.`,
    );
  }
  if (sentNothing(job.state) && sentBefore) {
    io.note(
      clean`This file was sent to ${dataset} before (${sentTimes(sentBefore)}): nothing was sent, because the service may store it twice. --new sends it again.`,
    );
  } else if (sentBefore) {
    const { count } = sentBefore;
    const all = handledItems(counts) + counts.unknown;
    const what = phase === 'done' ? `${count} of ${all} trajectories` : counted(count, 'trajectory', 'trajectories');
    io.note(
      clean`${what} ${count === 1 ? 'was' : 'were'} sent to ${dataset} before (${sentTimes(sentBefore)}) and not sent again. --new sends the whole file again.`,
    );
  }
  const warnings = otherWarnings(countsOfRun(job.state).others);
  for (const words of warnings) io.note(`${words} --new sends the whole file.`);
  for (const note of job.notes) io.note(note);
  if (!flags.json) {
    const problems = new FileProblems();
    for (const outcome of job.outcomes) {
      const { place, status, failed, isReported } = outcome;
      const words = describeReason(outcome) || status;
      if (failed) problems.add(place, words);
      else if (isReported) problems.add(`${place}: ${status}`, words);
    }
    problems.note(io);
    for (const report of job.reports) io.note(describeReport(report));
    if (job.outcomes.some(({ status }) => status === 'counted'))
      io.note('The service counts the trajectories but does not say which are stored, skipped or failed.');
  }
  if (counts.unknown > 0) io.note(unknownOutcomeAdvice(counts.unknown));
}

/** @param isCopy whether the file is a temporary copy, of standard input or decompressed */
async function uploadTrajectories(
  path: string,
  dataset: string,
  isCopy: boolean,
  flags: Flags,
  context: CommandContext,
) {
  const { io } = context;
  const { failures, resendUnknown = false, score } = flags;
  const records = context.memory.trajectoryUploads;
  const job = new TrajectoryUpload(path, path, dataset, {
    records,
    isCopy,
    isNew: flags.new === true,
    resendUnknown,
    score,
  });
  const queueMessage = clean`Another benchtop is sending into ${dataset}. This one is waiting for it.`;
  await finish(job, context, () => {
    const { handled, size, phase } = job.state;
    if (phase === 'queued') return queueMessage;
    return `${counted(handledItems(job.state.counts), 'trajectory', 'trajectories')}, ${bytes(handled)} of ${bytes(size)}`;
  });
  noteUpload(job, flags, io);
  const { phase, counts, hasSent } = job.state;
  const isEmpty = !hasSent && handledItems(counts) + counts.unknown + job.reports.length === 0;
  if (phase === 'done' && isEmpty) throw new FileProblems().holdsNone();
  const own = countsOfRun(job.state);
  const text = `${describeRunCounts(job.state).join(', ')}\n`;
  const trajectories = job.outcomes.map(outcomeRecord);
  const result: z.infer<typeof uploadedTrajectories> = {
    ...{ dataset, phase, ...own.counts, sent_before: own.before },
    sent_before_for_another_agent: own.others['for another agent'] ?? 0,
    sent_before_with_another_key: own.others['with another API key'] ?? 0,
    trajectories,
    reports: job.reports.map(reportRecord),
  };
  await printRecord(result, dataset, flags, io, { text: () => text, mayLack: () => true });
  if (failures !== undefined && job.failures > 0) {
    io.note(`The rejected lines are in ${await job.saveFailures(failures)}`);
  }
  const isUnknown = counts.unknown + totalOf(own.others) > 0;
  const code = await noteEnd(job.state, hasSent || isUnknown, flags.json ?? false, io);
  if (code !== exitCodes.done) return code;
  if (counts.failed + job.missingRewards > 0 || job.hasOtherFailure) return exitCodes.failed;
  return isUnknown ? exitCodes.endUnseen : code;
}

/** Advice on trajectories with an unknown outcome. */
function unknownOutcomeAdvice(count: number): string {
  const what = `${counted(count, 'trajectory', 'trajectories')} may or may not be stored: the service did not report it`;
  return `${what}. benchtop does not send them again on its own. Check the dataset first; the same command with --resend-unknown sends them again, and may store them twice.`;
}

/** @throws CommandError if it cannot be read */
async function isFolder(path: string): Promise<boolean> {
  if (path === '-') return false;
  if (path === '') throw new CommandError('The path is empty: give a folder or a file.');
  const facts = await stat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') throw new CommandError(`There is no file or folder ${path}.`);
    throw new CommandError(`${path} cannot be read (${errorCode(error)}).`);
  });
  return facts.isDirectory();
}

/** @throws CommandError if the file cannot be created; checked before anything is sent */
function requireNew(path: string): void {
  const problem = newFileProblem(path);
  if (problem !== undefined) throw new CommandError(`${problem}. Name a new file with --failures.`);
}

export async function run({ args, flags }: CommandInput<'upload'>, io: CommandIo): Promise<number> {
  const [path = ''] = args;
  const { dataset, failures, resendUnknown, wait } = flags;
  const isBenchmark = await isFolder(path);
  checkField(flags, [isBenchmark ? uploadedBenchmark : uploadedTrajectories]);
  if (isBenchmark && dataset !== undefined) {
    throw new CommandError('A folder is a benchmark; --dataset is for a file of trajectories.');
  }
  if (isBenchmark && flags.score !== undefined) throw new CommandError('--score is for a file of trajectories.');
  if (isBenchmark && resendUnknown) throw new CommandError('--resend-unknown is for a file of trajectories.');
  if (isBenchmark) {
    await stat(join(path, 'manifest.json')).catch((error: unknown) => {
      throw new CommandError(`${path} has no readable manifest.json (${errorCode(error)}).`);
    });
  }
  if (!isBenchmark && dataset === undefined) {
    throw new CommandError('A file holds trajectories: add --dataset NAME.');
  }
  if (!isBenchmark && wait) throw new CommandError('--wait is for a benchmark folder.');
  if (failures !== undefined) requireNew(failures);
  const work = async (context: CommandContext): Promise<ExitCode> => {
    context.service.requireWrites();
    if (dataset === undefined) return uploadBenchmark(path, flags, context);
    return withFile(path, io, file => uploadTrajectories(file, dataset, file !== path, flags, context));
  };
  if (!flags.dryRun) return withService(flags, io, work, 'uploaded');
  if (dataset === undefined) return printBenchmarkPlan(await planFolder(path), flags, io);
  return withFile(path, io, file => printTrajectoryPlan(file, dataset, flags, io));
}
