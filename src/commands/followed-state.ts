/** The state of a followed resource, in words and as fields. */
import type { RunFailure } from '../contract/common.ts';
import { formatStatus } from '../contract/status.ts';
import { describeMean } from '../present/mean.ts';
import type { RunMean } from '../queries/run-mean.ts';
import type { KnownResource } from '../queries/statuses/known-resource.ts';
import { resourceOfKind } from '../resources/catalogue.ts';
import type { CurrentState } from '../resources/look.ts';
import { certaintyFields, describeCertainty } from '../resources/run-mean.ts';
import { describeWithoutReward } from '../resources/run-outcome.ts';
import { sanitiseLine } from '../text/sanitise.ts';

export type FollowedState = Pick<KnownResource, 'id' | 'label' | 'status' | 'done' | 'total' | 'mean'> &
  Partial<CurrentState> & {
    /** Why it failed, according to the service. */
    readonly failure?: RunFailure | undefined;
    /** The interval of an evaluation's mean, if its rewards can be read. */
    readonly runMean?: RunMean;
    /** A caveat about an evaluation's mean; empty if none is known. */
    readonly caution?: string;
  };

/** Progress, e.g. `3 of 12`; empty if unknown. */
export function formatProgress({ done, total }: Pick<FollowedState, 'done' | 'total'>): string {
  return done === undefined ? '' : `${done} of ${total ?? 'an unknown total'}`;
}

/** E.g. `mean 0.210 over 3 rewards (95% CI 0.010 to 0.830 over 3 tasks)`; empty if there is none. */
function meanOf({ kind = '', mean, graded, runMean, caution }: FollowedState): string {
  if (mean === undefined) return '';
  // The trainer's last reward is not a mean over the run.
  const label = resourceOfKind(kind)?.watch?.recordsProgress ? 'trainer reward' : 'mean';
  const certain = [runMean && describeCertainty(runMean, mean), caution].filter(Boolean).join('; ');
  return `${label} ${describeMean({ mean, count: graded })}${certain && ` (${certain})`}`;
}

/** The current state, e.g. `running, 3 of 12, mean 0.210 over 3 rewards`. */
export function describeFollowedState(seen: FollowedState): string {
  const { status, heldOut, failure } = seen;
  const words = [
    status === undefined ? 'no status' : sanitiseLine(formatStatus(status)),
    formatProgress(seen),
    meanOf(seen),
    describeWithoutReward(seen),
    heldOut === undefined ? '' : `held-out reward ${heldOut}`,
  ]
    .filter(Boolean)
    .join(', ');
  return [words, failure?.message ?? failure?.code].filter(Boolean).join(': ');
}

/** A state change as JSON, the same for every way of waiting. */
export function stateFields({ status, done, total, mean, graded, runMean, caution }: FollowedState) {
  return {
    ...{ status: status ?? null, done, total, mean, graded },
    ...(runMean && certaintyFields(runMean)),
    ...(caution !== undefined && { caution: caution || null }),
  };
}
