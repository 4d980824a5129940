/** The audit's findings in the run whose checkpoint goes live, and the notes on the checkpoint's evaluations. */
import { heldOutRewardsQuery, trainerRewardsQuery } from '../../../queries/training-curves.ts';
import {
  type AuditedOrigin,
  auditList,
  auditReportOf,
  describeAudit,
  describeNotes,
  rememberedAudit,
} from '../../../resources/audit.ts';
import { useListed } from '../../data/use-list.ts';
import { usePreviewData } from '../../data/use-preview-data.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useKeyOf } from '../../keys/router.tsx';
import { teachingCommands } from '../commands.ts';
import { useNotes } from '../triage/use-triage.tsx';

/** @param origin undefined while no checkpoint is known; nothing is read then */
export function useAuditText(origin: AuditedOrigin | undefined): string {
  const { lists, compare, remembered: memory } = useWorkbench();
  const { rewardRange: range } = compare;
  const id = origin?.training_run_id ?? '';
  const trainer = usePreviewData(trainerRewardsQuery(id, true), origin !== undefined);
  const heldOut = usePreviewData(heldOutRewardsQuery(id, true), origin !== undefined);
  const list = auditList(id, range);
  // Redraws once the audit has been read.
  useListed(list);
  const made = auditReportOf(lists.find(list.key)?.source);
  const report = made ?? (trainer && rememberedAudit(id, { trainer, range, memory }));
  const notes = useNotes();
  const keyOf = useKeyOf();
  if (origin === undefined) return '';
  const way = `<${keyOf(teachingCommands.audit)}> on the training run`;
  return `${describeAudit(origin, { trainer, heldOut, report }, range, way)} ${describeNotes(origin, notes, memory)}`.trimEnd();
}
