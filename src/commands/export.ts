/** `benchtop export`: writes trajectories with their steps as JSON Lines, which `upload` accepts. */

import { NewFileError, writeNewFile } from '../base/new-file.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { isFoundByLabel, type Resource } from '../resources/define.ts';
import { ServiceError } from '../service/errors.ts';
import { counted } from '../text/numbers.ts';
import { clean, safeJson } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type Found, findAmong, pagesOf, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

/** Trajectories read in parallel. */
const atOnce = 4;

const trajectories = resourceOrThrow('trajectories');
/** A resource with trajectories: a run, a training run or a dataset. */
const owners = (trajectories.scopes ?? []).map(resourceOrThrow);

/** The filter for the trajectories of one row of the resource; undefined for trajectories themselves. */
const scopeName = ({ names }: Resource) => trajectories.scopes?.find(scope => names.includes(scope));

/** The ids of the trajectories of a run, training run or dataset, page by page; or just the given trajectory. */
async function* idsOf({ resource, id, row }: Found, context: CommandContext, io: CommandIo): AsyncGenerator<string[]> {
  const scope = scopeName(resource);
  if (!scope) {
    yield [id];
    return;
  }
  let note = '';
  for await (const page of pagesOf(trajectories, { [scope]: resource.scopeValue?.(row) ?? id }, context)) {
    note = page.notes.join('; ');
    yield page.rows.map(each => (each as Trajectory).trajectory_id);
  }
  if (note) io.note(note);
}

/** Error codes that concern this one record only. */
const unreadable: ReadonlySet<string | undefined> = new Set(['answer_too_deep', 'answer_too_large']);

/** Reads a few in parallel; yields them in order, with the error in place of one that cannot be read. */
async function* readAll(ids: readonly string[], context: CommandContext): AsyncGenerator<Trajectory | ServiceError> {
  const read = (id: string) =>
    trajectoryQuery(id)
      .read(context)
      .catch((error: unknown) => {
        if (error instanceof ServiceError && unreadable.has(error.code)) return error;
        throw error;
      });
  for (let from = 0; from < ids.length; from += atOnce) {
    yield* await Promise.all(ids.slice(from, from + atOnce).map(read));
  }
}

export async function run({ args, flags }: CommandInput<'export'>, io: CommandIo): Promise<number> {
  const [first = '', second] = args;
  const output = flags.output === '-' ? undefined : flags.output;
  const known = [...owners, trajectories];
  const among = second === undefined ? known.filter(isFoundByLabel) : [resourceOrThrow(first)];
  const word = second ?? first;
  const [only] = among;
  if (only && !known.includes(only))
    throw new CommandError(
      `${only.names[0]} have no trajectories: ${known.map(({ names }) => names[0]).join(', ')} do.`,
    );
  return withService(flags, io, async context => {
    const isTrajectory = trajectories.idPattern?.test(word);
    const found = await findAmong(isTrajectory ? [trajectories] : among, word, context);
    const isOne = found.resource === trajectories;
    let count = 0;
    let leftOut = 0;
    const lines = async function* (): AsyncGenerator<string> {
      for await (const ids of idsOf(found, context, io)) {
        for await (const trajectory of readAll(ids, context)) {
          if (trajectory instanceof ServiceError) {
            if (isOne) throw trajectory;
            leftOut += 1;
            io.note(clean`Left out: ${trajectory.message}`);
            continue;
          }
          yield `${safeJson(trajectory)}\n`;
          count += 1;
        }
      }
    };
    // Remove the unfinished file, which an immediate exit would leave behind.
    io.stopOnSignals?.();
    if (output === undefined) for await (const line of lines()) await io.print(line);
    else await writeLines(output, lines());
    const written = `${counted(count, 'trajectory', 'trajectories')}${output === undefined ? '' : ` in ${output}`}`;
    io.note(leftOut === 0 ? written : `${written}; ${leftOut} left out`);
    return leftOut === 0 ? exitCodes.done : exitCodes.failed;
  });
}

/** @throws CommandError if the file exists or cannot be written, and whatever the lines throw */
async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  try {
    await writeNewFile(path, lines);
  } catch (error) {
    throw error instanceof NewFileError ? new CommandError(`${error.message}: nothing was written.`) : error;
  }
}
