/** The form that uploads a file of trajectories into a dataset. */
import { basename } from 'node:path';
import { useState } from 'react';
import { agentFields } from '../../../contract/generation.ts';
import type { Agent } from '../../../contract/models.ts';
import { type Action, action } from '../../../queries/action.ts';
import { sendTrajectories } from '../../../queries/trajectories.ts';
import type { TrajectoryRecord } from '../../../store/trajectory-records.ts';
import { clean } from '../../../text/sanitise.ts';
import { describeCounts } from '../../../uploads/trajectory-outcomes.ts';
import { TrajectoryUpload } from '../../../uploads/trajectory-upload.ts';
import type { Service } from '../../../workbench/workbench.ts';
import { useShell } from '../../app/shell-context.tsx';
import { trajectoryJobId } from '../../data/use-uploads.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { FormWindow } from '../../windows/form-window.tsx';
import { agentField } from './agent-field.ts';

/** An upload's outcomes so far, in words. */
export const describeSent = ({ counts }: TrajectoryRecord): string => describeCounts(counts).join(', ');

/** Asks about trajectories that got no response, if there are any. */
function resendField(unknown: number): FieldSpec[] {
  if (unknown === 0) return [];
  return [
    {
      kind: 'choice',
      name: 'resend',
      label: 'Send the unknown ones again',
      options: [
        { value: 'no', label: 'no' },
        { value: 'yes', label: 'yes, they may be stored twice' },
      ],
      initial: 'no',
      help: 'They were sent, but the service did not report whether it stored them.',
    },
  ];
}

/** Stands for the file's trajectories, which are read during the upload. */
const example = { '…': 'each trajectory in the file, up to 100 per request' };

interface ChosenFile {
  readonly path: string;
  readonly dataset: string;
  readonly agent: string | undefined;
  readonly resendUnknown: boolean;
}

/** The file that a form is open for. */
export interface OpenedFile {
  readonly path: string;
  readonly begun: TrajectoryRecord | undefined;
  /** The agents listed when the form opened. A later response must not replace the user's input. */
  readonly agents: readonly Agent[];
}

/** Starts uploading a file, or finds the upload that is already running. */
function useUpload(
  write: ((signal: AbortSignal) => Promise<string>) | undefined,
): Action<ChosenFile, TrajectoryUpload> {
  const workbench = useWorkbench();
  const [upload] = useState(() =>
    action(
      async (_: Service, { path: chosen, dataset, agent, resendUnknown }: ChosenFile, options) => {
        const path = write ? await write(options?.signal ?? new AbortController().signal) : chosen;
        const id = trajectoryJobId({ path, dataset, agent });
        const known = workbench.jobs.get(id);
        if (known instanceof TrajectoryUpload && known.busy) return known;
        const records = workbench.remembered.trajectoryUploads;
        const job = new TrajectoryUpload(id, path, dataset, { agent, records, resendUnknown });
        workbench.jobs.add(job);
        // The upload continues off screen, and `run` never rejects; its view shows how it ends.
        void job.run(workbench.service);
        return job;
      },
      { touches: [] },
    ),
  );
  return upload;
}

interface UploadFormProps {
  readonly file: OpenedFile;
  /** Writes the file before the upload starts; `title` describes its contents. */
  readonly prepare?: { readonly title: string; readonly write: (signal: AbortSignal) => Promise<string> };
  readonly onClose: () => void;
}

export function UploadForm({ file: { path, begun, agents }, prepare, onClose }: UploadFormProps) {
  const shell = useShell();
  const upload = useUpload(prepare?.write);
  const [fields] = useState<readonly FieldSpec[]>(() => [
    {
      kind: 'text',
      name: 'dataset',
      label: 'Into the dataset',
      initial: begun?.dataset ?? basename(path).replace(/\.\w+$/, ''),
      help: begun
        ? clean`Already sent to ${begun.dataset}: ${describeSent(begun)}. Choose the same dataset to send the rest.`
        : 'A new dataset is created if none has this name.',
      check: value => (value.trim() === '' ? 'Name a dataset' : undefined),
    },
    agentField(agents, begun?.agent),
    ...resendField(begun?.counts.unknown ?? 0),
  ]);
  return (
    <FormWindow
      title={`Upload ${prepare?.title ?? basename(path)}`}
      fields={fields}
      action={upload}
      inputOf={values => ({
        path,
        dataset: values['dataset']?.trim() ?? '',
        agent: values['agent']?.trim() || undefined,
        resendUnknown: values['resend'] === 'yes',
      })}
      describe={(service, { dataset, agent }) =>
        sendTrajectories(service, {
          dataset,
          trajectories: [example],
          agent: agent === undefined ? undefined : agentFields(agent),
        })
      }
      onClose={onClose}
      onDone={job => shell.open({ view: 'trajectory-upload', jobId: job.id, dataset: job.dataset })}
    />
  );
}
