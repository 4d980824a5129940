/**
 * The statuses of each resource, with their meanings: runs, training runs, deployments, benchmarks, images,
 * trajectories, uploads. Statuses are open: an unknown one has no meaning and does not count as ended. Pure.
 */
import { endInstant } from '../text/time.ts';

export const buildStatuses = ['pending', 'building', 'ready', 'failed'] as const;
export const evalRunStatuses = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
export const trainingStatuses = [
  'pending',
  'running',
  'cancel_signaled',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled',
] as const;
export type TrainingStatus = (typeof trainingStatuses)[number];
/** The document does not list trajectory statuses; services have been seen to send these. */
export const trajectoryStatuses = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
export const deploymentStatuses = ['PENDING', 'MERGING', 'DEPLOYING', 'DEPLOYED', 'FAILED'] as const;
/** Added by later generations. */
const laterStatuses = ['CANCELLING', 'CANCELLED'] as const;
export const knownDeploymentStatuses = [...deploymentStatuses, ...laterStatuses] as const;

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
  // Some services keep the records of torn-down deployments, with these statuses.
  ['terminating', 'stopping'],
  ['undeploying', 'stopping'],
  ['deleting', 'stopping'],
  ['terminated', 'stopped'],
  ['undeployed', 'stopped'],
  ['deleted', 'stopped'],
]);

/** Ignores case, and reads spaces as underscores: deployments use capitals, and users may type spaces. */
export function statusMeaning(status: string): StatusMeaning {
  return meanings.get(status) ?? meanings.get(status.toLowerCase().replaceAll(' ', '_')) ?? 'unknown';
}

export function isUnknown(status: string): boolean {
  return statusMeaning(status) === 'unknown';
}

/** A status for display: `cancel signaled`, `deployed`. An unknown status is shown unchanged. */
export function formatStatus(status: string): string {
  return isUnknown(status) ? status : status.toLowerCase().replaceAll('_', ' ');
}

const endMeanings: ReadonlySet<StatusMeaning> = new Set<StatusMeaning>(['success', 'failure', 'stopped']);

/** Whether this status is final. A missing or unknown status is not. */
export function hasEnded(status: string | null | undefined): boolean {
  return status != null && endMeanings.has(statusMeaning(status));
}

/** Why a run that has not ended cannot be deleted, as the rest of a sentence. */
export const waitBeforeDelete = (status: string | null | undefined): string =>
  statusMeaning(status ?? '') === 'stopping' ? 'it is stopping, so wait until it has ended' : 'cancel it first';

/**
 * Whether this status may still change on its own. A missing status, e.g. of an old record, does not count as running.
 */
export function isRunning(status: string | null | undefined): boolean {
  return status != null && !hasEnded(status);
}

/**
 * Whether a record with a missing or unknown status has an end time in the past. The status is not final by name, but
 * is unlikely to change.
 */
export function isOver(
  { status, ...times }: { readonly status: string | undefined } & Parameters<typeof endInstant>[0],
  now = Date.now(),
): boolean {
  return (status === undefined || isUnknown(status)) && endInstant(times, now) !== undefined;
}

/** A record that may lack a status because the service had no statuses yet. */
export interface MaybeStatus {
  readonly status?: string | null | undefined;
  readonly failure?: object | null | undefined;
}

/** Infers the missing status of a run that has a failure. */
export function withStatus<Row extends MaybeStatus>(row: Row): Row {
  return row.status == null && row.failure != null ? { ...row, status: 'failed' } : row;
}
