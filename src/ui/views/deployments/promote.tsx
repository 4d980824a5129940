/** Confirms the promotion of a deployment, and asks which one to demote if there are others. */

import type { Deployment } from '../../../contract/deployments.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { deploymentActions, calledName as labelOf, replacedWords, withStep } from '../../../resources/deployments.ts';
import { clean } from '../../../text/sanitise.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useList } from '../../data/use-list.ts';
import { type ActionWindowProps, ChoiceWindow, LoadingWindow } from '../../windows/choice-window.tsx';
import { Confirm } from '../../windows/confirm.tsx';

/** Deployments in production, those of the same slug first. */
function demotable(promoted: Deployment, listed: readonly Deployment[]): Deployment[] {
  const answering = listed.filter(
    ({ deployment_id, role, is_active }) =>
      deployment_id !== promoted.deployment_id && role === 'production' && is_active === true,
  );
  const isSame = ({ model_slug }: Deployment): number => (model_slug === promoted.model_slug ? 0 : 1);
  return answering.toSorted((left, right) => isSame(left) - isSame(right));
}

export function PromoteWindow({ row: deployment, onClose }: ActionWindowProps<Deployment>) {
  const shell = useShell();
  const listed = useList(deploymentList, 'visible');
  if (!listed.loaded && !listed.error) return <LoadingWindow title="Promote" onClose={onClose} />;
  const others = demotable(deployment, listed.rows);
  const replaced = replacedWords(labelOf(deployment), listed.rows, listed.complete, deployment.deployment_id);
  const confirmation = (demoted: Deployment | undefined, close: () => void) => (
    <ConfirmPromote row={deployment} demoted={demoted} replaced={replaced} onClose={close} />
  );
  if (others.length === 0) return confirmation(undefined, onClose);
  const named = others.map(other => ({
    key: other.deployment_id,
    label: clean`${labelOf(other)}  ${other.deployment_id}`,
    value: other,
  }));
  return (
    <ChoiceWindow<Deployment | undefined>
      title="Which deployment should be demoted?"
      choices={[{ key: '', label: 'leave it to the service', value: undefined }, ...named]}
      emptyWords=""
      onChoose={demoted => shell.showOverlay('confirm', close => confirmation(demoted, close))}
      onClose={onClose}
    />
  );
}

interface ConfirmPromoteProps extends ActionWindowProps<Deployment> {
  /** The deployment that the user chose to demote. */
  readonly demoted: Deployment | undefined;
  /** The deployment that serves the slug now, in words. */
  readonly replaced: string;
}

function ConfirmPromote({ row: deployment, demoted, replaced, onClose }: ConfirmPromoteProps) {
  const shell = useShell();
  const { send, means } = deploymentActions.promote.sends;
  const label = labelOf(deployment);
  const loses = demoted ? `${withStep(demoted)}, which serves ${labelOf(demoted)}, is demoted.` : replaced;
  const row = { ...deployment, ...(demoted && { demote_deployment_id: demoted.deployment_id }) };
  return (
    <Confirm
      title="Make this deployment serve its slug?"
      question={`${means(deployment, withStep(deployment))} ${loses}`}
      typed={label}
      verb="promote"
      past="promoted"
      action={send}
      rows={[row]}
      labelOf={labelOf}
      onDone={() => shell.toast({ kind: 'success', text: `${label} serves its slug` })}
      onClose={onClose}
    />
  );
}
