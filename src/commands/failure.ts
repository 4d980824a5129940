/** How a command that cannot go on says so: one message, no stack, no secret; and the exit code that says what kind it was. */

import { redactor } from '../config/redaction.ts';
import { describeError, type ErrorKind, ServiceError } from '../service/errors.ts';
import { asError, errorCode } from '../text/errors.ts';
import { safeJson, sanitise } from '../text/sanitise.ts';

/** What a script can tell apart. */
export const exitCodes = {
  done: 0,
  /** It was refused, or what was watched ended badly. */
  failed: 1,
  /** The command line or the settings are wrong: nothing was asked. */
  usage: 2,
  /** Nobody answered, or not in time: the same again may work. */
  unreachable: 3,
  /** No credential, a wrong one, or one that may not do this. */
  forbidden: 4,
  notFound: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure of the command itself. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.usage) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The exit code of an error of the service layer, by its kind. */
export function exitCodeOfKind(kind: ErrorKind): ExitCode {
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
    case 'read_only':
      return exitCodes.usage;
    case 'cancelled':
      return exitCodes.interrupted;
    default:
      return exitCodes.failed;
  }
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ServiceError) return exitCodeOfKind(error.kind);
  if (!(error instanceof Error)) return exitCodes.failed;
  const code = errorCode(error) ?? '';
  if (error.name === 'AbortError') return exitCodes.interrupted;
  return error.name === 'ConfigError' || code.startsWith('ERR_PARSE_ARGS') ? exitCodes.usage : exitCodes.failed;
}

/** The failure in words, without what is secret or unsafe. */
export function messageOf(error: unknown): string {
  return sanitise(redactor([])(describeError(asError(error))), { multiline: true });
}

/** The failure as it is told at the end: as JSON where the result would have been JSON. */
export function describeFailure(error: unknown, asJson: boolean): string {
  if (!asJson) return `benchtop: ${messageOf(error)}`;
  const { message, name } = error instanceof Error ? error : { message: String(error), name: 'Error' };
  const known = error instanceof ServiceError ? error.toJSON() : { name, message };
  return redactor([])(safeJson({ error: known }));
}

/** Prints the failure to standard error and gives the exit code. */
export function reportFailure(error: unknown, asJson = false): ExitCode {
  process.stderr.write(`${describeFailure(error, asJson)}\n`);
  return exitCodeOf(error);
}
