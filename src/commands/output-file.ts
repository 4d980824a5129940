/** Writes the output of commands that take `--output`: to a new file, or to standard output. */
import { NewFileError, writeNewFile } from '../base/new-file.ts';
import { CommandError } from './exit.ts';
import type { CommandIo } from './io.ts';

/**
 * Writes text to a new file or, if the path is missing or `-`, to standard output. Returns the file's path as given.
 *
 * @throws CommandError if the file exists or cannot be written, and any error from the parts
 */
export async function writeOutput(
  output: string | undefined,
  parts: AsyncIterable<string> | Iterable<string>,
  io: CommandIo,
): Promise<string | undefined> {
  // An immediate exit would leave the unfinished file behind.
  io.stopOnSignals?.();
  if (output === undefined || output === '-') {
    for await (const part of parts) await io.print(part);
    return undefined;
  }
  await writeNewFile(output, parts).catch((error: unknown) => {
    throw error instanceof NewFileError ? new CommandError(`${error.message}. Nothing was written.`) : error;
  });
  return output;
}
