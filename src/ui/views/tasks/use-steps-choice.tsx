/** The key that chooses the training steps of the rollouts in a view. */
import type { Trajectory } from '../../../contract/trajectories.ts';
import type { Place } from '../../../resources/place.ts';
import { parseSteps, stepsOf } from '../../../resources/task-groups.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { PlainFormWindow } from '../../windows/form-window.tsx';
import { stepsCommands } from '../commands.ts';

export function useStepsChoice(place: Place<'tasks' | 'outcomes' | 'lengths'>, rows: readonly Trajectory[]): Binding {
  const shell = useShell();
  const { steps: before, ...rest } = place;
  const choose = (text: string): void => {
    const steps = text.trim();
    shell.navigate({ kind: 'replace', place: { ...rest, ...(steps !== '' && { steps }) } });
  };
  const field: FieldSpec = {
    ...{ kind: 'text', name: 'steps', label: 'Steps', initial: before ?? '' },
    help: 'From the first to the last: 50..60, 50.., ..60 or 50. Empty for all.',
    check: (text: string) =>
      text.trim() === '' || parseSteps(text) ? undefined : 'Type steps, the lower one first, e.g. 50..60',
  };
  return {
    command: stepsCommands.choose,
    why:
      stepsOf(rows).size > 1 || before !== undefined ? undefined : 'These rollouts are not from several training steps',
    run: () =>
      shell.showOverlay('steps', close => (
        <PlainFormWindow
          title="Training steps"
          fields={[field]}
          onSubmit={({ steps = '' }) => choose(steps)}
          onClose={close}
        />
      )),
  };
}
