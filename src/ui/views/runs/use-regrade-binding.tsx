/** The key that regrades rollouts: those of a run, a training run or a dataset, or of two compared runs. */
import { idOf, type ResourceOf } from '../../../resources/define.ts';
import type { Owner } from '../../../rollouts/read.ts';
import type { Regradable } from '../../../rollouts/regrading.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import { regradeCommands } from '../commands.ts';

const RegradeWindow = lazyWindow(async () => (await import('./regrade-window.tsx')).RegradeWindow);

/** Returns a function that opens the form. */
export function useRegradeForm(): (of: Regradable) => void {
  const shell = useShell();
  return of => shell.showOverlay('regrade', close => <RegradeWindow of={of} onClose={close} />);
}

/** Returns a function that binds the key; `rows` must hold one row. */
export function useRegradeBinding(): <Row extends object>(resource: ResourceOf<Row>, rows: readonly Row[]) => Binding {
  const openForm = useRegradeForm();
  return (resource, [row, other]) => ({
    command: regradeCommands.open,
    why: !row ? 'Nothing is selected' : other ? 'Mark one' : undefined,
    run: () => {
      if (row) openForm({ resource, id: idOf(resource, row), row } as unknown as Owner);
    },
  });
}
