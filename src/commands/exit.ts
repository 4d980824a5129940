/** Exit codes and the errors that carry them. Imports nothing. */

export const exitCodes = {
  done: 0,
  /** Refused by the service, or the watched work failed. */
  failed: 1,
  /** The command line, a file or the settings are wrong; nothing was changed. */
  usage: 2,
  /** No response, or none in time, and nothing was changed; a retry may work. */
  unreachable: 3,
  /** No credential, or one that was refused. */
  forbidden: 4,
  notFound: 5,
  /**
   * It is unknown whether the work ended, a change was made or an upload was stored, or there is no history of what
   * ended.
   */
  endUnseen: 6,
  /** The service does not offer this operation. */
  unsupported: 7,
  /** An alarm from the settings is active, and nothing worse happened. */
  alarm: 8,
  /** Not ended within --timeout. */
  timeout: 124,
  interrupted: 130,
  /** Ended by SIGHUP, SIGQUIT or SIGTERM; the codes are those a shell reports. */
  hungUp: 129,
  quit: 131,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Interruptions first, then known failures, then unknown outcomes, and last the failures that a retry may fix. */
const worstFirst: readonly ExitCode[] = [
  exitCodes.interrupted,
  exitCodes.terminated,
  exitCodes.hungUp,
  exitCodes.quit,
  exitCodes.failed,
  exitCodes.usage,
  exitCodes.forbidden,
  exitCodes.notFound,
  exitCodes.unsupported,
  exitCodes.alarm,
  exitCodes.timeout,
  exitCodes.endUnseen,
  exitCodes.unreachable,
];

/** The exit code for a command on several resources, in any order. */
export const worstOf = (codes: readonly ExitCode[]): ExitCode =>
  worstFirst.find(code => codes.includes(code)) ?? exitCodes.done;

/** A failure of the command itself. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.usage) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** An interruption from outside; it ends every wait. */
export class Interruption extends Error {
  override readonly name = 'AbortError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super('The command was interrupted.');
    this.exitCode = exitCode;
  }
}
