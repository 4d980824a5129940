/** The files that `x` offers for a list of rollouts: the trajectories with their steps, as a file or into a dataset. */
import { lazyWindow } from '../../app/lazy.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { useNotes } from '../triage/use-triage.tsx';
import type { ExportWay, OtherFile } from './export-window.tsx';
import { type ChosenRollouts, stepsFiles } from './rollout-files.ts';

const UploadRollouts = lazyWindow(async () => (await import('../uploads/upload-rollouts.tsx')).UploadRollouts);

export function useRolloutFiles(): (chosen: ChosenRollouts) => readonly (OtherFile | ExportWay)[] {
  const shell = useShell();
  const { readOnly } = useWorkbench();
  const hasNotes = useNotes().size > 0;
  return chosen => {
    const upload: ExportWay = {
      key: `${chosen.key}.upload`,
      label: `With steps, into a dataset: ${chosen.words}`,
      open: () => shell.showOverlay('upload-rollouts', close => <UploadRollouts chosen={chosen} onClose={close} />),
    };
    return [...stepsFiles(chosen, hasNotes), ...(readOnly ? [] : [upload])];
  };
}
