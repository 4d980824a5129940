/** What a comparison comes to, in lines. Pure. */
import type { ComparedTask } from '../../../queries/compare.ts';
import { counted, difference, reward } from '../../../text/numbers.ts';
import { mean, pairedDifference } from '../../../text/statistics.ts';
import { truncate } from '../../../text/width.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

export interface ComparedNames {
  readonly first: string;
  readonly second: string;
}

function defined(values: readonly (number | undefined)[]): number[] {
  return values.filter(value => value !== undefined);
}

/** The means, the paired difference with its confidence interval, and on how many tasks which run did better. */
export function comparisonLines(
  tasks: readonly ComparedTask[],
  { first, second }: ComparedNames,
  width: number,
  { styles }: Theme,
): string[] {
  const headOf = (label: string, rewards: readonly number[], name: string): string =>
    `${label}  ${reward(mean(rewards))} of ${counted(rewards.length, 'task')}  ${name}`;
  const heads = [
    headOf('first ', defined(tasks.map(task => task.first)), first),
    headOf('second', defined(tasks.map(task => task.second)), second),
  ];
  const differences = defined(tasks.map(task => task.difference));
  const pairs = tasks.flatMap(task =>
    task.first === undefined || task.second === undefined ? [] : [[task.first, task.second] as const],
  );
  const paired = pairedDifference(pairs);
  if (!paired) return [...heads, 'No task has a reward in both.'].map(line => truncate(line, width));
  const [low, high] = paired.interval ?? [];
  const between =
    low === undefined || high === undefined
      ? 'from one task only'
      : `95% between ${difference(low)} and ${difference(high)}`;
  const verdict = verdictOf(low, high);
  const count = (test: (value: number) => boolean): number => differences.filter(test).length;
  const tally = `${count(value => value > 0)} better, ${count(value => value < 0)} worse, ${count(value => value === 0)} same`;
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
