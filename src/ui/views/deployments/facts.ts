/** What is said of a deployment, and where it opens. */
import type { Deployment } from '../../../contract/deployments.ts';
import { rememberedAt } from '../../../queries/remembered/listing.ts';
import type { Location } from '../../navigation/location.ts';
import type { Fact } from '../../widgets/facts.ts';
import { ageOf, agoOf } from '../shared/ages.ts';
import { failureFacts } from '../shared/failure-facts.ts';

export function deploymentFacts(deployment: Deployment): readonly Fact[] {
  const { is_active } = deployment;
  return [
    { label: 'slug', value: deployment.model_slug },
    { label: 'id', value: deployment.deployment_id },
    { label: 'status', value: deployment.status ?? 'unknown' },
    { label: 'seen', value: agoOf(rememberedAt(deployment)) },
    ...failureFacts(deployment.failure),
    { label: 'role', value: deployment.role },
    { label: 'active', value: is_active == null ? undefined : is_active ? 'yes, answers for its slug' : 'no' },
    { label: 'base model', value: deployment.base_model_slug },
    { label: 'step', value: deployment.checkpoint_step },
    { label: 'model', value: deployment.model_id },
    { label: 'endpoint', value: deployment.playground_endpoint_url },
    { label: 'speed', value: deployment.output_speed },
    { label: 'concurrency', value: deployment.expected_concurrency },
    { label: 'merge job', value: deployment.merge_xid },
    { label: 'deploy job', value: deployment.deploy_xid },
    { label: 'slug id', value: deployment.model_slug_id },
    { label: 'by', value: deployment.created_by },
    { label: 'requested', value: ageOf(deployment.created_at) },
    { label: 'deployed', value: ageOf(deployment.completed_at) },
    { label: 'changed', value: ageOf(deployment.updated_at) },
  ];
}

export function deploymentPlace({ deployment_id, model_slug }: Deployment): Location {
  return { view: 'deployment', params: { deployment_id, ...(model_slug ? { slug: model_slug } : {}) } };
}
