/** Follows a change until the service has made it, for `--wait`. */
import { hasEnded, type MaybeStatus, statusMeaning } from '../contract/status.ts';
import type { ChangeEnd } from '../resources/action.ts';
import { lookAt } from '../resources/look.ts';
import { ServiceError } from '../service/errors.ts';
import type { ResourceRef } from '../store/store.ts';
import { clean } from '../text/sanitise.ts';
import { noteChange } from './act.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { exitCodeAfterChange } from './failure.ts';
import { type Found, nameOf } from './find.ts';
import type { FollowedState } from './followed-state.ts';
import type { CommandIo } from './io.ts';
import { type AwaitedChange, untilEnded, type WaitOptions } from './until-ended.ts';
import type { CommandContext } from './with-service.ts';

/** When a change counts as done. */
export function awaitedChange(
  { id, row, resource }: Found,
  participle: string,
  ends: ChangeEnd<object>,
): AwaitedChange {
  const { isDone, isLast, readStatus } = ends;
  const seen = { id, label: resource.label?.(row) || id, done: undefined, total: undefined, mean: undefined };
  return {
    participle,
    isDone,
    ...(isLast && { isLast: (status = '') => isDone(status) || isLast(status, row) }),
    ...(readStatus && {
      readState: async (service, signal) => ({ ...seen, status: await readStatus(row, service, signal) }),
    }),
  };
}

/** How a change ended, or its progress when the wait ended. */
export interface Outcome {
  readonly code: ExitCode;
  /** The last status seen, if any. */
  readonly status?: string | undefined;
  /** Set if the resource had already ended, or ended on its own before the change took effect. */
  readonly endedUnchanged?: true;
}

export const refOfFound = ({ resource, row, id }: Found): ResourceRef => ({
  kind: resource.kind ?? '',
  id,
  label: resource.label?.(row) || id,
});

/**
 * Follows a resource to its end. Reports errors instead of throwing, so that the command still follows and prints the
 * other resources.
 */
export async function awaitChange(
  ref: ResourceRef,
  options: Omit<WaitOptions, 'onChange'>,
  context: CommandContext,
): Promise<Outcome> {
  const note = noteChange(ref, context.io);
  let status: string | undefined;
  const onChange = (seen: FollowedState): Promise<void> => {
    status = seen.status;
    return note(seen);
  };
  const code = await untilEnded(ref, context, { ...options, onChange }).catch(async (error: unknown) => {
    const code = exitCodeAfterChange(error);
    await context.io.fail(error, code);
    return code;
  });
  return { code, status };
}

export const statusBefore = ({ row }: Found): string | undefined => (row as MaybeStatus).status ?? undefined;

/**
 * The current status of a resource that the service refused to change because of its state; undefined for any other
 * error.
 */
export async function statusOfRefused(
  found: Found,
  error: Error | undefined,
  context: CommandContext,
): Promise<string | undefined> {
  if (!(error instanceof ServiceError) || error.kind !== 'conflict') return undefined;
  const { status } = await lookAt(refOfFound(found), context).catch(() => ({ status: undefined }));
  return status;
}

/** The outcome for a resource that ended before it could be changed. */
export function endedBefore(found: Found, status: string, io: CommandIo): Outcome {
  io.note(clean`${nameOf(found)} has already ended: ${status}.`, { id: found.id, status });
  return { code: exitCodes.done, status, endedUnchanged: true };
}

/** The outcome of waiting for a change. Notes if the resource ended on its own first. */
export function endedByItself(found: Found, outcome: Outcome, participle: string, io: CommandIo): Outcome {
  const { status } = outcome;
  if (status === undefined || !hasEnded(status) || statusMeaning(status) === 'stopped') return outcome;
  io.note(clean`${nameOf(found)} ended on its own before it could be ${participle}: ${status}.`, {
    id: found.id,
    status,
  });
  return { ...outcome, endedUnchanged: true };
}
