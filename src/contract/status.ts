/**
 * What a status means, whichever resource it belongs to: runs, training runs, deployments, benchmarks, images,
 * trajectories, uploads. Statuses are open: a word that is not known means nothing here, and is not an end. Pure.
 */

export type StatusMeaning = 'success' | 'failure' | 'running' | 'waiting' | 'stopping' | 'stopped' | 'unknown';

/** A map: a status is text of the service and must not reach a prototype. */
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
  ['building', 'running'],
  ['sending', 'running'],
  ['merging', 'running'],
  ['deploying', 'running'],
  ['pending', 'waiting'],
  ['queued', 'waiting'],
  ['waiting', 'waiting'],
  ['cancel_signaled', 'stopping'],
  ['cancelling', 'stopping'],
  ['canceling', 'stopping'],
  ['cancelled', 'stopped'],
  ['canceled', 'stopped'],
  ['skipped', 'stopped'],
]);

/** Deployments write theirs in capitals. */
export function statusMeaning(status: string): StatusMeaning {
  return meanings.get(status.toLowerCase()) ?? 'unknown';
}

const ends: ReadonlySet<StatusMeaning> = new Set<StatusMeaning>(['success', 'failure', 'stopped']);

/** Whether what has this status will not change by itself any more. No status, or an unknown one, is not an end. */
export function hasEnded(status: string | null | undefined): boolean {
  return status != null && ends.has(statusMeaning(status));
}

/** Whether what has this status may still change by itself. What has none, e.g. a record of long ago, is not running. */
export function isRunning(status: string | null | undefined): boolean {
  return status != null && !hasEnded(status);
}

/** A record that may have no status: services give none to what is older than their statuses. */
export interface MaybeStatus {
  readonly status?: string | null | undefined;
  readonly created_at?: string | null | undefined;
  readonly completed_at?: string | null | undefined;
  readonly failure?: object | null | undefined;
}

/** What began so long ago and has no status is over; in milliseconds. */
const oldMs = 7 * 24 * 60 * 60_000;

/**
 * A record of a run with its status. One that came without a status is over where it has failed, has a time of its end, or is
 * old: it is `failed` or `ended` then. Otherwise nothing says how it is, and it stays without.
 */
export function withStatus<Row extends MaybeStatus>(row: Row, now = Date.now()): Row {
  const { status, created_at, completed_at, failure } = row;
  if (status != null) return row;
  if (failure != null) return { ...row, status: 'failed' };
  const isOver = completed_at != null || now - Date.parse(created_at ?? '') > oldMs;
  return isOver ? { ...row, status: 'ended' } : row;
}
