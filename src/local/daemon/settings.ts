/** Decides whether a program can use the running service. */
import { realpathSync } from 'node:fs';
import type { Upstream } from '../engine/upstream.ts';
import type { RateLimit } from '../server/rate-limit.ts';
import { keyringOf } from './files.ts';

/** When a program looks for the service: when a screen or a command starts, or after losing it. */
export type LocateReason = 'start' | 'command' | 'lost';

/** Settings that can be changed only by restarting the service. */
export interface ServiceSettings {
  /** A server for models that are not local. */
  readonly upstream?: Upstream | undefined;
  /** The rate limit per key. The default is more than programs on one machine send. */
  readonly rateLimit?: RateLimit | undefined;
}

/**
 * The same for equal settings on the same data folder. If the upstream server has a key, this is a keyed hash, which
 * reveals nothing about that key without access to the folder.
 *
 * @throws DataFolderError
 */
export function fingerprintOf(dataFolder: string, { upstream, rateLimit }: ServiceSettings): string {
  const limit = rateLimit ? [rateLimit.perSecond, rateLimit.burst] : [];
  const parts = [realpathSync(dataFolder), upstream?.url ?? '', upstream?.key ?? '', ...limit];
  // Loading Node's cryptography would slow down the start.
  return upstream?.key ? keyringOf(dataFolder).sign('settings', parts) : JSON.stringify(parts);
}

export interface RunningSettings {
  readonly pid: number;
  readonly version: string;
  readonly fingerprint: string;
  readonly upstream: string | null;
  /** Whether it was started for a screen rather than by hand. */
  readonly background: boolean;
}

/** The settings of the service that a program would start. */
interface RequestedSettings {
  readonly version: string;
  readonly fingerprint: string;
  readonly upstream: string | undefined;
}

export type Decision =
  | { readonly use: false }
  /** `note` is a sentence about the differences. */
  | { readonly use: true; readonly note: string | undefined };

/**
 * Decides whether to use or replace a running service. It is replaced only when a program starts: two screens with
 * different settings must not keep replacing each other's service. A service started by hand is never replaced.
 */
export function decide(running: RunningSettings, requested: RequestedSettings, reason: LocateReason): Decision {
  const sameVersion = running.version === requested.version;
  if (sameVersion && running.fingerprint === requested.fingerprint) return { use: true, note: undefined };
  // A command without an upstream server must not take it away from an open screen.
  const differs = !sameVersion || reason === 'start' || requested.upstream !== undefined;
  if (reason !== 'lost' && running.background && differs) return { use: false };
  if (reason === 'command' && sameVersion && requested.upstream === undefined) return { use: true, note: undefined };
  return { use: true, note: settingsNote(running, requested) };
}

function settingsNote({ pid, version, upstream, background }: RunningSettings, requested: RequestedSettings): string {
  const who = background ? 'started for another screen' : 'started by hand';
  if (version !== requested.version) {
    const older = version === '' ? 'an older version' : `version ${version}`;
    return `The local service (process ${pid}, ${who}) is ${older}, this program is ${requested.version}. Stop it with \`benchtop serve --stop\` to use this version.`;
  }
  const upstreamText = upstream === null ? 'no upstream server' : `the upstream server ${upstream}`;
  return `The local service (process ${pid}, ${who}) runs with different settings: ${upstreamText}. Stop it with \`benchtop serve --stop\` to use yours.`;
}
