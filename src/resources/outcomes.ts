/** Columns and facts for rollout outcomes. */
import { type Column, plainColumn } from '../present/column.ts';
import type { Fact } from '../present/fact.ts';
import { numberColumn } from '../present/number-columns.ts';
import { differingWords, type OutcomeClass, outcomeKinds } from '../present/outcome-classes.ts';
import { counted, percent, reward } from '../text/numbers.ts';

const countOf = ({ rows }: OutcomeClass): number => rows.length;

/** The class in words; `none` for rollouts whose end is unknown. */
export const formatClass = ({ value }: Pick<OutcomeClass, 'value'>): string => value ?? 'none';

export const outcomeColumns: readonly Column<OutcomeClass>[] = [
  plainColumn('class', 'CLASS', { min: 12, max: 120, grow: 9 }, formatClass, { cutAt: 'end' }),
  plainColumn('by', 'BY', { min: 6, max: 13, grow: 1 }, ({ by }) => outcomeKinds[by], { shortText: ({ by }) => by }),
  numberColumn('count', 'COUNT', countOf, { text: String }),
  { ...numberColumn('share', 'SHARE', ({ share }: OutcomeClass) => share, { text: percent }), width: 6 },
  numberColumn('mean', 'MEAN', ({ mean }) => mean),
  {
    ...numberColumn('rewards', 'REWARDS', ({ scores }: OutcomeClass) => scores.length, { text: String }),
    yields: true,
  },
];

/** How many of the words in which a class differs are listed. */
const mostWords = 8;

export function outcomeFacts(row: OutcomeClass): readonly Fact[] {
  const [first] = row.rows;
  const words = differingWords(row);
  const named = words.slice(0, mostWords).map(([word, count]) => `${word} ${count}`);
  const others = words.length > mostWords ? [`${words.length - mostWords} others`] : [];
  return [
    { label: outcomeKinds[row.by], value: formatClass(row) },
    { label: 'differ in', value: [...named, ...others].join(', ') || undefined },
    { label: 'count', value: row.rows.length },
    { label: 'share', value: percent(row.share) },
    { label: 'mean', value: `${reward(row.mean)} over ${counted(row.scores.length, 'reward')}` },
    { label: 'tasks', value: new Set(row.rows.map(({ task_id }) => task_id)).size },
    { label: 'example', value: row.by === 'error' ? first?.error : undefined },
  ];
}
