/** Deployments: start, read, list, promote, undeploy. */
import { type DeploymentRow, storedFailure } from '../../store/records.ts';
import { ApiError, notFound } from '../errors.ts';
import type { Area, Call, Handlers, ServiceContext } from '../handlers.ts';

/** A deployment's own chat address; `:model` is its id. */
export const playgroundPath = '/playground/:model/v1/chat/completions';

/** A deployment in the contract's form. */
function recordOf(row: DeploymentRow, origin: string) {
  const { organization_id: _, weights_hash: __, leaving: ___, is_active, ...rest } = row;
  return {
    ...rest,
    is_active: is_active === 1,
    model_endpoint_id: null,
    playground_endpoint_url: `${origin}${playgroundPath.replace(':model', row.deployment_id)}`,
    failure: storedFailure(row),
  };
}

function deploymentRoutes({ deployments, training, engine, user }: ServiceContext): Handlers {
  const find = ({ organizationId, params }: Call): DeploymentRow => {
    const id = params['deployment_id'] ?? '';
    const deployment = deployments.get(organizationId, id);
    if (!deployment) throw notFound('deployment', id);
    return deployment;
  };
  const answer = (call: Call) => recordOf(find(call), call.origin);

  return {
    startDeployment: call => {
      const { checkpoint_id, model_slug, role = 'production', ...asked } = call.body;
      const { output_speed = 'normal', expected_concurrency = 'low' } = asked;
      if (!training.checkpoint(call.organizationId, checkpoint_id)) throw notFound('checkpoint', checkpoint_id);
      const row = deployments.create(call.organizationId, {
        checkpoint_id,
        model_slug: model_slug.toLowerCase(),
        role,
        output_speed,
        expected_concurrency,
        created_by: user,
      });
      engine.wake();
      return recordOf(row, call.origin);
    },
    getDeployment: answer,
    listDeployments: call => {
      const page = deployments.list(call.organizationId, call.query);
      return { ...page, items: page.items.map(row => recordOf(row, call.origin)) };
    },
    getDeploymentSummary: call => deployments.summary(call.organizationId),
    promoteDeployment: call => {
      const deployment = find(call);
      if (deployment.status !== 'DEPLOYED') {
        throw new ApiError(
          409,
          'conflict_error',
          'deployment_not_ready',
          `The deployment is ${deployment.status}; it can answer for its slug once it is DEPLOYED.`,
        );
      }
      const { demote_deployment_id: demoted } = call.body;
      if (demoted !== undefined && !deployments.get(call.organizationId, demoted))
        throw notFound('deployment', demoted);
      deployments.promote(deployment, demoted);
      return answer(call);
    },
    unpromoteDeployment: call => {
      deployments.unpromote(find(call).deployment_id);
      return answer(call);
    },
    undeploy: call => {
      const { deployment_id } = find(call);
      return { deployment_id, row_deleted: engine.deployer.remove(deployment_id) };
    },
  };
}

export const deploymentArea: Area = { name: 'deployments', routes: deploymentRoutes };
