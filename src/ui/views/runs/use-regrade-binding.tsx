/** The key that regrades the rollouts in a run, a training run or a dataset. */
import { idOf, type ResourceOf } from '../../../resources/define.ts';
import type { Owner } from '../../../rollouts/read.ts';
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import { regradeCommands } from '../commands.ts';

const RegradeWindow = lazyWindow(async () => (await import('./regrade-window.tsx')).RegradeWindow);

/** Returns a function that binds the key; `rows` must hold one row. */
export function useRegradeBinding(): <Row extends object>(resource: ResourceOf<Row>, rows: readonly Row[]) => Binding {
  const shell = useShell();
  return (resource, [row, other]) => ({
    command: regradeCommands.open,
    why: !row ? 'Nothing is selected' : other ? 'Mark one' : undefined,
    run: () => {
      if (!row) return;
      const owner = { resource, id: idOf(resource, row), row } as unknown as Owner;
      shell.showOverlay('regrade', close => <RegradeWindow owner={owner} onClose={close} />);
    },
  });
}
