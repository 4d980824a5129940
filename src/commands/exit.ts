/** How a command ends: what a script can distinguish. Loads nothing. */

export const exitCodes = {
  done: 0,
  /** It was refused, or what was watched ended badly. */
  failed: 1,
  /** The command line or the settings are wrong: nothing was asked. */
  usage: 2,
  /** No answer, or not in time: the same again may work. */
  unreachable: 3,
  /** No credential, a wrong one, or one that may not do this. */
  forbidden: 4,
  notFound: 5,
  /** It had not ended when the time given with --timeout was over. */
  timeout: 124,
  interrupted: 130,
  /** By SIGHUP and SIGTERM, as a shell counts them. */
  hungUp: 129,
  terminated: 143,
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

/** Why a command was stopped from outside; every wait ends with it. */
export class Interruption extends Error {
  override readonly name = 'AbortError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super('The command was interrupted.');
    this.exitCode = exitCode;
  }
}
