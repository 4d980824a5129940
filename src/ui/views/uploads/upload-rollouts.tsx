/** Uploads listed trajectories into a dataset, from a file that is kept so that the upload can be resumed. */
import { useState } from 'react';
import { StoppedError } from '../../../queries/action.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { type FileReading, saveOther } from '../record/export-window.tsx';
import { type ChosenRollouts, saveWithSteps, stepsFileName } from '../record/rollout-files.ts';
import { useAgents } from './agent-field.ts';
import { UploadForm } from './trajectory-form.tsx';

interface UploadRolloutsProps {
  readonly chosen: ChosenRollouts;
  readonly onClose: () => void;
}

export function UploadRollouts({ chosen, onClose }: UploadRolloutsProps) {
  const shell = useShell();
  const workbench = useWorkbench();
  const agents = useAgents();
  const [file] = useState({ path: chosen.key === 'flagged' ? 'flagged' : 'selected', begun: undefined, agents });
  const write = async (signal: AbortSignal): Promise<string> => {
    const title = 'trajectories with their steps';
    try {
      const save = (reading: FileReading) => saveWithSteps(stepsFileName(), chosen, reading);
      const saved = await saveOther(workbench, title, save, signal);
      shell.toast({ kind: 'info', text: `Uploading ${saved.words}`, news: true });
      return saved.path;
    } catch (error) {
      throw signal.aborted ? new StoppedError() : error;
    }
  };
  return <UploadForm file={file} prepare={{ title: chosen.words, write }} onClose={onClose} />;
}
