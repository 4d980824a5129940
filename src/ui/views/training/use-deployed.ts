/** The slugs that serve each checkpoint, from the list of deployments. */
import { useCallback } from 'react';
import type { Checkpoint } from '../../../contract/training.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import type { Attention } from '../../../queries/polling.ts';
import { deployedAs } from '../../../resources/deployments.ts';
import type { DeployedCheckpoint } from '../../../resources/training.ts';
import { isNotOffered } from '../../../service/errors.ts';
import { counted } from '../../../text/numbers.ts';
import { useList } from '../../data/use-list.ts';

/** Adds the slugs of the deployments; `notes` say that some are unknown. */
export function useDeployed(attention: Attention) {
  const { rows, loaded, complete, error } = useList(deploymentList, attention);
  const join = useCallback(
    (checkpoints: readonly Checkpoint[]): readonly DeployedCheckpoint[] =>
      checkpoints.map(row => {
        return { ...row, ...deployedAs(row.checkpoint_id, rows) };
      }),
    [rows],
  );
  const notes = [
    ...(error && !isNotOffered(error) ? ['The deployments cannot be read: DEPLOYED may be out of date'] : []),
    ...(loaded && !complete && rows.length > 0
      ? [`DEPLOYED knows only ${counted(rows.length, 'deployment')}: there may be others`]
      : []),
  ];
  return { join, notes };
}
