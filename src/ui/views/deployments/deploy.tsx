/** The form that deploys a checkpoint. */

import { useMemo } from 'react';
import { deploymentRoles, type StartDeploymentBody } from '../../../contract/deployments.ts';
import { modelSlug } from '../../../contract/model-slug.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { recordPlace } from '../../../resources/define.ts';
import { deployments, replacedWords, slugOf } from '../../../resources/deployments.ts';
import { trainingActions } from '../../../resources/training.ts';
import type { Service } from '../../../workbench/workbench.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useList } from '../../data/use-list.ts';
import type { FieldSpec, FormValues } from '../../widgets/form/form-state.ts';
import { LoadingWindow } from '../../windows/choice-window.tsx';
import { FormWindow } from '../../windows/form-window.tsx';
import { useCheckpoint } from '../training/use-checkpoint.ts';

export interface DeployWindowProps {
  /** The origin of the checkpoint, in words; the slug is derived from it. */
  readonly name: string;
  /** Finds the checkpoint; without it, the user types one. */
  readonly checkpoint?: (service: Service) => Promise<string>;
  readonly given?: string | undefined;
  readonly onClose: () => void;
}

function checkSlug(value: string): string | undefined {
  const slug = value.trim();
  if (slug === '') return 'Enter a slug';
  if (!modelSlug.pattern.test(slug)) return 'Letters, digits, - and _ only';
  return slug.length > modelSlug.maximum ? `${slug.length} characters; at most ${modelSlug.maximum}` : undefined;
}

const slugIn = (values: FormValues): string => values['model_slug']?.trim() ?? '';

function bodyOf(values: FormValues): StartDeploymentBody {
  return {
    checkpoint_id: values['checkpoint_id']?.trim() ?? '',
    model_slug: slugIn(values),
    role: values['role'] === 'production' ? 'production' : 'test',
  };
}

const none = async (): Promise<string> => '';

export function DeployWindow({ name, checkpoint = none, given, onClose }: DeployWindowProps) {
  const found = useCheckpoint(checkpoint);
  const id = given ?? (found.kind === 'known' ? found.id : undefined);
  if (id === undefined) {
    return <LoadingWindow title="Deploy" error={found.kind === 'failed' ? found.error : undefined} onClose={onClose} />;
  }
  return <DeployForm name={name} checkpointId={id} onClose={onClose} />;
}

function DeployForm({ name, checkpointId, onClose }: { name: string; checkpointId: string; onClose: () => void }) {
  const shell = useShell();
  const { rows, complete } = useList(deploymentList, 'visible');
  const fields = useMemo<readonly FieldSpec[]>(
    () => [
      { kind: 'text', name: 'model_slug', label: 'Slug', initial: slugOf(name), check: checkSlug },
      {
        kind: 'choice',
        name: 'role',
        label: 'Role',
        options: deploymentRoles.map(role => ({
          value: role,
          label: role,
          note: role === 'production' ? 'serves the slug' : 'reached by its id',
        })),
      },
      {
        kind: 'text',
        name: 'confirmed',
        label: 'Type the slug to put it into production',
        help: values => replacedWords(slugIn(values), rows, complete),
        check: (value, values = {}) =>
          value.trim() === slugIn(values)
            ? undefined
            : `Type ${slugIn(values)}. ${replacedWords(slugIn(values), rows, complete)}`,
        when: values => values['role'] === 'production',
      },
      {
        kind: 'text',
        name: 'checkpoint_id',
        label: 'Checkpoint',
        initial: checkpointId,
        check: value => (value.trim() === '' ? 'Name a checkpoint' : undefined),
      },
    ],
    [name, checkpointId, rows, complete],
  );
  return (
    <FormWindow
      title={`Deploy ${name}`}
      fields={fields}
      action={trainingActions.deploy.sends.send}
      inputOf={bodyOf}
      onClose={onClose}
      onDone={deployment => {
        shell.toast({ kind: 'success', text: `Deploying ${deployment.model_slug ?? deployment.deployment_id}` });
        shell.open(recordPlace(deployments, deployment.deployment_id, deployment.model_slug));
      }}
    />
  );
}
