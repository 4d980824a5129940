/** Trainable models, the slugs of deployments, and the agents of later generations. */
import * as z from 'zod/mini';
import { defineEndpoints, listQuery, number, page, rows, text, withRenamedFields } from './common.ts';

/** The document does not show the unit of the prices. */
export const pricing = z.looseObject({ input: number, output: number, cached_input: number });

export const supportedModel = withRenamedFields(
  { model_slug: ['base_model_slug'] },
  z.looseObject({
    model_slug: z.string(),
    model_name: text,
    pricing: z.nullish(pricing),
  }),
);
export type SupportedModel = z.output<typeof supportedModel>;

/** The owner of benchmarks and trajectories in later generations. */
export const agent = withRenamedFields({ agent_id: ['id'] }, z.looseObject({ agent_id: z.string(), name: text }));
export type Agent = z.output<typeof agent>;

export const modelEndpoints = defineEndpoints({
  listSupportedTrainingModels: {
    method: 'GET',
    path: '/api/v1/models/supported-training-models',
    auth: 'shownWithout',
    response: rows(supportedModel),
  },
  listAgents: {
    method: 'GET',
    path: '/api/v1/agents',
    query: listQuery,
    response: page(agent),
    capability: true,
  },
});
