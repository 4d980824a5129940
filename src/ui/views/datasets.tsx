/** The datasets of the organization: collections of trajectories. */
import { basename } from 'node:path';
import { useState } from 'react';
import { agentFields } from '../../contract/generation.ts';
import { action } from '../../queries/action.ts';
import { addJob } from '../../queries/uploads/job.ts';
import { wholePath } from '../../queries/uploads/local-files.ts';
import { TrajectoryUpload } from '../../queries/uploads/trajectory-upload.ts';
import { type Service, useWorkbench } from '../../queries/workbench.tsx';
import { datasetCommands, datasets } from '../../resources/datasets.ts';
import type { ViewProps } from '../app/registry.ts';
import { useShell } from '../app/shell-context.tsx';
import { agentField } from './shared/fields.ts';
import { FormWindow } from './shared/form-window.tsx';
import { PathPicker } from './shared/path-picker.tsx';
import { ResourceListView } from './shared/resource-views.tsx';

export function DatasetsView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  return (
    <ResourceListView
      resource={datasets}
      place={place}
      bindings={[
        {
          command: datasetCommands.upload,
          run: () => shell.showOverlay({ id: 'upload', render: close => <UploadTrajectoriesWindow onClose={close} /> }),
        },
      ]}
    />
  );
}

/** In place of those of the file, which are read as they are sent. */
const example = { '…': 'each trajectory of the file, up to 100 in a request' };

const isTrajectoryFile = (name: string): boolean => /\.(jsonl|ndjson|json)$/i.test(name);

interface ChosenFile {
  readonly path: string;
  readonly dataset: string;
  readonly agent: string | undefined;
}

export function UploadTrajectoriesWindow({ onClose }: { readonly onClose: () => void }) {
  const shell = useShell();
  const workbench = useWorkbench();
  const [path, setPath] = useState<string>();
  const [upload] = useState(() =>
    action(
      async (_: Service, { path: file, dataset, agent }: ChosenFile) => {
        const job = new TrajectoryUpload(crypto.randomUUID(), file, dataset, agent);
        addJob(workbench.jobs, job);
        // Continues whatever is on screen, and never rejects: its view shows how it ends.
        void job.run(workbench.service);
        return job;
      },
      { touches: [] },
    ),
  );
  if (path === undefined) {
    return (
      <PathPicker
        title="A file of trajectories (JSON Lines)"
        choose="file"
        wanted={isTrajectoryFile}
        onChoose={chosen => setPath(wholePath(chosen))}
        onClose={onClose}
      />
    );
  }
  return (
    <FormWindow
      title={`Upload ${basename(path)}`}
      fields={[
        {
          kind: 'text',
          name: 'dataset',
          label: 'Into the dataset',
          initial: basename(path).replace(/\.\w+$/, ''),
          help: 'It is made where there is none of this name.',
          check: value => (value.trim() === '' ? 'Name a dataset' : undefined),
        },
        agentField(),
      ]}
      action={upload}
      inputOf={values => ({
        path,
        dataset: values['dataset']?.trim() ?? '',
        agent: values['agent']?.trim() || undefined,
      })}
      describe={(service, { dataset, agent }) =>
        service.call('uploadTrajectories', {
          body: { dataset, trajectories: [example], ...(agent === undefined ? {} : agentFields(agent)) },
        })
      }
      onClose={onClose}
      onDone={job => shell.open({ view: 'trajectory-upload', jobId: job.id, dataset: job.dataset })}
    />
  );
}
