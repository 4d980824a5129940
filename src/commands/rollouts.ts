/** Reads all rollouts in a run, training run or dataset that the user names. */
import { type OwnRollouts, readRollouts as readOwn } from '../rollouts/read.ts';
import { exitCodes } from './exit.ts';
import { type Found, findAmong, resourceOrThrow } from './find.ts';
import type { NamedRollouts } from './with-rollouts.ts';
import type { CommandContext } from './with-service.ts';

/**
 * The exit code for a command on these rollouts: it fails if any were not read, so that a part cannot pass for the
 * whole.
 */
export const codeOf = (...read: readonly (Pick<OwnRollouts, 'unread'> | undefined)[]) =>
  read.some(each => each !== undefined && each.unread.length > 0) ? exitCodes.failed : exitCodes.done;

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
