/** `benchtop upload --dry-run`: plans the upload from just the folder or file. */
import { open } from 'node:fs/promises';
import { bytes, counted } from '../text/numbers.ts';
import { clean, sanitiseLine } from '../text/sanitise.ts';
import type { UploadPlan } from '../uploads/benchmark-plan.ts';
import { Reading, trajectoriesIn } from '../uploads/foreign-files.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { printRecord, type RecordFlags } from './output.ts';
import type { ScoreFlag } from './table/flags.ts';
import { FileProblems } from './trajectory-files.ts';

export async function printBenchmarkPlan(plan: UploadPlan, flags: RecordFlags, io: CommandIo): Promise<ExitCode> {
  const { name, taskCount, files, notes } = plan;
  const record = {
    name,
    tasks: taskCount,
    bytes: plan.bytes,
    files: files.map(({ path, size }) => ({ path, size_bytes: size })),
    notes,
  };
  const head = `${name}: ${counted(taskCount, 'task')}, ${counted(files.length, 'file')}, ${bytes(plan.bytes)}`;
  const lines = [head, ...files.map(({ path, size }) => `${path}  ${bytes(size)}`), ...notes];
  const text = (): string => lines.map(line => `${sanitiseLine(line)}\n`).join('');
  await printRecord(record, name, flags, io, { text });
  return exitCodes.done;
}

/** Prints how many trajectories a file holds, and which lines are unreadable. Exit code 2 if any are. */
export async function printTrajectoryPlan(
  path: string,
  dataset: string,
  flags: RecordFlags & ScoreFlag,
  io: CommandIo,
): Promise<ExitCode> {
  const reading = new Reading(flags.score);
  const file = await open(path);
  try {
    let readable = 0;
    const unreadable: { readonly line: number; readonly place: string; readonly message: string }[] = [];
    for await (const { line, place, error } of trajectoriesIn(file, reading, true)) {
      io.signal.throwIfAborted();
      if (error === undefined) readable += 1;
      else unreadable.push({ line, place, message: error });
    }
    if (readable + unreadable.length === 0) throw new FileProblems().holdsNone();
    const { size } = await file.stat();
    const record = { dataset, trajectories: readable, bytes: size, unreadable };
    for (const { line, place, message } of unreadable) io.note(clean`${place}: ${message}`, { line });
    for (const note of reading.notes) io.note(note);
    const text = `${counted(readable, 'trajectory', 'trajectories')} for the dataset ${dataset}, ${bytes(size)}\n`;
    await printRecord(record, dataset, flags, io, { text: () => text });
    return unreadable.length + reading.missingRewards > 0 ? exitCodes.usage : exitCodes.done;
  } finally {
    await file.close();
  }
}
