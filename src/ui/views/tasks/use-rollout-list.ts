/** Shared by lists of rollouts: flags and notes, the side-by-side view, the prompt in the chat, and files. */
import { useMemo } from 'react';
import type { Column } from '../../../present/column.ts';
import type { Fact } from '../../../present/fact.ts';
import { noteFacts } from '../../../present/notes.ts';
import { factsOfFile, isOfFile } from '../../../resources/trajectories.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import { usePromptBinding } from '../chat/use-prompt-binding.ts';
import type { ResourceListProps } from '../list/list-props.ts';
import { listedRollouts } from '../record/rollout-files.ts';
import { useRolloutFiles } from '../record/use-rollout-files.tsx';
import { trajectoryNoted } from '../triage/noted.ts';
import { useNoted, useTriage } from '../triage/use-triage.tsx';
import { markTwo, pairBinding, type Rollout } from './rollout-bindings.ts';
import { useRolloutTexts } from './use-rollout-texts.ts';

/** Returns a function that, if a file is being read, keeps only the facts that a file can hold. */
export function useShownFacts(): (facts: readonly Fact[]) => readonly Fact[] {
  const { file } = useWorkbench();
  return file === undefined ? facts => facts : factsOfFile;
}

/** A list of a file's rollouts is in their order, which is the order in which they were stored. */
const shownOfFile = <Row>(column: Column<Row>): Column<Row> =>
  isOfFile(column) ? column : { ...column, wide: false, hidden: true };

const idOf = ({ trajectory_id }: Rollout): string => trajectory_id ?? '';

interface RolloutList<Row>
  extends Required<Pick<ResourceListProps<Row>, 'columns' | 'notes' | 'facts' | 'files' | 'onShown'>> {
  readonly actions: (rows: readonly Row[]) => readonly Binding[];
  /** Only the bindings for flags and notes. */
  readonly flags: (rows: readonly Row[]) => readonly Binding[];
}

/** @param rows the rows read so far, to count their flags */
export function useRolloutList<Row extends Rollout>(
  columns: readonly Column<Row>[],
  factsOf: (row: Row) => readonly Fact[],
  rows: readonly Row[],
): RolloutList<Row> {
  const { open } = useShell();
  const triage = useTriage();
  const promptBinding = usePromptBinding();
  const filesOf = useRolloutFiles();
  const shown = useShownFacts();
  const texts = useRolloutTexts(columns, rows);
  const noted = useNoted(texts.columns, idOf, rows);
  const flags = (some: readonly Row[]) =>
    triage(
      some.flatMap(({ trajectory_id, task_id }) => (trajectory_id ? trajectoryNoted({ trajectory_id, task_id }) : [])),
    );
  const { file } = useWorkbench();
  return {
    columns: useMemo(
      () => (file === undefined ? noted.columns : noted.columns.map(shownOfFile)),
      [file, noted.columns],
    ),
    onShown: texts.onShown,
    notes: [...noted.words, ...texts.notes],
    facts: row => [...noteFacts(noted.ofRow(row)), ...shown(factsOf(row))],
    files: listed => filesOf(listedRollouts(listed)),
    actions: some => [pairBinding(some, markTwo, open), promptBinding(some[0]?.trajectory_id), ...flags(some)],
    flags,
  };
}
