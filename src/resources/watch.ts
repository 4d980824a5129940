/**
 * Watch: everything pinned, everything running, and what ended while the program was open. Its lines are selected from the
 * status store.
 */

import { isRunning, statusMeaning } from '../contract/status.ts';
import { paceOf, paceWords } from '../queries/pace.ts';
import { followedOf, type KnownResource, keyOf, unknownResource } from '../queries/statuses/store.ts';
import type { ResourceRef } from '../store/store.ts';
import { age, parseTime } from '../text/time.ts';
import type { AnyJob } from '../workbench/jobs.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { placeOfRef, resourceOfKind } from './catalogue.ts';
import type { Place } from './place.ts';
import { offered } from './watch-reads.ts';

/** A line of Watch. */
export interface WatchedResource extends KnownResource {
  readonly pinned: boolean;
  /** Its speed and remaining time, in words; empty if unknown. */
  readonly pace: string;
}

/** The label of the reward: the mean of a run, the latest trainer reward, or a trajectory's own reward. */
export function rewardName(kind: string): string {
  if (resourceOfKind(kind)?.watch?.measures) return 'trainer';
  return kind === 'run' ? 'mean' : 'reward';
}

/** The pace of a run, with its age if the steps were not read recently. */
function paceOfRun(known: KnownResource, workbench: Workbench, now: number): string {
  const { remembered, statuses } = workbench;
  const { kind, id, status, done: completed, total } = known;
  const isWaiting = status !== undefined && statusMeaning(status) === 'waiting';
  const { recordsProgress, countsDone, status: queries } = resourceOfKind(kind)?.watch ?? {};
  if (known.gone || !isRunning(status) || !(recordsProgress || (countsDone && isWaiting))) return '';
  const situation = { status, completed, total, startedAt: parseTime(known.startedAt), now };
  const observedAt = statuses.doneReadAt(known);
  // Before the first read, neither the pace nor a stall is known.
  if (observedAt === undefined && !isWaiting)
    return offered(workbench, queries?.(id)).length === 0 ? '' : 'steps not read yet';
  const pace = paceOf(remembered.progressOf(id));
  const words = paceWords(pace, { ...situation, observedAt: observedAt ?? now });
  if (words !== '' || observedAt === undefined || now - observedAt <= pace.stallMs) return words;
  const then = paceWords(pace, { ...situation, observedAt, now: observedAt });
  return `${then === '' ? '' : `${then}  `}read ${age(now - observedAt)} ago`;
}

/** Resources that are watched without a pin: the running ones, and those that ended while the program was open. */
function unpinned({ statuses }: Workbench, pins: readonly ResourceRef[], now: number): KnownResource[] {
  const running = new Set(followedOf(statuses, now));
  const pinned = new Set(pins.map(keyOf));
  return statuses
    .all()
    .filter(
      known =>
        !pinned.has(keyOf(known)) &&
        (running.has(known) || (known.endedAt !== undefined && (known.gone || statuses.runs(known.kind)))),
    );
}

/** The watched resources: pins in their order, then the rest, latest start first. */
export function watchedKnown(workbench: Workbench, now: number): KnownResource[] {
  const { statuses } = workbench;
  const pins = workbench.pins.list();
  const pinned = pins.map(pin => {
    const known = statuses.get(pin) ?? unknownResource(pin, pin.label);
    return known.label === known.id ? { ...known, label: pin.label } : known;
  });
  const others = unpinned(workbench, pins, now).toSorted((left, right) =>
    (right.startedAt ?? '~').localeCompare(left.startedAt ?? '~'),
  );
  return [...pinned, ...others];
}

export function watchedOf(workbench: Workbench, now = Date.now()): WatchedResource[] {
  const pins = workbench.pins.list().length;
  return watchedKnown(workbench, now).map((known, index) => {
    return { ...known, pinned: index < pins, pace: paceOfRun(known, workbench, now) };
  });
}

/** The kind of upload lines. Uploads are not resources of the service. */
export const uploadKind = 'upload';

/** The uploads of this program that run or have ended, latest first. */
function uploadsOf({ jobs }: Workbench): AnyJob[] {
  return jobs
    .list()
    .filter(({ startedAt, state }) => startedAt !== undefined && state.phase !== 'waiting')
    .toReversed();
}

function lineOfUpload(job: AnyJob): WatchedResource {
  const { phase } = job.state;
  const ended = phase === 'done' ? 'uploaded' : phase;
  return {
    ...unknownResource({ kind: uploadKind, id: job.id }, job.label),
    status: job.busy ? 'sending' : ended,
    done: job.share,
    total: 1,
    startedAt: job.startedAt === undefined ? undefined : new Date(job.startedAt).toISOString(),
    endedAt: job.endedAt,
    pinned: false,
    pace: '',
  };
}

/** The lines of Watch: the uploads of this program, then the watched resources. */
export function watchLines(workbench: Workbench): WatchedResource[] {
  return [...uploadsOf(workbench).map(lineOfUpload), ...watchedOf(workbench)];
}

/** Where a line opens; undefined for an unknown kind. */
export function placeOfLine({ jobs }: Workbench, line: WatchedResource): Place | undefined {
  if (line.kind !== uploadKind) return placeOfRef(line);
  const { id: jobId, label } = line;
  const dataset = jobs.get(jobId)?.dataset;
  return dataset === undefined
    ? { view: 'benchmark-upload', jobId, label }
    : { view: 'trajectory-upload', jobId, dataset };
}

export function watchedCount(workbench: Workbench, now = Date.now()): number {
  const pins = workbench.pins.list();
  return pins.length + unpinned(workbench, pins, now).length + uploadsOf(workbench).length;
}
