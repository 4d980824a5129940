/** Finds errors on the screen and in the process of a program, independent of its content. */
import { smallest } from '../../src/ui/app/layout.ts';
import { deceptive } from './sequences.ts';

const corners = /^┌.*┐$/;
const bottom = /^└─+┘$/;

/** Words that only a bug puts on the screen. */
const slips = /\bundefined\b|\[object Object\]|\bNaN\b|Infinity|\bfunction \(/;

/** Descriptions of the errors of a frame of `columns` by `rows` cells. */
export function frameFailures(text: string, columns: number, rows: number): string[] {
  const lines = text.split('\n');
  const failures: string[] = [];
  if (deceptive.test(text)) failures.push('a control or bidi character is on the screen');
  if (columns < smallest.columns || rows < smallest.rows) return failures;
  if (lines.length !== rows) failures.push(`the frame has ${lines.length} lines instead of ${rows}`);
  if (!corners.test(lines[0] ?? '')) failures.push('the top border is broken');
  if (!bottom.test(lines.at(-1) ?? '')) failures.push('the bottom border is broken');
  const open = lines.findIndex((line, row) => row > 0 && row < rows - 1 && !/^[│├].*[│┤]$/u.test(line));
  if (open >= 0) failures.push(`the border is broken at line ${open + 1}`);
  return failures;
}

/** A word on the screen that only a bug puts there, and that the service did not send. */
export function slipOn(text: string, sent: () => string): string | undefined {
  const found = slips.exec(text)?.[0];
  return found !== undefined && !sent().includes(found) ? found : undefined;
}

export const showsHelp = (text: string): boolean => /─ Help|Help ─/.test(text);

/** Reports exceptions, rejections and React's console errors of this process. Returns a function that stops this. */
export function listen(fail: (what: string) => void): () => void {
  const say = (kind: string) => (error: unknown) =>
    fail(`${kind}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const exception = say('uncaught exception');
  const rejection = say('unhandled');
  const { error, warn } = console;
  const complain = (...parts: unknown[]): void => fail(`console: ${parts.map(String).join(' ').slice(0, 2_000)}`);
  Object.assign(console, { error: complain, warn: complain });
  process.on('uncaughtException', exception).on('unhandledRejection', rejection);
  return () => {
    Object.assign(console, { error, warn });
    process.off('uncaughtException', exception).off('unhandledRejection', rejection);
  };
}
