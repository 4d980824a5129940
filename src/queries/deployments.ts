/** Queries and actions for deployments. */

import { isRecord } from '../base/own-property.ts';
import { failureReason } from '../contract/common.ts';
import type { Deployment, StartDeploymentBody } from '../contract/deployments.ts';
import { isRunning, knownDeploymentStatuses, statusMeaning } from '../contract/status.ts';
import { isSameStatus } from '../text/status-spelling.ts';
import { action } from './action.ts';
import type { ListSource } from './lists/list-source.ts';
import type { LiveQuery } from './live-query.ts';
import type { Activity } from './polling.ts';
import { rememberedKind } from './remembered-fallback.ts';

export const deploymentKeys = {
  all: ['deployments'],
  list: ['deployments', 'list'],
  summary: ['deployments', 'summary'],
  one: (deploymentId: string) => ['deployments', 'one', deploymentId],
} as const;

/** A deployment in progress changes slowly on its own; a finished one only when users change it. */
const activityOf = (status: string | null | undefined): Activity => (isRunning(status) ? 'building' : 'open');

const remembered = rememberedKind<Deployment>({
  kind: 'deployment',
  idName: 'deployment_id',
  words: 'deployments',
  observe: deployment => ({
    label: deployment.model_slug,
    status: deployment.status,
    startedAt: deployment.created_at,
    endTime: deployment.completed_at,
    reason: failureReason(deployment.failure),
  }),
});

export const startDeployment = action(
  (service, body: StartDeploymentBody, options) => service.call('startDeployment', { body }, options),
  { touches: [deploymentKeys.all], keyed: 'startDeployment', starts: remembered.observe },
);

type DeploymentId = Pick<Deployment, 'deployment_id'>;

type Promoted = DeploymentId & { readonly demote_deployment_id?: string | undefined };

/** Makes a deployment active for its slug. */
export const promote = action(
  (service, { deployment_id, demote_deployment_id }: Promoted, options) => {
    const body = demote_deployment_id === undefined ? {} : { body: { demote_deployment_id } };
    return service.call('promoteDeployment', { params: { deployment_id }, ...body }, options);
  },
  { touches: [deploymentKeys.all] },
);

export const unpromote = action(
  (service, { deployment_id }: DeploymentId, options) =>
    service.call('unpromoteDeployment', { params: { deployment_id } }, options),
  { touches: [deploymentKeys.all] },
);

/** Whether an `undeploy` kept the record, according to the response. */
export const keptRecord = (answer: unknown): boolean => isRecord(answer) && answer['row_deleted'] === false;

/** Tears down a deployment, then deletes its record. */
export const undeploy = action(
  (service, { deployment_id }: DeploymentId, options) =>
    service.call('undeploy', { params: { deployment_id } }, options),
  {
    touches: [deploymentKeys.all],
    removes: {
      resource: ({ deployment_id }, answer) =>
        keptRecord(answer) ? undefined : { kind: 'deployment', id: deployment_id },
      reread: (service, { deployment_id }, options) =>
        service.call('getDeployment', { params: { deployment_id } }, options),
      kept: record => {
        const { deployment_id, status } = record as Deployment;
        return statusMeaning(status ?? '') === 'stopped' ? { deployment_id, status, row_deleted: false } : undefined;
      },
    },
  },
);

export const deploymentList: ListSource<Deployment> = remembered.list({
  key: deploymentKeys.list,
  sorts: true,
  readPage: ({ service, query, signal }) => service.call('listDeployments', { query }, { signal }),
  activity: rows => (rows.some(row => isRunning(row.status)) ? 'building' : 'open'),
});

/**
 * Deployments with a given status, ignoring case and spelling. Does not fall back on remembered rows, whose statuses
 * would be out of date.
 */
export function deploymentsWithStatus(status: string): ListSource<Deployment> {
  const known = knownDeploymentStatuses.find(each => isSameStatus(each, status));
  // Do not filter by a status that has two spellings, because the service may use the other one.
  const filter = known?.startsWith('CANCEL') ? {} : { status: known ?? status };
  return {
    ...deploymentList,
    key: [...deploymentKeys.list, status],
    fallback: undefined,
    readPage: async ({ service, query, signal }) => {
      const page = await service.call('listDeployments', { query: { ...query, ...filter } }, { signal });
      // A service may ignore unknown parameters.
      return { ...page, items: page.items.filter(row => isSameStatus(row.status, status)) };
    },
  };
}

export function deploymentQuery(deploymentId: string): LiveQuery<Deployment> {
  return {
    key: deploymentKeys.one(deploymentId),
    about: { kind: 'deployment', id: deploymentId },
    observes: remembered.observe,
    activity: deployment => activityOf(deployment?.status),
    read: ({ service, signal }) =>
      service.call('getDeployment', { params: { deployment_id: deploymentId } }, { signal }),
  };
}

/** Deployments by status, if the service counts them. */
export const deploymentSummaryQuery: LiveQuery<Readonly<Record<string, unknown>>> = {
  key: deploymentKeys.summary,
  activity: () => 'open',
  read: ({ service, signal }) => service.call('getDeploymentSummary', {}, { signal }),
};
