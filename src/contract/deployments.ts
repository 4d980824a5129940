/** Deployments: the lifecycle of a served checkpoint. */
import * as z from 'zod/mini';
import { defineEndpoints, flag, listQuery, number, openEnum, page, runFailure, text } from './common.ts';
import { modelSlug } from './model-slug.ts';
import { knownDeploymentStatuses } from './status.ts';

/** The default comes first: only an explicit request puts a deployment into production. */
export const deploymentRoles = ['test', 'production'] as const;
export const outputSpeeds = ['normal', 'turbo'] as const;
export const concurrencies = ['low', 'medium', 'high'] as const;

export const deployment = z.looseObject({
  deployment_id: z.string(),
  model_slug: text,
  model_slug_id: text,
  status: z.nullish(openEnum(knownDeploymentStatuses)),
  role: z.nullish(openEnum(deploymentRoles)),
  is_active: flag,
  created_at: text,
  model_id: text,
  playground_endpoint_url: text,
  base_model_slug: text,
  checkpoint_step: number,
  // Sent by later generations.
  checkpoint_id: text,
  model_endpoint_id: text,
  output_speed: z.nullish(openEnum(outputSpeeds)),
  expected_concurrency: z.nullish(openEnum(concurrencies)),
  merge_xid: text,
  deploy_xid: text,
  created_by: text,
  completed_at: text,
  updated_at: text,
  failure: z.nullish(runFailure),
});
export type Deployment = z.output<typeof deployment>;

export const startDeploymentBody = z.strictObject({
  checkpoint_id: z.string().check(z.minLength(1)),
  model_slug: z.string().check(z.regex(modelSlug.pattern), z.maxLength(modelSlug.maximum)),
  role: z.enum(deploymentRoles),
});
export type StartDeploymentBody = z.input<typeof startDeploymentBody>;

/** Later generations accept the deployment to demote. */
export const promoteDeploymentBody = z.strictObject({ demote_deployment_id: z.optional(z.string()) });

export const deploymentListQuery = z.extend(listQuery, { status: z.optional(z.string()) });
export type DeploymentListQuery = z.input<typeof deploymentListQuery>;

export const deploymentEndpoints = defineEndpoints({
  getDeployment: {
    method: 'GET',
    path: '/api/v1/deploy/{deployment_id}',
    response: deployment,
  },
  undeploy: {
    method: 'DELETE',
    path: '/api/v1/deploy/{deployment_id}',
    response: z.looseObject({ deployment_id: text, row_deleted: flag }),
    pace: 'slow',
  },
  listDeployments: {
    method: 'GET',
    path: '/api/v1/deploy',
    query: deploymentListQuery,
    response: page(deployment),
    capability: true,
  },
  startDeployment: {
    method: 'POST',
    path: '/api/v1/deploy',
    body: startDeploymentBody,
    response: deployment,
    capability: true,
    idempotencyKey: true,
  },
  promoteDeployment: {
    method: 'POST',
    path: '/api/v1/deploy/{deployment_id}/promote',
    isIdempotent: true,
    body: z.optional(promoteDeploymentBody),
    response: deployment,
    capability: true,
  },
  unpromoteDeployment: {
    method: 'POST',
    path: '/api/v1/deploy/{deployment_id}/unpromote',
    isIdempotent: true,
    response: deployment,
    capability: true,
  },
  getDeploymentSummary: {
    method: 'GET',
    path: '/api/v1/deploy/summary',
    response: z.record(z.string(), z.unknown()),
    capability: true,
  },
});
