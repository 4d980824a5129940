/** The `--output` of commands: a new file, or standard output. */
import { NewFileError, writeNewFile } from '../base/new-file.ts';
import { CommandError } from './exit.ts';
import type { CommandIo } from './io.ts';

/**
 * Writes text to a new file; without a path, or for `-`, to standard output. Returns the path of the file as given.
 *
 * @throws CommandError if the file exists or cannot be written, and whatever the parts throw
 */
export async function writeOutput(
  output: string | undefined,
  parts: AsyncIterable<string> | Iterable<string>,
  io: CommandIo,
): Promise<string | undefined> {
  // Remove the unfinished file, which an immediate exit would leave behind.
  io.stopOnSignals?.();
  if (output === undefined || output === '-') {
    for await (const part of parts) await io.print(part);
    return undefined;
  }
  await writeNewFile(output, parts).catch((error: unknown) => {
    throw error instanceof NewFileError ? new CommandError(`${error.message}: nothing was written.`) : error;
  });
  return output;
}
