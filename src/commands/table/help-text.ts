/** Text shared by help, the man page and README. */

export const programDescription =
  `A workbench for a model training and evaluation service. Without a command it opens a full
screen; without a configured service it uses the local one.`.replaceAll('\n', ' ');

/** Exit codes for scripts, also listed in README. */
export const exitCodeMeanings: readonly (readonly [code: number, words: string])[] = [
  [0, 'done'],
  [1, 'refused, or failed'],
  [2, 'wrong flags, values, files or settings: nothing was changed'],
  [3, 'no response, nothing was changed: a retry may work'],
  [4, 'the credential is missing or refused'],
  [5, 'not found'],
  [6, 'outcome unknown: response lost or unclear, or no status or history'],
  [7, 'the service does not offer this'],
  [8, 'an alarm, and nothing worse'],
  [124, 'not ended within --timeout'],
  [129, 'ended by SIGHUP while it waited'],
  [130, 'interrupted'],
  [131, 'ended by SIGQUIT while it waited'],
  [143, 'ended by SIGTERM while it waited'],
];

export const helpFooter = `Flags that select the service may also follow the command. Results go to
standard output, everything else to standard error; with --json both are JSON.

Exit codes:
${exitCodeMeanings.map(([code, words]) => `  ${String(code).padEnd(5)}${words}`).join('\n')}

benchtop COMMAND --help explains a command.`;
