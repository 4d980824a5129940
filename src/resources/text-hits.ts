/** The hits of a text search, as a list and in words. */
import { type Column, idColumn } from '../present/column.ts';
import { type Fact, referenceFact } from '../present/fact.ts';
import type { Origin } from '../present/searched-text.ts';
import { counted, reward } from '../text/numbers.ts';
import { endOf, mostSearched, type Tally, type TextHit, type TextSearchState } from './text-search.ts';

/** `step 3, message 12, line 4` */
export const placeWords = ({ step, message, line }: Origin): string =>
  [step === undefined ? '' : `step ${step}`, message === undefined ? '' : `message ${message}`, `line ${line}`]
    .filter(Boolean)
    .join(', ');

/** `0: 32 of 41, 1: 2 of 900`; beyond the first few, kinds without a hit are left out. */
export function tallyWords(all: readonly Tally[], most = 8): string {
  const shown = all.filter(({ found }, index) => found > 0 || index < 4).slice(0, most);
  const rest = all.length - shown.length;
  const words = shown.map(({ name, found, of }) => `${name}: ${found} of ${of}`).join(', ');
  return rest > 0 ? `${words}, ${rest} more` : words;
}

/** Describes what was and was not searched. */
export function searchedWords(state: TextSearchState): string {
  const { phase, hits, known, searched, stored, unread, beyond, notes, error } = state;
  const all = counted(known, 'trajectory', 'trajectories');
  const progress = {
    listing: `${searched > 0 ? `searched ${searched}, ` : ''}listing: ${all} so far`,
    searching: `searched ${searched} of ${all}`,
    done: `searched ${searched} of ${all}`,
    stopped: `stopped after ${searched} of ${all}`,
    failed: `failed after ${searched} of ${all}`,
  }[phase];
  const linesIn = (of: 'lines' | 'other_lines'): string => {
    const some = hits.filter(hit => hit[of] > 0);
    const lines = some.reduce((sum, hit) => sum + hit[of], 0);
    return `${counted(lines, 'line')} in ${counted(some.length, 'trajectory', 'trajectories')}`;
  };
  const isAnyElsewhere = hits.some(hit => hit.other_lines > 0);
  return [
    phase === 'listing' && hits.length === 0 ? '' : linesIn('lines'),
    isAnyElsewhere ? `outside messages ${linesIn('other_lines')}` : '',
    progress,
    stored > 0 ? `${stored} from the index` : '',
    unread.length > 0 ? `${unread.length} could not be read in full` : '',
    beyond > 0 ? `the list is longer: at most ${mostSearched} are searched` : '',
    ...notes,
    error?.message ?? '',
  ]
    .filter(Boolean)
    .join(' · ');
}

export const hitColumns: readonly Column<TextHit>[] = [
  { id: 'task', title: 'TASK', width: { min: 10, max: 32, grow: 1 }, value: row => row.task_id ?? row.trajectory_id },
  {
    ...{ id: 'reward', title: 'REWARD', width: 8, align: 'right' },
    value: row => row.reward ?? undefined,
    text: row => reward(row.reward),
  },
  { id: 'role', title: 'ROLE', width: { min: 6, max: 20, grow: 1 }, value: row => row.at.role },
  { id: 'text', title: 'TEXT', width: { min: 24, max: 260, grow: 6 }, cutAt: 'end', value: row => row.excerpt },
  { id: 'lines', title: 'LINES', width: 5, align: 'right', value: row => row.lines },
  {
    ...{ id: 'other-lines', title: 'OTHER', width: 5, align: 'right', wide: true },
    value: row => row.other_lines,
  },
  { id: 'end', title: 'END', width: { min: 6, max: 16, grow: 1 }, wide: true, value: endOf },
  { id: 'where', title: 'WHERE', width: { min: 8, max: 34, grow: 1 }, wide: true, value: row => placeWords(row.at) },
  idColumn(row => row.trajectory_id),
];

export const hitFacts = (row: TextHit): readonly Fact[] => [
  { label: 'task', value: row.task_id },
  { label: 'id', value: row.trajectory_id },
  { label: 'reward', value: reward(row.reward) },
  { label: 'end', value: endOf(row) },
  { label: 'where', value: `${placeWords(row.at)}, ${row.at.role}` },
  { label: 'lines', value: row.lines },
  { label: 'other lines', value: row.other_lines > 0 ? `${row.other_lines} outside messages` : undefined },
  { label: 'text', value: row.excerpt },
  { label: 'error', value: row.error },
  referenceFact('run', 'runs', row.eval_run_id),
  referenceFact('training', 'training', row.training_run_id),
];
