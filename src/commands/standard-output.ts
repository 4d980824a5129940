/** Standard output. Imports nothing of this program, because prebuilt help needs it. */
import { fstatSync, writeSync } from 'node:fs';

/**
 * Writes all of the text. Resolves once there is room for more.
 *
 * @param fail called if it fails; must be the same function each time
 * @param direct whether to avoid the stream. Node's stream for a file writes once, and drops what did not fit on the
 * disk without an error. For a pipe the stream is better: it lets ctrl-c through while the reader is slow
 */
export async function writeOutput(
  text: string,
  fail: (error: NodeJS.ErrnoException) => void,
  direct = fstatSync(1).isFile(),
): Promise<void> {
  let rest: string | Buffer = text;
  if (direct) {
    try {
      rest = Buffer.from(text);
      while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return fail(error as NodeJS.ErrnoException);
    }
  }
  const { stdout } = process;
  if (stdout.listenerCount('error', fail) === 0) stdout.on('error', fail);
  if (!stdout.write(rest)) await new Promise(resolve => stdout.once('drain', resolve));
}
