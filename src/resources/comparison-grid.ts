/** Compares several evaluation runs with a baseline, overall and by task. */
import { maxOf, minOf } from '../base/many.ts';
import { mean } from '../base/statistics.ts';
import { type Column, cellText, plainColumn } from '../present/column.ts';
import { type Fact, referenceFact } from '../present/fact.ts';
import { describeNote, type NotesById } from '../present/notes.ts';
import { formatInterval, intervalColumn, numberColumn } from '../present/number-columns.ts';
import { longestValue, optionWord } from '../present/start-name.ts';
import { type ComparisonOptions, comparisonDefaults, ofSameRun } from '../present/statistics/comparison.ts';
import { confidenceOfEach } from '../present/statistics/family.ts';
import type { TaskMean } from '../present/statistics/task-mean.ts';
import { describeVerdictKind } from '../present/statistics/verdict.ts';
import { type ComparedRun, compareTasks } from '../queries/compare.ts';
import { ratedRewards, rewardsByTask, taskIds } from '../queries/run-rewards.ts';
import { counted, difference, none, percent, type reward } from '../text/numbers.ts';
import { truncate } from '../text/width.ts';
import type { AnswerEnds } from './answer-ends.ts';
import { compareRuns, describePaired, describeTally, describeTaskMean, type NamedComparison } from './comparison.ts';
import { modelColumn } from './models.ts';
import { withPool } from './pools.ts';
import { optionColumns } from './training-columns.ts';

/** Maximum number of runs in a grid. */
export const maxCompared = 8;

/** One run in a grid. */
export interface GridRow extends ComparedRun {
  /** Names the run above its column in the task table: `A`. */
  readonly letter: string;
  /** A few words that distinguish it from the others; empty if only its name or id distinguishes it. */
  readonly apart: string;
  /** Its name, followed by `apart` if others share the name. */
  readonly title: string;
  /** `apart` alone, if it distinguishes as many runs as the titles do; otherwise the title. */
  readonly shortTitle: string;
  readonly isBase: boolean;
  readonly mean: TaskMean;
  /** The comparison with the baseline. */
  readonly compared: NamedComparison;
  /** The number of similar tasks that would confirm a difference half as large; undefined if out of reach. */
  readonly tasksForHalf: number | undefined;
}

export interface Grid {
  readonly rows: readonly GridRow[];
  /** The confidence of each interval, chosen so that all of them together hold with the usual confidence. */
  readonly confidence: number;
}

/**
 * Compares each run with the baseline, by task.
 *
 * @param ends how each run's answers ended, if known
 */
export function gridOf(
  runs: readonly ComparedRun[],
  baseId: string,
  options: ComparisonOptions = comparisonDefaults,
  ends: readonly (AnswerEnds | undefined)[] = [],
): Grid {
  const base = runs.find(({ id }) => id === baseId) ?? runs[0];
  const confidence = confidenceOfEach(runs.length - 1, options.confidence);
  if (!base) return { rows: [], confidence };
  const apart = distinguishingLabels(runs);
  const titles = runs.map(({ name }, index) => {
    const isShared = runs.some((other, at) => at !== index && other.name === name);
    return isShared && apart[index] ? `${name} (${apart[index]})` : name;
  });
  const shortTitles = shortTitlesOf(runs, apart, titles);
  const rows = runs.map((run, index): GridRow => {
    const isBase = run === base;
    const compared = compareRuns(compareTasks(base.read, run.read), { ...options, confidence }, [
      ends[runs.indexOf(base)],
      ends[index],
    ]);
    return {
      ...run,
      apart: apart[index] ?? '',
      title: titles[index] ?? run.name,
      shortTitle: shortTitles[index] ?? run.name,
      letter: String.fromCharCode('A'.charCodeAt(0) + index),
      isBase,
      mean: compared.new,
      compared: isBase ? ofSameRun(compared) : compared,
      tasksForHalf: isBase ? undefined : compared.tasksForHalf(),
    };
  });
  return { rows, confidence };
}

const countDistinct = (words: readonly string[]): number => new Set(words).size;

/** Each run's model, followed by the options in which it differs from the model's other runs. */
function distinguishingLabels(runs: readonly ComparedRun[]): readonly string[] {
  const options = optionColumns(runs).filter(({ hidden }) => !hidden);
  const models = runs.map(({ model = '' }) => model);
  const withoutVendor = models.map(model => model.slice(model.lastIndexOf('/') + 1));
  const features = [
    countDistinct(withoutVendor) < countDistinct(models) ? models : withoutVendor,
    ...options.map(column => {
      const word = optionWord(column.id.slice('option.'.length));
      const values = runs.map(run => cellText(column, run) || none);
      const short = values.map(value => truncate(value, longestValue, { position: 'middle' }));
      return (countDistinct(short) < countDistinct(values) ? values : short).map(value => `${word} ${value}`);
    }),
  ];
  let words = runs.map(() => '');
  for (const feature of features) {
    const alike = Map.groupBy(runs.keys(), index => words[index]);
    words = words.map((each, index) => {
      const differs = new Set(alike.get(each)?.map(other => feature[other])).size > 1;
      return differs ? `${each} ${feature[index]}`.trim() : each;
    });
  }
  return words;
}

/** The short titles, see `shortTitle`. They may appear next to full titles, so none equals another run's title. */
function shortTitlesOf(
  runs: readonly ComparedRun[],
  apart: readonly string[],
  titles: readonly string[],
): readonly string[] {
  const short = titles.map((title, index) => (apart[index] ? withPool(apart[index], runs[index]?.pool) : title));
  const isTaken = short.some((each, index) => titles.some((title, at) => at !== index && title === each));
  return isTaken || countDistinct(short) < countDistinct(titles) ? titles : short;
}

/** Why the intervals are wider than those for two runs. */
export function describeFamilyIntervals({ rows, confidence }: Grid, together: number): string {
  const comparisons = rows.length - 1;
  if (comparisons < 2) return '';
  return `${percent(confidence)} CI each, so that all ${comparisons} hold at ${percent(together)} (Bonferroni)`;
}

/**
 * Details that the table omits: the flags and notes of a run, why its comparison is undecided, or the tasks and the
 * condition behind its verdict.
 */
export function gridVerdicts(
  { rows }: Grid,
  notes: NotesById,
): readonly (Pick<GridRow, 'letter' | 'name'> & { readonly words: string })[] {
  return rows.flatMap(row => {
    const { verdict, caution, endsText } = row.compared;
    const words = [verdict.words, endsText, describePaired(row.compared), caution].filter(Boolean).join('; ');
    const isPlain = row.isBase || words === describeVerdictKind(verdict.kind);
    const parts = [
      ...describeNote((row.pool ?? [row.id]).flatMap(id => notes.get(id) ?? [])),
      ...(isPlain ? [] : [words]),
    ];
    return parts.length === 0 ? [] : [{ letter: row.letter, name: row.name, words: `${parts.join('; ')}.` }];
  });
}

/** The verdict in one word. */
const verdictWord = ({ isBase, compared }: GridRow): string => (isBase ? 'baseline' : compared.verdict.kind);

/** The columns for the runs, most important first. */
export function gridColumns(confidence: number): readonly Column<GridRow>[] {
  return [
    plainColumn('run', 'RUN', { min: 8, max: 100, grow: 3 }, row => row.name, {
      text: row => row.title,
      shortText: row => row.shortTitle,
    }),
    { id: 'letter', title: '#', width: 1, value: row => row.letter },
    // Show the mean over the tasks that both runs share, so that DIFF is the difference of the means.
    {
      ...numberColumn<GridRow>('mean', 'MEAN', row => (row.isBase ? row.mean.mean : row.compared.paired.new)),
      bestFirst: true,
    },
    {
      ...numberColumn<GridRow>('difference', 'DIFF', row => (row.isBase ? 0 : row.compared.difference)),
      width: 7,
      text: row => (row.isBase ? '' : difference(row.compared.difference)),
      bestFirst: true,
    },
    { id: 'verdict', title: 'VERDICT', width: 9, whole: true, value: verdictWord },
    {
      ...intervalColumn<GridRow>(row => (row.isBase ? undefined : row.compared.interval), {
        id: 'interval',
        title: `${percent(confidence)} CI`,
        text: difference as typeof reward,
      }),
      width: 14,
    },
    numberColumn('n', 'N', row => (row.isBase ? row.mean.tasks : row.compared.pairs), { text: String }),
    numberColumn('half', 'N FOR DIFF/2', row => row.tasksForHalf, { text: String }),
    { ...modelColumn<GridRow>(row => row.model), ifAny: true },
  ];
}

/** A run in words. */
export function gridFacts(row: GridRow): readonly Fact[] {
  const { isBase, compared, tasksForHalf } = row;
  const { interval, verdict } = compared;
  return [
    { label: 'run', value: row.name },
    { label: 'differs in', value: row.model?.endsWith(row.apart) ? undefined : row.apart },
    ...(row.pool ?? [row.id]).map(id => referenceFact('id', 'runs', id)),
    { label: 'model', value: row.model },
    { label: 'mean', value: describeTaskMean(row.mean) },
    { label: 'full reward', value: compared.fullRewardTexts?.new || undefined },
    { label: 'means', value: (!isBase && describePaired(compared)) || undefined },
    { label: 'status', value: row.read.status ?? 'not reported' },
    ...(isBase
      ? [{ label: 'verdict', value: 'the baseline' }]
      : [
          { label: 'difference', value: difference(compared.difference) },
          {
            label: 'interval',
            value:
              interval &&
              formatInterval({ ...interval, confidence: Number(interval.confidence.toFixed(3)) }, difference),
          },
          { label: 'verdict', value: verdict.words },
          { label: 'answers', value: compared.endsText || undefined },
          { label: 'tasks', value: compared.pairs === 0 ? undefined : describeTally(compared) },
          { label: 'caution', value: compared.caution || undefined },
          {
            label: 'n for diff/2',
            value:
              tasksForHalf === undefined
                ? undefined
                : `${counted(tasksForHalf, 'task')} like these would show a difference half as large`,
          },
        ]),
  ];
}

/** A task that all runs share. */
interface GridTask {
  readonly task_id: string;
  /** The mean of each run, in the order of the runs. */
  readonly means: readonly (number | undefined)[];
  /** The highest mean minus the lowest. */
  readonly spread: number | undefined;
}

/** The tasks that all runs share, largest spread first. */
export function gridTasks(runs: readonly ComparedRun[]): readonly GridTask[] {
  const ids = [...new Set(runs.flatMap(({ read }) => taskIds(read.rewards)))];
  const tasks = runs.map(({ read }) => rewardsByTask(read).tasks);
  return ids
    .map(task_id => {
      const means = tasks.map(byTask => {
        const rollouts = byTask.get(task_id);
        return rollouts && mean(ratedRewards(rollouts));
      });
      const known = means.filter(each => each !== undefined);
      const spread = known.length < 2 ? undefined : maxOf(known) - minOf(known);
      return { task_id, means, spread };
    })
    .sort((one, other) => (other.spread ?? -1) - (one.spread ?? -1));
}

/** The task columns, including one per run, titled with its letter. */
export function taskColumns(rows: readonly GridRow[]): readonly Column<GridTask>[] {
  return [
    { id: 'task', title: 'TASK', width: { min: 12, max: 60, grow: 1 }, value: row => row.task_id },
    ...rows.map(({ letter }, index) => ({
      ...numberColumn<GridTask>(letter, letter, row => row.means[index]),
      width: 5,
    })),
    numberColumn('spread', 'SPREAD', row => row.spread),
  ];
}
