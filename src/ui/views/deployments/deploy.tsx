/** The form that deploys a checkpoint. */

import { useMemo } from 'react';
import { deploymentRoles, type StartDeploymentBody } from '../../../contract/deployments.ts';
import { modelSlug } from '../../../contract/model-slug.ts';
import type { Checkpoint, HeldOutReward } from '../../../contract/training.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { heldOutMeans } from '../../../queries/held-out.ts';
import { recordPlace } from '../../../resources/define.ts';
import { deployments, replacedWords, slugOf } from '../../../resources/deployments.ts';
import { trainingActions } from '../../../resources/training.ts';
import { counted, reward } from '../../../text/numbers.ts';
import { clean } from '../../../text/sanitise.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useList } from '../../data/use-list.ts';
import type { FieldSpec, FormValues } from '../../widgets/form/form-state.ts';
import { LoadingWindow } from '../../windows/choice-window.tsx';
import { FormWindow } from '../../windows/form-window.tsx';
import { type FindCheckpoint, useCheckpoint } from '../training/use-checkpoint.ts';

export interface DeployWindowProps {
  /** The origin of the checkpoint in words; the slug is derived from it. */
  readonly name: string;
  /** Finds the checkpoint; without it, the user types one. */
  readonly checkpoint?: FindCheckpoint;
  /** The held-out rewards of its run, once known. */
  readonly heldOut?: readonly HeldOutReward[] | undefined;
  readonly onClose: () => void;
}

function checkSlug(value: string): string | undefined {
  const slug = value.trim();
  if (slug === '') return 'Enter a slug';
  if (!modelSlug.pattern.test(slug)) return 'Letters, digits, - and _ only';
  return slug.length > modelSlug.maximum ? `${slug.length} characters; at most ${modelSlug.maximum}` : undefined;
}

const slugIn = (values: FormValues): string => values['model_slug']?.trim() ?? '';

const noRewards: readonly HeldOutReward[] = [];
const none = async (): Promise<undefined> => undefined;

export function DeployWindow({ checkpoint = none, ...props }: DeployWindowProps) {
  const found = useCheckpoint(checkpoint);
  if (found.kind === 'known') return <DeployForm {...props} checkpoint={found.checkpoint} />;
  const error = found.kind === 'failed' ? found.error : undefined;
  return <LoadingWindow title="Deploy" error={error} onClose={props.onClose} />;
}

/** `step 5 of words`; its id if the step is not known. */
const checkpointWords = ({ step_index: step, checkpoint_id }: Checkpoint, name: string): string =>
  clean`${step == null ? checkpoint_id : `step ${step}`} of ${name}`;

/** `Goes live: step 5 of words, held-out 0.412 of 16 samples. ` */
function liveWords(checkpoint: Checkpoint, name: string, heldOut: readonly HeldOutReward[]): string {
  const mean = heldOutMeans(heldOut.filter(({ step }) => step === checkpoint.step_index))?.last;
  const of = mean?.samples === undefined ? '' : ` of ${counted(mean.samples, 'sample')}`;
  const measured = mean === undefined ? '' : `, held-out ${reward(mean.reward)}${of}`;
  return `Goes live: ${checkpointWords(checkpoint, name)}${measured}. `;
}

const checkpointField: FieldSpec = {
  kind: 'text',
  name: 'checkpoint_id',
  label: 'Checkpoint',
  check: value => (value.trim() === '' ? 'Name a checkpoint' : undefined),
};

function DeployForm(props: Omit<DeployWindowProps, 'checkpoint'> & { readonly checkpoint: Checkpoint | undefined }) {
  const { name, checkpoint, heldOut = noRewards, onClose } = props;
  const shell = useShell();
  const { rows, complete } = useList(deploymentList, 'visible');
  const fields = useMemo<readonly FieldSpec[]>(() => {
    const live = checkpoint ? liveWords(checkpoint, name, heldOut) : '';
    const effect = (slug: string): string => `${live}${replacedWords(slug, rows, complete)}`;
    return [
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
        help: values => effect(slugIn(values)),
        check: (value, values = {}) => {
          const slug = slugIn(values);
          return value.trim() === slug ? undefined : `Type ${slug}. ${effect(slug)}`;
        },
        when: values => values['role'] === 'production',
      },
      ...(checkpoint ? [] : [checkpointField]),
    ];
  }, [name, checkpoint, heldOut, rows, complete]);
  const inputOf = (values: FormValues): StartDeploymentBody => ({
    checkpoint_id: checkpoint?.checkpoint_id ?? values['checkpoint_id']?.trim() ?? '',
    model_slug: slugIn(values),
    role: values['role'] === 'production' ? 'production' : 'test',
  });
  return (
    <FormWindow
      title={checkpoint ? `Deploy ${checkpointWords(checkpoint, name)}` : 'Deploy a checkpoint'}
      fields={fields}
      action={trainingActions.deploy.sends.send}
      inputOf={inputOf}
      onClose={onClose}
      onDone={deployment => {
        shell.toast({ kind: 'success', text: `Deploying ${deployment.model_slug ?? deployment.deployment_id}` });
        shell.open(recordPlace(deployments, deployment.deployment_id, deployment.model_slug));
      }}
    />
  );
}
