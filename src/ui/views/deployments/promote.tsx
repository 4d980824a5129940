/** Confirms promoting a deployment, and asks which one to demote if there are others. */
import type { Deployment } from '../../../contract/deployments.ts';
import { deploymentActions, calledName as labelOf, withStep } from '../../../resources/deployments.ts';
import { type TracedDeployment, traceDeployments } from '../../../resources/origins.ts';
import { clean } from '../../../text/sanitise.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { type ActionWindowProps, ChoiceWindow, LoadingWindow } from '../../windows/choice-window.tsx';
import { Confirm } from '../../windows/confirm.tsx';
import { useAuditText } from './use-audit-text.ts';
import { useListedDeployments, useReplaced } from './use-listed-deployments.ts';

/** The other deployments in production. Those with the same slug come first. */
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
  const listed = useListedDeployments();
  if (!listed.loaded && !listed.error) return <LoadingWindow title="Promote" onClose={onClose} />;
  const others = demotable(deployment, listed.rows);
  const confirmation = (demoted: Deployment | undefined, close: () => void) => (
    <ConfirmPromote row={deployment} demoted={demoted} onClose={close} />
  );
  if (others.length === 0) return confirmation(undefined, onClose);
  const named = others.map(other => ({
    key: other.deployment_id,
    label: clean`${labelOf(other)}  ${withStep(other)}`,
    value: other,
  }));
  return (
    <ChoiceWindow<Deployment | undefined>
      title={clean`Promote ${withStep(deployment)}: which one should be demoted?`}
      choices={[{ key: '', label: 'leave it to the service', value: undefined }, ...named]}
      onChoose={demoted => shell.showOverlay('confirm', close => confirmation(demoted, close))}
      onClose={onClose}
    />
  );
}

interface ConfirmPromoteProps extends ActionWindowProps<Deployment> {
  /** The deployment that the user chose to demote. */
  readonly demoted: Deployment | undefined;
}

function ConfirmPromote({ row: deployment, demoted, onClose }: ConfirmPromoteProps) {
  const shell = useShell();
  const { remembered: memory } = useWorkbench();
  const { wordsOf, check } = useReplaced(useListedDeployments(deployment));
  const { send, describeEffect } = deploymentActions.promote.sends;
  const label = labelOf(deployment);
  const whole: TracedDeployment = traceDeployments([deployment], memory)[0] ?? deployment;
  const audited = useAuditText(whole.from_run);
  const entry = { slug: label, id: deployment.deployment_id, demoted, from_run: whole.from_run };
  const row = { ...deployment, ...(demoted && { demote_deployment_id: demoted.deployment_id }) };
  return (
    <Confirm
      title={() => 'Make this deployment serve its slug?'}
      question={() => [describeEffect(deployment, withStep(whole)), wordsOf(entry), audited].filter(Boolean).join(' ')}
      typed={() => label}
      verb="promote"
      participle="promoted"
      action={send}
      check={(_, context) => check(entry, context)}
      rows={[row]}
      labelOf={labelOf}
      onDone={() => shell.toast({ kind: 'success', text: `${label} serves its slug` })}
      onClose={onClose}
    />
  );
}
