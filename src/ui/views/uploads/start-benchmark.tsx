/** Chooses the folder of a benchmark, reads it, and opens its upload. */

import { useState } from 'react';
import { manifestName, planUpload } from '../../../queries/uploads/benchmark-plan.ts';
import { BenchmarkUpload } from '../../../queries/uploads/benchmark-upload.ts';
import { addJob } from '../../../queries/uploads/job.ts';
import { wholePath } from '../../../queries/uploads/local-files.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { asError } from '../../../text/errors.ts';
import { useShell } from '../../app/shell-context.tsx';
import { PathPicker } from '../shared/path-picker.tsx';
import { NoticeWindow } from '../shared/windows.tsx';

type Step =
  | { readonly kind: 'choosing' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly error: Error };

export function StartBenchmarkUpload({ onClose }: { readonly onClose: () => void }) {
  const shell = useShell();
  const workbench = useWorkbench();
  const [step, setStep] = useState<Step>({ kind: 'choosing' });
  if (step.kind !== 'choosing') {
    const error = step.kind === 'failed' ? step.error : undefined;
    return <NoticeWindow title="Upload a benchmark" words="Reading the folder" error={error} onClose={onClose} />;
  }
  const choose = async (path: string): Promise<void> => {
    setStep({ kind: 'reading' });
    try {
      const plan = await planUpload(wholePath(path));
      const known = workbench.jobs.get(plan.folder);
      if (!known || !(known instanceof BenchmarkUpload) || !known.busy) {
        addJob(workbench.jobs, new BenchmarkUpload(plan.folder, plan, workbench.remembered));
      }
      onClose();
      shell.open({ view: 'benchmark-upload', jobId: plan.folder, label: plan.name });
    } catch (error) {
      setStep({ kind: 'failed', error: asError(error) });
    }
  };
  return (
    <PathPicker
      title="The folder of a benchmark"
      choose="folder"
      wanted={name => name === manifestName}
      onChoose={path => void choose(path)}
      onClose={onClose}
    />
  );
}
