/** The form that deploys a checkpoint. */

import { useState } from 'react';
import { deploymentRoles, modelSlug, type StartDeploymentBody } from '../../../contract/deployments.ts';
import { startDeployment } from '../../../queries/deployments.ts';
import type { Service } from '../../../queries/workbench.tsx';
import { recordPlace } from '../../../resources/define.ts';
import { deployments, slugOf } from '../../../resources/deployments.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { FormWindow } from '../shared/form-window.tsx';
import { useCheckpoint } from '../shared/use-checkpoint.tsx';
import { NoticeWindow } from '../shared/windows.tsx';

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
  if (slug === '') return 'Name the model';
  if (!modelSlug.pattern.test(slug)) return 'Letters, digits, - and _ only';
  return slug.length > modelSlug.maximum ? `${slug.length} characters; at most ${modelSlug.maximum}` : undefined;
}

const none = async (): Promise<string> => '';

export function DeployWindow({ name, checkpoint = none, given, onClose }: DeployWindowProps) {
  const found = useCheckpoint(checkpoint);
  const id = given ?? (found.kind === 'known' ? found.id : undefined);
  if (id === undefined) {
    return <NoticeWindow title="Deploy" error={found.kind === 'failed' ? found.error : undefined} onClose={onClose} />;
  }
  return <DeployForm name={name} checkpointId={id} onClose={onClose} />;
}

function DeployForm({ name, checkpointId, onClose }: { name: string; checkpointId: string; onClose: () => void }) {
  const shell = useShell();
  const [fields] = useState<readonly FieldSpec[]>(() => [
    { kind: 'text', name: 'model_slug', label: 'Slug it serves under', initial: slugOf(name), check: checkSlug },
    {
      kind: 'choice',
      name: 'role',
      label: 'Role',
      options: deploymentRoles.map(role => ({
        value: role,
        label: role,
        note: role === 'production' ? 'answers for the slug' : 'reached by its id',
      })),
    },
    {
      kind: 'text',
      name: 'checkpoint_id',
      label: 'Checkpoint',
      initial: checkpointId,
      check: value => (value.trim() === '' ? 'Name a checkpoint' : undefined),
    },
  ]);
  const bodyOf = (values: Readonly<Record<string, string>>): StartDeploymentBody => ({
    checkpoint_id: values['checkpoint_id']?.trim() ?? '',
    model_slug: values['model_slug']?.trim() ?? '',
    role: values['role'] === 'test' ? 'test' : 'production',
  });
  return (
    <FormWindow
      title={`Deploy ${name}`}
      fields={fields}
      action={startDeployment}
      inputOf={bodyOf}
      onClose={onClose}
      onDone={deployment => {
        shell.toast({ kind: 'success', text: `Deploying ${deployment.model_slug ?? deployment.deployment_id}` });
        shell.open(recordPlace(deployments, deployment.deployment_id, deployment.model_slug));
      }}
    />
  );
}
