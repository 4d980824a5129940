/**
 * How a command reports a failure: one message, without a stack or secrets, and an exit code for the kind of error.
 */

import { asError } from '../base/errors.ts';
import { ConfigError } from '../config/origin.ts';
import { redactor } from '../config/redaction.ts';
import { isCertificateError } from '../net/failure.ts';
import {
  describeError,
  type ErrorKind,
  hasNoRoom,
  isUnanswered,
  isUnsupported,
  ServiceError,
} from '../service/errors.ts';
import { safeJson, sanitise } from '../text/sanitise.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';

function exitCodeOfKind(kind: ErrorKind): ExitCode {
  switch (kind) {
    case 'network':
    case 'timeout':
    case 'rate_limit':
    case 'server':
      return exitCodes.unreachable;
    case 'authentication':
    case 'permission':
      return exitCodes.forbidden;
    case 'not_found':
      return exitCodes.notFound;
    case 'request':
    case 'validation':
    case 'read_only':
      return exitCodes.usage;
    case 'capability_missing':
      return exitCodes.unsupported;
    case 'cancelled':
      return exitCodes.interrupted;
    default:
      return exitCodes.failed;
  }
}

/** After a write that may have happened, no other code fits: 3 would invite a script to repeat it. */
export function exitCodeOf(error: unknown): ExitCode {
  const code = exitCodeOfError(error);
  return isUnanswered(error) && code !== exitCodes.interrupted ? exitCodes.endUnseen : code;
}

function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ServiceError) {
    // Some servers report an unknown path as an invalid request.
    const isUnknownPath = error.status === 404 && (error.kind === 'validation' || error.kind === 'api');
    if (isUnknownPath) return exitCodes.notFound;
    // A retry would fail too.
    if (isUnsupported(error.status)) return exitCodes.unsupported;
    // A certificate will not change on its own.
    if (error.kind === 'network' && isCertificateError(error.code)) return exitCodes.failed;
    // Refused by benchtop, because there is no credential to send.
    const lacksCredential = error.kind === 'request' && error.code?.startsWith('credential_');
    return lacksCredential ? exitCodes.forbidden : exitCodeOfKind(error.kind);
  }
  if (!(error instanceof Error)) return exitCodes.failed;
  if (error.name === 'AbortError') return exitCodes.interrupted;
  return error instanceof ConfigError ? exitCodes.usage : exitCodes.failed;
}

/**
 * The exit code after a change. Never one that means that nothing was changed. If the service has no room, its outcome
 * is known: nothing more was stored.
 */
export function exitCodeAfterChange(error: unknown): ExitCode {
  const code = exitCodeOf(error);
  if (code === exitCodes.usage || (code === exitCodes.unreachable && hasNoRoom(error))) return exitCodes.failed;
  return code === exitCodes.unreachable ? exitCodes.endUnseen : code;
}

/**
 * The failure in words, without secrets or unsafe characters: one line, except for a list of problems in the settings.
 */
export function messageOf(error: unknown): string {
  return sanitise(redactor([])(describeError(asError(error))), { multiline: error instanceof ConfigError });
}

/** The kind of an error from outside the service layer, by exit code. */
const kindOfExitCode: Readonly<Record<ExitCode, string>> = {
  [exitCodes.done]: 'done',
  [exitCodes.failed]: 'failed',
  [exitCodes.usage]: 'usage',
  [exitCodes.unreachable]: 'unreachable',
  [exitCodes.forbidden]: 'credential',
  [exitCodes.notFound]: 'not_found',
  [exitCodes.endUnseen]: 'end_unseen',
  [exitCodes.unsupported]: 'unsupported',
  [exitCodes.alarm]: 'alarm',
  [exitCodes.timeout]: 'timeout',
  [exitCodes.interrupted]: 'cancelled',
  [exitCodes.hungUp]: 'cancelled',
  [exitCodes.quit]: 'cancelled',
  [exitCodes.terminated]: 'cancelled',
};

/** Field names as the contract writes them: `request_id` for `requestId`. */
function inSnakeCase(record: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** An error as data: its kind, its message, the exit code, and facts about the request. */
function errorRecord(error: unknown, exit_code: ExitCode): Record<string, unknown> {
  if (error instanceof ServiceError) return { ...inSnakeCase(error.toJSON()), exit_code };
  const { message, name } = asError(error);
  return { name, kind: kindOfExitCode[exit_code], message, exit_code };
}

/** The error as text to print. */
export const describeFailure = (error: unknown): string => `benchtop: ${messageOf(error)}`;

/** The error as JSON, without secrets. */
export const failureJson = (error: unknown, code = exitCodeOf(error)): string =>
  redactor([])(safeJson({ error: errorRecord(error, code) }));

/** Prints the failure to standard error. Returns the exit code. */
export function reportFailure(error: unknown): ExitCode {
  process.stderr.write(`${describeFailure(error)}\n`);
  return exitCodeOf(error);
}
