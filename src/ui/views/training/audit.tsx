/** A training run's audit, and the rollouts behind a finding. */
import { useMemo, useState } from 'react';
import { type Evidence, type Finding, findingKinds } from '../../../present/audit.ts';
import { type Column, idColumn, plainColumn } from '../../../present/column.ts';
import { noteFacts } from '../../../present/notes.ts';
import { numberColumn, rewardColumn } from '../../../present/number-columns.ts';
import { type ListSource, rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import { auditList, findingColumns, findingFacts, nothingFound } from '../../../resources/audit.ts';
import { recordPlace } from '../../../resources/define.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { countOf, reward } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import { useList } from '../../data/use-list.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { ResourceList } from '../list/resource-list.tsx';
import { trajectoryNoted } from '../triage/noted.ts';
import { useNoted, useTriage } from '../triage/use-triage.tsx';

function useAudit(runId: string): ListSource<Finding> {
  const { rewardRange } = useWorkbench().compare;
  return useMemo(() => auditList(runId, rewardRange), [runId, rewardRange]);
}

/** Lines for the full text of the finding under the cursor, which a narrow column cuts off. */
const wordLines = 4;

export function AuditView({ place: { trainingRunId: runId } }: ViewProps<'audit'>) {
  const pane = usePane('main');
  const [current, setCurrent] = useState<Finding>();
  const words = current ? wrap(sanitiseLine(current.words), pane.width - 2).slice(0, wordLines) : [];
  // A constant number of lines, so that the rows do not move with the cursor.
  const header = current ? Array.from({ length: wordLines + 1 }, (_, index) => words[index] ?? '') : [];
  return (
    <ResourceList<Finding>
      name="audit"
      source={useAudit(runId)}
      columns={findingColumns}
      emptyText={nothingFound}
      open={({ kind }) => ({ view: 'evidence', trainingRunId: runId, finding: kind })}
      refOf={({ kind }) => ({ label: findingKinds[kind] })}
      header={header}
      onShown={table => setCurrent(table.current)}
      facts={findingFacts}
    />
  );
}

const evidenceColumns: readonly Column<Evidence>[] = [
  { id: 'step', title: 'STEP', width: 6, align: 'right', value: row => row.step },
  { id: 'task', title: 'TASK', width: { min: 12, max: 40, grow: 1 }, value: row => row.task_id ?? undefined },
  rewardColumn(),
  {
    ...numberColumn<Evidence>('tokens', 'TOKENS', row => countOf(row.completion_tokens), { text: String }),
    ifAny: true,
  },
  plainColumn('answer', 'ANSWER', { min: 12, max: 200, grow: 3 }, row => row.answer, { cutAt: 'end', ifAny: true }),
  idColumn(row => row.trajectory_id ?? undefined, false),
];

const none: readonly Evidence[] = [];
const idOf = ({ trajectory_id }: Evidence): string => trajectory_id ?? '';

export function EvidenceView({ place: { trainingRunId: runId, finding: kind } }: ViewProps<'evidence'>) {
  const pane = usePane('main');
  const { styles } = useTheme();
  const audit = useAudit(runId);
  const { rows, loaded } = useList(audit, 'visible');
  const found = rows.find(each => each.kind === kind);
  const source = useMemo(() => rowsMadeElsewhere<Evidence>([...audit.key, kind], idOf), [audit, kind]);
  const evidence = found?.evidence ?? none;
  const noted = useNoted(evidenceColumns, idOf, evidence);
  const triage = useTriage();
  const header = found ? [...wrap(sanitiseLine(found.words), pane.width - 2).map(styles.strong), ''] : [];
  return (
    <ResourceList<Evidence>
      name="evidence"
      source={source}
      rows={evidence}
      columns={noted.columns}
      notes={noted.words}
      emptyText={loaded ? 'The audit no longer finds this' : 'Reading the audit'}
      open={({ trajectory_id, task_id }) =>
        trajectory_id ? recordPlace(trajectories, trajectory_id, task_id ?? undefined) : undefined
      }
      actions={some =>
        triage(
          some.map(({ trajectory_id, task_id }) => trajectoryNoted({ trajectory_id: trajectory_id ?? '', task_id })),
        )
      }
      facts={row => [
        ...noteFacts(noted.ofRow(row)),
        { label: 'task', value: row.task_id },
        { label: 'id', value: row.trajectory_id },
        { label: 'step', value: row.step },
        { label: 'reward', value: reward(row.reward) },
        { label: 'tokens', value: countOf(row.completion_tokens) },
        { label: 'answer', value: row.answer },
      ]}
      header={header}
    />
  );
}
