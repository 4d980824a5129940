/** The actions of deployments, shared by all views. */

import type { ReactNode } from 'react';
import type { Deployment } from '../../../contract/deployments.ts';
import { undeploy, unpromote } from '../../../queries/deployments.ts';
import { deploymentCommands, isInProduction, calledName as labelOf } from '../../../resources/deployments.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { namesOf } from '../shared/list-words.ts';
import { PromoteWindow } from './promote.tsx';

/** What stops with deployments in production; nothing without them. */
function outageWords(production: readonly Deployment[]): string {
  if (production.length === 0) return '';
  const slugs = namesOf(production.map(labelOf));
  return `In production: ${slugs}. Nothing answers there until another deployment is promoted. `;
}

export function useDeploymentActions({
  onRemoved,
}: {
  readonly onRemoved?: () => void;
} = {}): (deployments: readonly Deployment[]) => readonly Binding[] {
  const shell = useShell();
  return deployments => {
    const [deployment] = deployments;
    const one = deployments.length === 1 ? deployment : undefined;
    const names = namesOf(deployments.map(labelOf));
    const production = deployments.filter(isInProduction);
    const ready = one?.status === 'DEPLOYED';
    const confirm = (node: (close: () => void) => ReactNode) => () =>
      shell.showOverlay({ id: 'confirm', render: node });
    return [
      {
        command: deploymentCommands.chat,
        enabled: ready,
        run: () => {
          const model = one?.is_active ? one.model_slug : one?.deployment_id;
          if (model) shell.navigate({ kind: 'go', trail: [{ view: 'chat', model }] });
        },
      },
      {
        command: deploymentCommands.promote,
        enabled: ready && one.is_active !== true,
        run: confirm(close => (one ? <PromoteWindow deployment={one} labelOf={labelOf} onClose={close} /> : null)),
      },
      {
        command: deploymentCommands.unpromote,
        enabled: one?.is_active === true,
        run: confirm(close => (
          <Confirm
            title="Stop this deployment from answering?"
            typed={one && labelOf(one)}
            question={`Nothing answers for ${one ? labelOf(one) : ''} until another deployment is promoted.`}
            verb="unpromote"
            past="unpromoted"
            action={unpromote}
            rows={one ? [one] : []}
            labelOf={labelOf}
            onDone={() => shell.toast({ kind: 'success', text: `${one ? labelOf(one) : ''} no longer answers` })}
            onClose={close}
          />
        )),
      },
      {
        command: deploymentCommands.undeploy,
        enabled: deployments.length > 0,
        run: confirm(close => (
          <Confirm
            title={deployments.length === 1 ? 'Undeploy?' : `Undeploy ${deployments.length} deployments?`}
            question={`${outageWords(production)}${names}: what serves it is torn down and its record deleted. Its checkpoint stays. This cannot be undone.`}
            typed={production.length === 0 ? undefined : production.map(labelOf).join(' ')}
            verb="undeploy"
            past="undeployed"
            action={undeploy}
            rows={deployments}
            labelOf={labelOf}
            onDone={() => {
              shell.toast({ kind: 'success', text: `Undeployed ${names}` });
              onRemoved?.();
            }}
            onClose={close}
          />
        )),
      },
    ];
  };
}
