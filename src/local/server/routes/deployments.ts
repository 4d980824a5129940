/** Deployments: start, read, list, promote, undeploy. */
import { type DeploymentRow, storedFailure } from '../../store/records.ts';
import { conflict, notFound } from '../errors.ts';
import type { Area, Call, ServiceContext } from '../handlers.ts';

/** A deployment's own chat address; `:model` is its id. */
export const playgroundPath = '/playground/:model/v1/chat/completions';

/** A deployment in the contract's form. */
function deploymentRecord(row: DeploymentRow, origin: string) {
  const { organization_id: _, weights_hash: __, leaving: ___, is_active, ...rest } = row;
  return {
    ...rest,
    is_active: is_active === 1,
    model_endpoint_id: null,
    playground_endpoint_url: `${origin}${playgroundPath.replace(':model', row.deployment_id)}`,
    failure: storedFailure(row),
  };
}

function findDeployment({ deployments }: ServiceContext, { organizationId, params }: Call): DeploymentRow {
  const id = params['deployment_id'] ?? '';
  const deployment = deployments.get(organizationId, id);
  if (!deployment) throw notFound('deployment', id);
  return deployment;
}

const getDeployment = (service: ServiceContext, call: Call) =>
  deploymentRecord(findDeployment(service, call), call.origin);

function startDeployment(
  { deployments, training, idempotency, engine, user }: ServiceContext,
  { organizationId, idempotencyKey, body, origin }: Call<'startDeployment'>,
) {
  const { checkpoint_id, role = 'production', output_speed = 'normal', expected_concurrency = 'low' } = body;
  const request = { organizationId, operation: 'startDeployment', key: idempotencyKey, body };
  const row = idempotency.once(request, () => {
    if (!training.checkpoint(organizationId, checkpoint_id)) throw notFound('checkpoint', checkpoint_id);
    return deployments.create(organizationId, {
      checkpoint_id,
      model_slug: body.model_slug.toLowerCase(),
      role,
      output_speed,
      expected_concurrency,
      created_by: user,
    });
  });
  engine.wake();
  return deploymentRecord(row, origin);
}

function promoteDeployment(service: ServiceContext, call: Call<'promoteDeployment'>) {
  const { deployments } = service;
  const deployment = findDeployment(service, call);
  if (deployment.status !== 'DEPLOYED') {
    throw conflict(
      'deployment_not_ready',
      `The deployment is ${deployment.status}; it can serve its slug once it is DEPLOYED.`,
    );
  }
  const { demote_deployment_id: demoted } = call.body;
  if (demoted !== undefined && !deployments.get(call.organizationId, demoted)) throw notFound('deployment', demoted);
  deployments.promote(deployment, demoted);
  return getDeployment(service, call);
}

export const deploymentArea: Area = {
  name: 'deployments',
  routes: {
    startDeployment,
    getDeployment,
    listDeployments: ({ deployments }, { organizationId, query, origin }) => {
      const page = deployments.list(organizationId, query);
      return { ...page, items: page.items.map(row => deploymentRecord(row, origin)) };
    },
    getDeploymentSummary: ({ deployments }, { organizationId }) => deployments.summary(organizationId),
    promoteDeployment,
    unpromoteDeployment: (service, call) => {
      service.deployments.unpromote(findDeployment(service, call).deployment_id);
      return getDeployment(service, call);
    },
    undeploy: (service, call) => {
      const { deployment_id } = findDeployment(service, call);
      return { deployment_id, row_deleted: service.engine.deployer.remove(deployment_id) };
    },
  },
};
