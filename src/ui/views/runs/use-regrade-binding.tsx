/** The key that grades a run again. */
import type { EvalRun } from '../../../contract/evaluations.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import { regradeCommands } from '../commands.ts';

const RegradeWindow = lazyWindow(async () => (await import('./regrade-window.tsx')).RegradeWindow);

export function useRegradeBinding(): (rows: readonly EvalRun[]) => Binding {
  const shell = useShell();
  return ([run, other]) => ({
    command: regradeCommands.open,
    why: !run ? 'Nothing is selected' : other ? 'Mark one run' : undefined,
    run: () => run && shell.showOverlay('regrade', close => <RegradeWindow run={run} onClose={close} />),
  });
}
