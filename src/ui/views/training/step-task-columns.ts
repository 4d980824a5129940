/** Columns and facts of a task in a training step. */
import type { Column } from '../../../present/column.ts';
import type { Fact } from '../../../present/fact.ts';
import type { StepTask } from '../../../present/step-tasks.ts';
import { groupWords } from '../../../present/teaching.ts';
import { reward } from '../../../text/numbers.ts';
import { levelRange, sparkline } from '../../widgets/bars.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

export const taskColumn: Column<StepTask> = {
  id: 'task',
  title: 'TASK',
  width: { min: 12, max: 60, grow: 2 },
  value: row => row.task_id,
};

const rewardColumn = (id: string, title: string, of: (row: StepTask) => number | undefined): Column<StepTask> => ({
  ...{ id, title, width: 6, align: 'right' },
  value: of,
  text: row => reward(of(row)),
});

/** `8`, or `7 of 8` if one has no reward. */
const countWords = ({ scores, rollouts }: StepTask): string =>
  scores.length === rollouts.length ? String(scores.length) : `${scores.length} of ${rollouts.length}`;

/** Cells of the rewards, lowest first, as levels. */
const spreadWidth = 8;

export function stepTaskColumns(theme: Theme): readonly Column<StepTask>[] {
  return [
    {
      id: 'n',
      title: 'N',
      width: { min: 3, max: 9, grow: 0 },
      align: 'right',
      value: row => row.scores.length,
      text: countWords,
    },
    rewardColumn('mean', 'MEAN', row => row.mean),
    {
      id: 'spread',
      title: 'SPREAD',
      width: spreadWidth,
      value: row => row.scores.join(' '),
      text: ({ scores }) => sparkline(scores, spreadWidth, theme, levelRange(scores)),
      filtered: false,
    },
    rewardColumn('lowest', 'MIN', row => row.scores[0]),
    rewardColumn('highest', 'MAX', row => row.scores.at(-1)),
    {
      ...{ id: 'tokens', title: 'TOKENS', width: 6, align: 'right', ifAny: true },
      value: row => row.tokens,
      text: row => (row.tokens === undefined ? '' : String(Math.round(row.tokens))),
    },
    { id: 'signal', title: 'SIGNAL', width: 8, value: row => signalWord(row) },
  ];
}

const signalWord = ({ kind }: StepTask): string => (kind === 'teaches' ? 'teaches' : groupWords[kind]);

export function stepTaskFacts(row: StepTask): readonly Fact[] {
  return [
    { label: 'task', value: row.task_id },
    { label: 'rollouts', value: countWords(row) },
    { label: 'mean', value: reward(row.mean) },
    { label: 'rewards', value: row.scores.map(reward).join(' ') },
    { label: 'tokens', value: row.tokens === undefined ? undefined : `${reward(row.tokens)} on average` },
    { label: 'signal', value: signalWord(row) },
  ];
}
