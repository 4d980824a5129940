/** The key that sends a rollout's prompt to its base model and its checkpoint, side by side in the chat. */
import { errorMessage } from '../../../base/errors.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { promptOf } from '../../../present/prompt.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { answerersOf } from '../../../resources/answerers.ts';
import { clean } from '../../../text/sanitise.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import type { Binding } from '../../keys/router.tsx';
import { promptCommands } from '../commands.ts';

/** Timeout in milliseconds; finding the checkpoint may take several requests. */
const timeoutMs = 30_000;

/** A rollout that has been read, or the id of one. */
type Rollout = Trajectory | string | null | undefined;

export function usePromptBinding(): (rollout: Rollout) => Binding {
  const { open, toast } = useShell();
  const workbench = useWorkbench();
  const ask = async (rollout: Trajectory | string): Promise<void> => {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const context = workbench.contextFor(await workbench.service(), signal);
      const trajectory = typeof rollout === 'string' ? await trajectoryQuery(rollout).read(context) : rollout;
      const prompt = promptOf(trajectory);
      if (!prompt) {
        toast({ kind: 'warning', text: 'This rollout has no prompt: no user message comes before the first answer' });
        return;
      }
      if (prompt.isBegun) {
        toast({ kind: 'warning', text: 'This prompt ends with the beginning of its answer, which a chat cannot send' });
        return;
      }
      const { base, checkpoint, training, words } = await answerersOf(trajectory, context);
      const { leftOut, isBegun: _, ...texts } = prompt;
      const without =
        leftOut.length === 0 ? [] : [clean`Left out of the prompt, because it is not text: ${leftOut.join(', ')}.`];
      const [model, second] = base === undefined ? [checkpoint] : [base, checkpoint];
      open({
        view: 'chat',
        ...(model !== undefined && { model }),
        prompt: {
          ...texts,
          trajectory: trajectory.trajectory_id,
          words: [words, ...without].join(' '),
          ...(second !== undefined && { second }),
          ...(training !== undefined && { training }),
          ...(trajectory.task_id && { task: trajectory.task_id }),
        },
      });
    } catch (error) {
      toast({ kind: 'warning', text: clean`The prompt or its models could not be read: ${errorMessage(error)}` });
    }
  };
  return rollout => ({
    command: promptCommands.ask,
    why: !rollout
      ? 'There is no rollout here'
      : workbench.file === undefined
        ? undefined
        : 'A file has no models to ask',
    run: () => {
      if (!rollout) return;
      toast({ kind: 'info', text: 'Finding the models for its prompt…' });
      void ask(rollout);
    },
  });
}
