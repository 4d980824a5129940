/** Runs a command on the rollouts of a resource on the service, or of a file. */
import { basename } from 'node:path';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import { isFile } from './find.ts';
import type { CommandIo } from './io.ts';
import type { RecordFlags } from './output.ts';
import { type ScoreFlag, type ServiceFlags, serviceFlags } from './table/flags.ts';
import { withFile } from './trajectory-files.ts';
import { type CommandContext, withService } from './with-service.ts';

const noService = Object.fromEntries(Object.keys(serviceFlags).map(name => [name, undefined]));

export interface NamedRollouts {
  /** The name of the resource or of the file's dataset. */
  readonly word: string;
  /** Whether the word may also be the path of a file. */
  readonly takesPath?: boolean;
  /** How the rollouts' file was read, in sentences; undefined if the rollouts are on the service. */
  readonly fileNotes?: readonly string[];
}

/**
 * Like `withService`. A file's rollouts are a dataset on a service in this process, and nothing is kept.
 *
 * @param takesFile whether the word may name a file
 */
export async function withRollouts<Flags extends ServiceFlags & RecordFlags & ScoreFlag>(
  { word, takesFile = true }: { readonly word: string; readonly takesFile?: boolean },
  flags: Flags,
  io: CommandIo,
  work: (context: CommandContext, named: NamedRollouts) => Promise<number>,
): Promise<number> {
  // A word without a slash or a file extension is a name, even if there is such a file.
  const takesPath = takesFile && /[./\\]/.test(word);
  const isOfFile = takesPath ? isFile(word) : takesFile && word === '-';
  if (!isOfFile && flags.score !== undefined) throw new CommandError('--score is for a file.');
  if (!isOfFile) return withService(flags, io, context => work(context, { word, takesPath }));
  // A run may have the same name.
  if (word !== '-') io.note(clean`Read from the file ${word}.`);
  const { serveFile } = await import('./read.ts');
  let cut: string | undefined;
  return withFile(
    word,
    io,
    async path => {
      const name = word === '-' ? 'standard input' : basename(word);
      const { baseUrl, environment, file, stop } = await serveFile(path, name, io, {
        cut,
        isOnce: true,
        score: flags.score,
      });
      try {
        const ofFile = { environment: { value: { ...io.environment, ...environment } } };
        const inFile = Object.create(io, ofFile) as CommandIo;
        const local = { ...flags, ...noService, baseUrl, debug: flags.debug };
        const code = await withService(local, inFile, context => work(context, { word: name, fileNotes: file.notes }));
        return code === exitCodes.done && !file.isWhole ? exitCodes.failed : code;
      } finally {
        await stop();
      }
    },
    why => {
      cut = why;
      io.note(why);
    },
  );
}
