/** The grader that the flags of `regrade` and `compare` name. */
import { readFileSync } from 'node:fs';
import { errorMessage } from '../base/errors.ts';
import { type Gradable, type Grade, regradeAll } from '../rollouts/regrade.ts';
import { type GraderChoice, GraderError, type Regrader, regraderOf } from '../rollouts/regraders.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError } from './exit.ts';
import type { CommandIo } from './io.ts';
import type { CommandInput } from './table/commands.ts';
import type { CommandContext } from './with-service.ts';

type GraderFlags = Pick<CommandInput<'regrade'>['flags'], 'with' | 'command' | 'limit' | 'judge' | 'rubric'>;

/** A rubric, or the content of the file named after `@`. @throws CommandError */
function rubricOf(rubric: string): string {
  if (!rubric.startsWith('@')) return rubric;
  try {
    return readFileSync(rubric.slice(1), 'utf8');
  } catch (error) {
    throw new CommandError(clean`The rubric cannot be read: ${errorMessage(error)}`);
  }
}

/** @throws CommandError if the rubric cannot be read */
function choiceIn({ with: grader, command, judge, rubric = '', limit = 30 }: GraderFlags): GraderChoice | undefined {
  if (judge !== undefined) return { kind: 'model', model: judge, rubric: rubricOf(rubric) };
  if (grader !== undefined) return { kind: 'local', words: grader };
  return command === undefined ? undefined : { kind: 'command', line: command, seconds: limit };
}

/** Returns the grader, and a function that creates it; undefined if none is named. @throws CommandError */
export function graderIn(flags: GraderFlags, io: CommandIo) {
  const choice = choiceIn(flags);
  // A grading program has its own process group, so a signal to this program does not reach it.
  if (choice) io.stopOnSignals?.();
  try {
    return choice && { choice, graderFor: regraderOf(choice) };
  } catch (error) {
    throw error instanceof GraderError ? new CommandError(error.message) : error;
  }
}

const progressMs = 10_000;

/** Grades rollouts, and notes from time to time how many are done. @throws as `regradeAll` does */
export async function regradeNoting(
  rows: readonly Gradable[],
  grader: Regrader,
  context: CommandContext,
): Promise<readonly Grade[]> {
  let done = 0;
  const say = (): void => context.io.note(`Regrading: ${done} of ${counted(rows.length, 'rollout')} so far.`);
  const timer = setInterval(say, progressMs);
  try {
    return await regradeAll(rows, grader, context, ({ length }) => {
      done = length;
    });
  } finally {
    clearInterval(timer);
  }
}
