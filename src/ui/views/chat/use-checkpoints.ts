/** A training run's deployed checkpoints, for sending one prompt to each of them. */

import type { Deployment } from '../../../contract/deployments.ts';
import { checkpointTimesQuery } from '../../../queries/checkpoints.ts';
import { checkpointName } from '../../../resources/answerers.ts';
import type { ChatPrompt } from '../../../resources/place.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useLive } from '../../data/use-live.ts';
import type { Binding } from '../../keys/router.tsx';
import { chatCommands } from '../commands.ts';
import type { ChatState } from './use-chat.ts';

const moves = [
  { command: chatCommands.previousCheckpoint, by: -1 },
  { command: chatCommands.nextCheckpoint, by: 1 },
] as const;

/** The keys that step through the checkpoints, and words for the current one, longest form first. */
export function useCheckpoints(
  prompt: ChatPrompt | undefined,
  chat: ChatState,
  deployments: readonly Deployment[],
): { readonly bindings: readonly Binding[]; readonly words: readonly string[] } {
  const { toast, open } = useShell();
  const { training = '', task } = prompt ?? {};
  const { data: checkpoints, error } = useLive(checkpointTimesQuery(training, false), training ? 'visible' : 'hidden');
  const known = checkpoints ?? [];
  const deployed = known.flatMap(({ checkpoint_id, step_index }) => {
    const model = checkpointName(checkpoint_id, deployments);
    return model === undefined ? [] : [{ model, step: step_index ?? undefined }];
  });
  const at = deployed.findIndex(({ model }) => model === chat.settings.secondModel);
  const step = `step ${deployed[at]?.step ?? 'unknown'}`;
  const position = `deployed checkpoint ${at + 1} of ${deployed.length}, ${known.length} in all`;
  const walk = (by: -1 | 1): void => {
    if (deployed.length === 0) {
      if (task === undefined || training === '') return;
      const words = 'No checkpoint is deployed, so none can be asked: these are its rollouts from training';
      open({ view: 'task-life', trainingRunId: training, task, words });
      return;
    }
    const next = deployed[at === -1 ? (by === 1 ? 0 : deployed.length - 1) : at + by];
    if (!next)
      toast({ kind: 'info', text: `There is no deployed checkpoint ${by === 1 ? 'after' : 'before'} this one` });
    else chat.askSecond(next.model);
  };
  const why =
    training === ''
      ? 'The training run that its checkpoints are from is unknown'
      : checkpoints === undefined
        ? error
          ? `The checkpoints could not be read: ${error.message}`
          : 'The checkpoints are still being read'
        : deployed.length === 0 && task === undefined
          ? 'No checkpoint of the training run is deployed, so none can be asked'
          : undefined;
  return {
    bindings: prompt
      ? moves.map(({ command, by }) => ({ command, why, enabled: !chat.answering, run: () => walk(by) }))
      : [],
    words: at === -1 ? [] : [`${step}: ${position}`, step],
  };
}
