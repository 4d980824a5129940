/** How `cancel --wait` and `undeploy --wait` follow what they changed, until the service has done it. */
import type { Deployment } from '../contract/deployments.ts';
import { type MaybeStatus, statusMeaning } from '../contract/status.ts';
import type { ResourceRef } from '../queries/remembered/store.ts';
import { lookAt } from '../resources/watch.ts';
import { isGone, ServiceError } from '../service/errors.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { noteChange } from './act.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import { type Found, nameOf } from './find.ts';
import type { CommandIo } from './io.ts';
import { type AwaitedChange, type Seen, untilEnded, type WaitOptions } from './until-ended.ts';
import type { CommandContext } from './with-service.ts';

const meansStopped = (status: string): boolean => statusMeaning(status) === 'stopped';

/** Waits until a run has ended. */
export function untilCancelled(): AwaitedChange {
  return {
    past: 'cancelled',
    // It may have succeeded before it could be stopped.
    isDone: status => meansStopped(status) || statusMeaning(status) === 'success',
  };
}

/** What a deployment ends as; the service has no words for it. */
const [gone, inactive] = ['gone', 'inactive'];

/** Waits until the service no longer has the deployment, or has made it inactive. */
export function untilUndeployed({ id, row }: Found): AwaitedChange {
  const before = row as Deployment;
  const isDone = (status: string): boolean => status === gone || status === inactive || meansStopped(status);
  return {
    past: 'undeployed',
    isDone,
    isLast: (status = '') => isDone(status) || (statusMeaning(status) === 'failure' && status !== before.status),
    look: async (service, signal) => {
      const seen = { id, label: before.model_slug ?? id, done: undefined, total: undefined, mean: undefined };
      try {
        const { status, is_active } = await service.call(
          'getDeployment',
          { params: { deployment_id: id } },
          { signal },
        );
        const wasDemoted = before.is_active === true && is_active === false;
        const isInactive = wasDemoted && statusMeaning(status ?? '') !== 'stopping';
        return { ...seen, status: isInactive ? inactive : (status ?? 'unknown') };
      } catch (error) {
        // Its path has answered before: this 404 is of the record.
        if (isGone(error)) return { ...seen, status: gone };
        throw error;
      }
    },
  };
}

/** How a change ended, as far as it was waited for. */
export interface Outcome {
  readonly code: ExitCode;
  /** The last that was seen; undefined if there was none. */
  readonly status?: string | undefined;
  /** It had ended by itself: nothing was changed. */
  readonly hadEnded?: true;
}

export const refOfFound = ({ resource, row, id }: Found): ResourceRef => ({
  kind: resource.kind ?? '',
  id,
  label: resource.label?.(row) || id,
});

/** Follows a resource to its end. Errors are reported, so that others are followed too, and printed. */
export async function awaited(
  ref: ResourceRef,
  options: Omit<WaitOptions, 'onChange'>,
  context: CommandContext,
  io: CommandIo,
): Promise<Outcome> {
  const note = noteChange(ref, io);
  let status: string | undefined;
  const onChange = (seen: Seen): Promise<void> => {
    status = seen.status;
    return note(seen);
  };
  const code = await untilEnded(ref, context, io, { ...options, onChange }).catch(async (error: unknown) => {
    await io.fail(error);
    return exitCodeOf(error);
  });
  return { code, status };
}

/** The status before the change, as it was found. */
export const statusBefore = ({ row }: Found): string | undefined => (row as MaybeStatus).status ?? undefined;

/** The status now of what the service refused to change because of its state; undefined for any other error. */
export async function statusOfRefused(
  found: Found,
  error: Error | undefined,
  context: CommandContext,
): Promise<string | undefined> {
  if (!(error instanceof ServiceError) || error.kind !== 'conflict') return undefined;
  const { status } = await lookAt(refOfFound(found), context).catch(() => ({ status: undefined }));
  return status;
}

/** The outcome of what had ended by itself before it could be changed. */
export function endedBefore(found: Found, status: string, io: CommandIo): Outcome {
  io.note(`${sanitiseLine(nameOf(found))} has ended already: ${sanitiseLine(status)}.`, { id: found.id, status });
  return { code: exitCodes.done, status, hadEnded: true };
}
