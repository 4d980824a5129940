/** Deployments: the lifecycle of a served checkpoint. */
import { randomUUID } from 'node:crypto';
import {
  type DeploymentListQuery,
  deploymentEndpoints as endpoints,
  type StartDeploymentBody,
} from '../../contract/deployments.ts';
import type { Calls } from '../caller.ts';
import { type CallOptions, type StartOptions, slowAnswer } from '../options.ts';
import { paginate } from '../pagination.ts';

export function deploymentResource(caller: Calls) {
  const of = (deploymentId: string) => ({ params: { deployment_id: deploymentId } });
  const list = (query: DeploymentListQuery = {}, options?: CallOptions) =>
    caller.call(endpoints.listDeployments, { query }, options);
  return {
    get: (deploymentId: string, options?: CallOptions) =>
      caller.call(endpoints.getDeployment, of(deploymentId), options),
    /** Tears down what serves the deployment, then deletes it. */
    undeploy: (deploymentId: string, options?: CallOptions) =>
      caller.call(endpoints.undeploy, of(deploymentId), { ...slowAnswer, ...options }),
    /** One page of the deployments. */
    list,
    listAll: (query: DeploymentListQuery = {}, options?: CallOptions) => paginate(next => list(next, options), query),
    /** A key is sent along, but the document does not say that it is honoured here: this start is not retried. */
    start: (body: StartDeploymentBody, options: StartOptions = {}) =>
      caller.call(
        endpoints.startDeployment,
        { body },
        { ...options, idempotencyKey: options.idempotencyKey ?? randomUUID() },
      ),
    /** Makes it the one that answers for its slug. */
    promote: (deploymentId: string, options?: CallOptions) =>
      caller.call(endpoints.promoteDeployment, of(deploymentId), options),
    unpromote: (deploymentId: string, options?: CallOptions) =>
      caller.call(endpoints.unpromoteDeployment, of(deploymentId), options),
    summary: (options?: CallOptions) => caller.call(endpoints.getDeploymentSummary, {}, options),
  };
}
