/** The known state of one resource, from all responses about it. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { hasEnded, statusMeaning } from '../../contract/status.ts';
import { defaultRange } from '../../present/statistics/interval.ts';
import { atStatus } from '../../store/seen.ts';
import type { ProgressPoint, ResourceRef } from '../../store/store.ts';
import { countOf } from '../../text/numbers.ts';
import { endInstant } from '../../text/time.ts';
import { type FailedRounds, type HeldOutMeans, mayLackRound, withoutLast } from '../held-out.ts';
import type { RunDifference } from '../run-difference.ts';
import { type Certainty, isSameMean } from '../run-mean.ts';

/** How an evaluation's rollouts had ended when they were read. */
export interface RolloutEnds {
  /** Undefined if the service does not report it. */
  readonly failed: number | undefined;
  readonly ended: number;
  /** Whether the list was read to its end. */
  readonly isWhole: boolean;
  /** Whether the run had ended. */
  readonly isFinal: boolean;
}

/** The known state of one resource. The object is replaced only when something changes. */
export interface KnownResource {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  readonly status: string | undefined;
  /** How much of `total` is complete. */
  readonly done: number | undefined;
  readonly total: number | undefined;
  /** The mean reward, so far or final. */
  readonly mean: number | undefined;
  /** The number of rewards behind the mean. */
  readonly graded: number | undefined;
  /** The certainty of an evaluation's mean, as of the last read of its rewards. */
  readonly certainty: Certainty | undefined;
  /** An evaluation's difference from the baseline, as of the last read of both runs' rewards. */
  readonly difference: RunDifference | undefined;
  /** The number of failed rollouts, according to the progress. */
  readonly failed: number | undefined;
  /** How the rollouts ended, read from their list if the progress does not report it. */
  readonly ends: RolloutEnds | undefined;
  /** When it first had this number of rewards; in epoch milliseconds. */
  readonly gradedAt: number | undefined;
  /** The newest and the best held-out mean; null for none, undefined if its curve has not been read. */
  readonly measured: HeldOutMeans | null | undefined;
  /** The number of steps between held-out rounds, from the run's options. */
  readonly roundSteps: number | undefined;
  /** A run's held-out rounds after its last mean, in which every rollout failed. */
  readonly failedRounds: FailedRounds | undefined;
  /** When its newest checkpoints were saved, oldest first; undefined if they have not been read. */
  readonly checkpoints: readonly ProgressPoint[] | undefined;
  /** The values of its curve, oldest first; undefined for a step without a value. */
  readonly curve: readonly (number | undefined)[];
  /** When it began and ended, as the service writes it. */
  readonly startedAt: string | undefined;
  readonly endTime: string | undefined;
  /**
   * When it left the queue, in epoch milliseconds; null if it was seen in the queue but not leaving it; undefined if it
   * was never seen in the queue.
   */
  readonly beganAt: number | null | undefined;
  /** Why it failed, in the service's words. */
  readonly reason: string | undefined;
  /** Why its work is waiting, in the service's words. An observation of null says that it is not. */
  readonly waits: string | undefined;
  /** Its parent's id, e.g. a run's benchmark. */
  readonly parent: string | undefined;
  /** When this program saw it end or vanish, in epoch milliseconds; undefined once dismissed. */
  readonly endedAt: number | undefined;
  /** The error from the last read; undefined after a success. */
  readonly error: string | undefined;
  /** Whether the service no longer has it. */
  readonly gone: boolean;
  /**
   * Whether this program started it and no response has reported its status yet. It is polled, but does not count as
   * running.
   */
  readonly isNew: boolean;
}

export type ResourceKey = Pick<KnownResource, 'kind' | 'id'>;

type Reported =
  | ('label' | 'status' | 'done' | 'total' | 'mean' | 'graded' | 'failed' | 'roundSteps')
  | ('startedAt' | 'endTime' | 'reason' | 'waits' | 'parent');
/** Read by queries of their own. */
type Measured = 'certainty' | 'difference' | 'ends' | 'measured' | 'failedRounds' | 'checkpoints' | 'curve';

/** A response's data on one resource. Missing fields are unknown. */
export type Observation = ResourceKey & {
  readonly [Name in Reported]?: KnownResource[Name] | null | undefined;
} & { readonly [Name in Measured]?: KnownResource[Name] | undefined } & {
  /** The record as the service sent it, if the response contains it; saved between sessions. */
  readonly record?: Readonly<Record<string, unknown>> | undefined;
};

/** The key for a resource in a map. */
export const keyOf = ({ kind, id }: ResourceKey): string => `${kind} ${id}`;

/** Keeps the old numbers if the new ones are equal, so that nothing is redrawn. */
function sameCurve(old: KnownResource['curve'], next: Observation['curve']): KnownResource['curve'] {
  if (!next || (old.length === next.length && old.every((value, index) => value === next[index]))) return old;
  return next;
}

/** Keeps the old object if the new one is equal or missing. */
const newerValue = <Value>(old: Value | undefined, next: Value | undefined): Value | undefined =>
  next === undefined || isDeepStrictEqual(old, next) ? old : next;

/** A response without held-out rewards drops remembered means, which have no curve, but keeps means that were read. */
function measuredOf(old: KnownResource['measured'], next: KnownResource['measured']): KnownResource['measured'] {
  if (next !== null) return newerValue(old, next);
  return old && old.curve.length > 0 ? old : null;
}

/** A running run's mean so far, from a response without a mean but with more rewards than were known. */
function meanSoFarIn(old: KnownResource, { certainty, status, mean }: Observation): Partial<KnownResource> {
  if (!certainty || certainty.isFinal || mean != null || hasEnded(status ?? old.status)) return {};
  const isOlder = old.graded === undefined ? old.mean !== undefined : certainty.rewards <= old.graded;
  return isOlder ? {} : { mean: certainty.means[0], graded: certainty.rewards };
}

/** A resource after a response about it. */
export function mergeObservation(before: KnownResource, observation: Observation): KnownResource {
  const old = atStatus(before, observation.status);
  const soFar = meanSoFarIn(old, observation);
  // A count that was read with another mean does not belong to this one.
  const isOfMean = isSameMean({ mean: old.mean }, { mean: observation.mean ?? undefined }, defaultRange);
  return {
    ...old,
    label: observation.label || old.label,
    done: countOf(observation.done) ?? old.done,
    total: countOf(observation.total) ?? old.total,
    mean: observation.mean ?? soFar.mean ?? old.mean,
    graded: countOf(observation.graded) ?? soFar.graded ?? (isOfMean ? old.graded : undefined),
    certainty: newerValue(old.certainty, observation.certainty),
    difference: newerValue(old.difference, observation.difference),
    failed: countOf(observation.failed) ?? old.failed,
    ends: newerValue(old.ends, observation.ends),
    measured: measuredOf(old.measured, observation.measured),
    roundSteps: countOf(observation.roundSteps) || old.roundSteps,
    // A response with means also replaces the failed rounds, because later rounds may have a mean now.
    failedRounds: observation.measured
      ? observation.failedRounds
      : newerValue(old.failedRounds, observation.failedRounds),
    checkpoints: newerValue(old.checkpoints, observation.checkpoints),
    curve: sameCurve(old.curve, observation.curve),
    startedAt: observation.startedAt ?? old.startedAt,
    endTime: observation.endTime ?? old.endTime,
    reason: observation.reason ?? old.reason,
    waits: observation.waits === undefined ? old.waits : observation.waits || undefined,
    parent: observation.parent ?? old.parent,
    error: undefined,
    gone: false,
    isNew: old.isNew && observation.status == null,
  };
}

/**
 * Drops incomplete progress from before the end, because it is not final. The response that reports the end may lack
 * progress, as a list does.
 */
export function withoutProgress(known: KnownResource): KnownResource {
  const { done, total, graded } = known;
  if (done !== undefined && total !== undefined && done >= total) return known;
  // A mean without a count is the last value of a curve.
  const mean = graded === undefined ? known.mean : undefined;
  return { ...known, done: undefined, mean, graded: undefined, failed: undefined };
}

/** The number of finished steps. A successful run has finished all of them, even if its progress is unknown. */
export const finishedSteps = ({ done, status = '', total }: KnownResource): number | undefined =>
  done ?? (statusMeaning(status) === 'success' ? total : undefined);

/** Marks the held-out means as old, unless they include the last round. */
export const withOldMeans = (known: KnownResource): KnownResource =>
  known.measured ? { ...known, measured: withoutLast(known.measured, finishedSteps(known)) } : known;

/** Marks means as old if they may have been read before the last round. Times are in epoch milliseconds. */
export const withLateMeans = (known: KnownResource, readAt: number, endedAt = endInstant(known)): KnownResource =>
  hasEnded(known.status) && mayLackRound(known.status ?? '', { endedAt: endedAt ?? 0, readAt })
    ? withOldMeans(known)
    : known;

/** Checks again whether an ended resource's means are old, once its number of steps is known. */
export function withKnownSteps(before: KnownResource, known: KnownResource): KnownResource {
  const isOld = hasEnded(known.status) && known.measured?.last.isOld;
  return isOld && finishedSteps(before) === undefined && finishedSteps(known) !== undefined
    ? withOldMeans(known)
    : known;
}

/** If two reads are further apart than this, it is unknown when a resource left the queue between them. */
const maxApartMs = 60_000;

/** When the resource was seen leaving the queue; see `beganAt`. */
export function beginningOf(
  before: KnownResource,
  next: KnownResource,
  at: number,
  lastReadAt: number,
): number | null | undefined {
  const waits = ({ status }: KnownResource): boolean => statusMeaning(status ?? '') === 'waiting';
  if (!waits(before) || waits(next)) return before.beganAt;
  return hasEnded(next.status) || at - lastReadAt > maxApartMs ? null : at;
}

/** Whether every field has the same value. */
export function isSame(left: KnownResource, right: KnownResource): boolean {
  return (Object.keys(left) as (keyof KnownResource)[]).every(key => Object.is(left[key], right[key]));
}

/** A resource before any response about it. */
export function unknownResource({ kind, id }: ResourceKey, label: string): KnownResource {
  return {
    kind,
    id,
    label,
    status: undefined,
    done: undefined,
    total: undefined,
    mean: undefined,
    graded: undefined,
    certainty: undefined,
    difference: undefined,
    failed: undefined,
    ends: undefined,
    gradedAt: undefined,
    measured: undefined,
    roundSteps: undefined,
    failedRounds: undefined,
    checkpoints: undefined,
    curve: [],
    startedAt: undefined,
    endTime: undefined,
    beganAt: undefined,
    reason: undefined,
    waits: undefined,
    parent: undefined,
    endedAt: undefined,
    error: undefined,
    gone: false,
    isNew: false,
  };
}

/** Whether a response says that an ended resource has not ended. */
export const takesBackEnd = (known: KnownResource | undefined, { status }: Observation): boolean =>
  hasEnded(known?.status) && status != null && !hasEnded(status);

/** What a response from before the known status, or the end, still says. */
export const beforeEnd = ({ kind, id, label, startedAt, parent }: Observation): Observation => ({
  ...{ kind, id, label, startedAt, parent },
});

/** Merges several observations of one resource, without a store. */
export function knownResource(resource: ResourceRef, observations: readonly Observation[]): KnownResource {
  return observations.reduce(mergeObservation, unknownResource(resource, resource.label));
}
