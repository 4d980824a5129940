/** Chooses a benchmark folder, reads it, and opens its upload. */

import { useEffect, useState } from 'react';
import { asError } from '../../../base/errors.ts';
import { FolderError, manifestName, planUpload } from '../../../uploads/benchmark-plan.ts';
import { BenchmarkUpload } from '../../../uploads/benchmark-upload.ts';
import { wholePath } from '../../../uploads/local-files.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { LoadingWindow } from '../../windows/choice-window.tsx';
import { PathPicker } from '../../windows/path-picker.tsx';

interface StartBenchmarkUploadProps {
  /** The folder whose upload to resume; if missing, the user chooses one. */
  readonly folder?: string | undefined;
  readonly onClose: () => void;
}

export function StartBenchmarkUpload({ folder, onClose }: StartBenchmarkUploadProps) {
  const shell = useShell();
  const workbench = useWorkbench();
  const [step, setStep] = useState<'choosing' | 'reading' | Error>(folder === undefined ? 'choosing' : 'reading');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the folder is read once
  useEffect(() => {
    if (folder !== undefined) void choose(folder);
  }, []);
  const choose = async (path: string): Promise<void> => {
    setStep('reading');
    try {
      const plan = await planUpload(wholePath(path));
      const known = workbench.jobs.get(plan.folder);
      // The view of a stopped or failed upload shows why; its next attempt reads the folder again.
      const isUnfinished = known?.busy || known?.state.phase === 'failed' || known?.state.phase === 'cancelled';
      if (!isUnfinished) workbench.jobs.add(new BenchmarkUpload(plan.folder, plan, workbench.remembered));
      onClose();
      shell.open({ view: 'benchmark-upload', jobId: plan.folder, label: plan.name });
    } catch (error) {
      const isGone = path === folder && error instanceof FolderError && error.isMissing;
      if (isGone) workbench.remembered.uploads.forget(path);
      const gone = `The folder ${path} no longer exists, so its upload cannot be resumed. It was removed from the list.`;
      setStep(isGone ? new Error(gone) : asError(error));
    }
  };
  if (step !== 'choosing') {
    const error = step === 'reading' ? undefined : step;
    return <LoadingWindow title="Upload a benchmark" words="Reading the folder" error={error} onClose={onClose} />;
  }
  return (
    <PathPicker
      title="Choose a benchmark folder"
      choose="folder"
      accepts={name => name === manifestName}
      onChoose={path => void choose(path)}
      onClose={onClose}
    />
  );
}
