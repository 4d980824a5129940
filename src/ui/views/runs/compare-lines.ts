/** What a comparison comes to, in lines. Pure. */
import { type ComparedRuns, type ComparedTask, summariseComparison } from '../../../queries/compare.ts';
import { counted, difference, reward } from '../../../text/numbers.ts';
import { truncate } from '../../../text/width.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

export interface ComparedNames {
  readonly first: string;
  readonly second: string;
}

/** The means, the paired difference with its confidence interval, and on how many tasks which run did better. */
export function comparisonLines(
  tasks: readonly ComparedTask[],
  { first, second }: ComparedNames,
  width: number,
  { styles }: Theme,
): string[] {
  const { paired, wins, losses, ties, ...runs } = summariseComparison(tasks);
  const headOf = (label: string, { mean, tasks: count }: ComparedRuns['first'], name: string): string =>
    `${label}  ${reward(mean)} of ${counted(count, 'task')}  ${name}`;
  const heads = [headOf('first ', runs.first, first), headOf('second', runs.second, second)];
  if (!paired) return [...heads, 'No task has a reward in both.'].map(line => truncate(line, width));
  const [low, high] = paired.interval ?? [];
  const between =
    low === undefined || high === undefined
      ? 'from one task only'
      : `95% between ${difference(low)} and ${difference(high)}`;
  const verdict = verdictOf(low, high);
  const tally = `${wins} better, ${losses} worse, ${ties} same`;
  const sums = [`diff    ${difference(paired.mean)}  ${between}`, `${verdict.words}: ${tally} of ${paired.count}`];
  return [
    ...heads.map(line => truncate(line, width)),
    ...sums.map(line => styles[verdict.style](truncate(line, width))),
  ];
}

function verdictOf(low: number | undefined, high: number | undefined) {
  if (low !== undefined && low > 0) return { style: 'success', words: 'clearly better' } as const;
  if (high !== undefined && high < 0) return { style: 'danger', words: 'clearly worse' } as const;
  return { style: 'warning', words: 'no clear difference' } as const;
}
