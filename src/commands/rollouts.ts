/** Reads all rollouts in a run, training run or dataset that the user names. */
import type { Trajectory } from '../contract/trajectories.ts';
import { parseSteps, stepsOf } from '../resources/task-groups.ts';
import { type OwnRollouts, readRollouts as readOwn } from '../rollouts/read.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type Found, findAmong, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import type { NamedRollouts } from './with-rollouts.ts';
import type { CommandContext } from './with-service.ts';

/**
 * The exit code for a command on these rollouts: it fails if any were not read, so that a part cannot pass for the
 * whole.
 */
export const codeOf = (...read: readonly (Pick<OwnRollouts, 'unread'> | undefined)[]) =>
  read.some(each => each !== undefined && each.unread.length > 0) ? exitCodes.failed : exitCodes.done;

/** @throws CommandError if the value of `--steps` cannot be read */
export function checkSteps(steps: string | undefined): void {
  if (steps !== undefined && parseSteps(steps) === undefined)
    throw new CommandError('--steps takes steps of training, e.g. 50..60, 50.. or 50.');
}

/** Notes that there are no rollouts, or how to select some of those of several training steps. */
export function noteSteps(rows: readonly Trajectory[], steps: string | undefined, io: CommandIo): void {
  if (rows.length === 0)
    io.note(steps === undefined ? 'There are no rollouts.' : `There are no rollouts in steps ${steps}.`);
  if (stepsOf(rows).size > 1) io.note('--steps selects some of these steps, e.g. the last ones.');
}

/** @throws CommandError if there is nothing with this id or name; ServiceError */
export async function readRollouts(
  named: NamedRollouts,
  context: CommandContext,
  { among = ['runs', 'training', 'datasets'], read = readOwn, prefix = '' } = {},
): Promise<Found & OwnRollouts> {
  const found = await findAmong(among.map(resourceOrThrow), named.word, context, named);
  const rollouts = await read(found, context);
  for (const note of rollouts.notes) context.io.note(`${prefix}${note}.`);
  return { ...found, ...rollouts };
}
