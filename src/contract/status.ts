/**
 * What a status means, for every resource: runs, training runs, deployments, benchmarks, images, trajectories, uploads.
 * Statuses are open: an unknown word has no meaning and does not count as ended. Pure.
 */

export type StatusMeaning = 'success' | 'failure' | 'running' | 'waiting' | 'stopping' | 'stopped' | 'unknown';

/** A Map, because a status is text from the service and must not reach a prototype. */
const meanings: ReadonlyMap<string, StatusMeaning> = new Map<string, StatusMeaning>([
  ['completed', 'success'],
  ['succeeded', 'success'],
  ['ready', 'success'],
  ['deployed', 'success'],
  ['ended', 'success'],
  ['uploaded', 'success'],
  ['sent', 'success'],
  ['failed', 'failure'],
  ['error', 'failure'],
  ['running', 'running'],
  ['in_progress', 'running'],
  ['building', 'running'],
  ['sending', 'running'],
  ['merging', 'running'],
  ['deploying', 'running'],
  ['not_started', 'waiting'],
  ['pending', 'waiting'],
  ['queued', 'waiting'],
  ['waiting', 'waiting'],
  ['not_ready', 'waiting'],
  ['secrets_missing', 'waiting'],
  ['cancel_signaled', 'stopping'],
  ['cancelling', 'stopping'],
  ['canceling', 'stopping'],
  ['cancelled', 'stopped'],
  ['canceled', 'stopped'],
  ['skipped', 'stopped'],
]);

/** Deployments use capitals; users may write several words. */
export function statusMeaning(status: string): StatusMeaning {
  return meanings.get(status.toLowerCase().replaceAll(' ', '_')) ?? 'unknown';
}

/**
 * A status in words, for people: `cancel signaled`, `deployed`. Services write statuses in either case; one that is not
 * known stays as it came.
 */
export function statusWords(status: string): string {
  return statusMeaning(status) === 'unknown' ? status : status.toLowerCase().replaceAll('_', ' ');
}

/** A status as it is compared: services differ in capitals, and in how they spell `cancelled`. */
const spelling = (status: string): string =>
  status
    .toLowerCase()
    .replaceAll(/[ -]/g, '_')
    .replace(/^cancel(?=ed$|ing$)/, 'cancell');

/** Whether two texts are one status. */
export function isSameStatus(one: string, other: string): boolean {
  return spelling(one) === spelling(other);
}

const ends: ReadonlySet<StatusMeaning> = new Set<StatusMeaning>(['success', 'failure', 'stopped']);

/** Whether this status is final. A missing or unknown status is not. */
export function hasEnded(status: string | null | undefined): boolean {
  return status != null && ends.has(statusMeaning(status));
}

/**
 * Whether this status may still change by itself. A missing status, e.g. of an old record, does not count as running.
 */
export function isRunning(status: string | null | undefined): boolean {
  return status != null && !hasEnded(status);
}

/**
 * Whether a status that is missing or not known comes with an end time that has passed. It is no end by its name, but
 * will hardly change.
 */
export function isOver(status: string | undefined, endTime: string | undefined, now = Date.now()): boolean {
  const isOpen = status === undefined || statusMeaning(status) === 'unknown';
  return isOpen && endTime !== undefined && Date.parse(endTime) <= now;
}

/** A record that may lack a status, because it is older than the service's statuses. */
export interface MaybeStatus {
  readonly status?: string | null | undefined;
  readonly failure?: object | null | undefined;
}

/** Adds a missing status to the record of a run whose service says why it failed. Otherwise it stays without. */
export function withStatus<Row extends MaybeStatus>(row: Row): Row {
  return row.status == null && row.failure != null ? { ...row, status: 'failed' } : row;
}
