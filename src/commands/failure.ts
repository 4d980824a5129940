/** How a command that cannot go on says so: one message, no stack, no secret. */
import { redactor } from '../config/redaction.ts';
import { sanitise } from '../text/sanitise.ts';

/** Exit code for what the user can mend: a wrong flag or setting. */
export const usageError = 2;

/** Prints the failure to standard error and gives the exit code. */
export function reportFailure(error: unknown): number {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`benchtop: ${sanitise(redactor([])(message), { multiline: true })}\n`);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('ERR_PARSE_ARGS') || (error instanceof Error && error.name === 'ConfigError') ? usageError : 1;
}
