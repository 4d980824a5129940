/** What the audit finds in the curves of the run whose checkpoint goes live. */
import { heldOutRewardsQuery, trainerRewardsQuery } from '../../../queries/training-curves.ts';
import { auditList, auditWords } from '../../../resources/audit.ts';
import { usePreviewData } from '../../data/use-preview-data.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** @param runId undefined while no checkpoint is known; nothing is read then */
export function useAuditWords(runId: string | undefined): string {
  const { lists, compare } = useWorkbench();
  const { rewardRange: range } = compare;
  const id = runId ?? '';
  const trainer = usePreviewData(trainerRewardsQuery(id, true), runId !== undefined);
  const heldOut = usePreviewData(heldOutRewardsQuery(id, true), runId !== undefined);
  if (runId === undefined) return '';
  const findings = lists.find(auditList(runId, range).key)?.data.rows;
  return auditWords(runId, { trainer, heldOut, findings }, range);
}
