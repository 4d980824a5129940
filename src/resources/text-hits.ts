/** The hits of a text search: their columns, their facts and a summary. */
import { type Column, plainColumn } from '../present/column.ts';
import type { Fact } from '../present/fact.ts';
import type { Origin } from '../present/searched-text.ts';
import { counted } from '../text/numbers.ts';
import { matchIn, type TextMatch } from './text-matches.ts';
import type { TextHit, TextSearchState } from './text-search.ts';
import { trajectories, trajectoryFacts } from './trajectories.ts';

/** E.g. `step 3, message 12, line 4`. */
export const formatOrigin = ({ step, message, line }: Origin): string =>
  [
    step === undefined ? '' : `step ${step}`,
    message === undefined ? '' : `message ${message}`,
    line === 0 ? '' : `line ${line}`,
  ]
    .filter(Boolean)
    .join(', ');

/** Describes a search's progress, hits and gaps. @param goesOn how the user can search the rest of a longer list */
export function describeSearch(state: TextSearchState, goesOn: string): string {
  const { phase, hits, known, searched, stored, unread, beyond, notes, error } = state;
  const all = counted(known, 'trajectory', 'trajectories');
  const progress = {
    listing: `${searched > 0 ? `searched ${searched}, ` : ''}listing: ${all} so far`,
    searching: `searched ${searched} of ${all}`,
    done: `searched ${searched} of ${all}`,
    stopped: `stopped after ${searched} of ${all}`,
    failed: `failed after ${searched} of ${all}`,
  }[phase];
  const linesIn = (field: 'lines' | 'other_lines'): string => {
    const some = hits.filter(hit => hit[field] > 0);
    const lines = some.reduce((sum, hit) => sum + hit[field], 0);
    return `${counted(lines, 'line')} in ${counted(some.length, 'trajectory', 'trajectories')}`;
  };
  const isAnyElsewhere = hits.some(hit => hit.other_lines > 0);
  return [
    phase === 'listing' && hits.length === 0 ? '' : linesIn('lines'),
    isAnyElsewhere ? `outside messages ${linesIn('other_lines')}` : '',
    progress,
    stored > 0 ? `${stored} from the index` : '',
    unread.length > 0 ? `${unread.length} could not be read in full` : '',
    beyond > 0 ? `the list is longer: these are its first ${known}; ${goesOn}` : '',
    ...notes,
    error?.message ?? '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** The columns of trajectories. Columns that help to judge a match come before those with its place. */
const [task, rewardColumn, ...others] = trajectories.columns;
const otherColumns = others.map(
  ({ decides, ...column }): Column<TextHit> => ({
    ...column,
    wide: true,
    // The matching line matters more than the answer.
    ...(decides !== undefined && column.id !== 'answer' && { decides }),
  }),
);
const isLength = ({ id }: Column<TextHit>): boolean => ['steps', 'tokens'].includes(id);

/** Splits a hit into one per role. */
const byRole = ({ roles, ...row }: TextHit): readonly TextHit[] =>
  roles.flatMap(role => ({ ...row, ...(matchIn([role]) as TextMatch) }));

export const hitColumns: readonly Column<TextHit>[] = [
  ...[task, rewardColumn].flatMap(column => column ?? []),
  plainColumn('role', 'ROLE', { min: 6, max: 20, grow: 1 }, row => row.at.role, { variants: byRole }),
  plainColumn('text', 'TEXT', { min: 24, max: 60, grow: 6 }, row => row.excerpt, { cutAt: 'end', variants: byRole }),
  { id: 'lines', title: 'LINES', width: 5, align: 'right', value: row => row.lines },
  ...otherColumns.filter(isLength),
  plainColumn('other-lines', 'OTHER', 5, row => row.other_lines, { align: 'right', wide: true }),
  { id: 'where', title: 'WHERE', width: { min: 8, max: 34, grow: 1 }, wide: true, value: row => formatOrigin(row.at) },
  ...otherColumns.filter(column => !isLength(column)),
];

export const hitFacts = ({
  lines,
  other_lines,
  at,
  place: _,
  excerpt,
  range: __,
  hidden: ___,
  roles,
  ...row
}: TextHit): readonly Fact[] => [
  { label: 'where', value: `${formatOrigin(at)}, ${at.role}` },
  { label: 'lines', value: lines },
  { label: 'other lines', value: other_lines > 0 ? `${other_lines} outside messages` : undefined },
  { label: 'text', value: excerpt },
  {
    label: 'roles',
    value: roles.length < 2 ? undefined : roles.map(role => `${role.at.role} ${role.lines}`).join(', '),
  },
  ...trajectoryFacts(row),
];
