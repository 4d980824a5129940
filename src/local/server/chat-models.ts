/** The models available for chat, in the format that OpenAI's clients expect. */
import { modelsUpstream } from '../engine/upstream.ts';
import { baseModels } from '../model/base-models.ts';
import { ApiError } from './errors.ts';
import type { ServiceContext } from './handlers.ts';

/** Base models have no date. */
const noDate = 0;

function modelOf(id: string, created: number, owned_by: string) {
  return { id, object: 'model', created, owned_by };
}

/** Base models, and deployments by slug. */
function ownModels({ deployments }: ServiceContext, organizationId: string) {
  const secondsOf = (time: string): number => Math.floor(Date.parse(time) / 1000);
  return [
    ...baseModels.map(({ slug }) => modelOf(slug, noDate, 'benchtop')),
    ...deployments.answering(organizationId).map(({ deployment_id, model_slug, is_active, created_at }) => {
      const id = is_active === 1 ? model_slug : deployment_id;
      return modelOf(id, secondsOf(created_at), organizationId);
    }),
  ];
}

async function otherModels({ catalog }: ServiceContext) {
  return catalog.upstream ? modelsUpstream(catalog.upstream) : [];
}

/** The local models and the upstream server's models. */
export async function chatModels(service: ServiceContext, organizationId: string) {
  const own = ownModels(service, organizationId);
  const known = new Set(own.map(({ id }) => id));
  const others = (await otherModels(service)).filter(({ id }) => !known.has(id));
  return { object: 'list', data: [...own, ...others] };
}

/** @throws ApiError `model_not_found` */
export async function chatModel(service: ServiceContext, organizationId: string, name: string) {
  const isNamed = ({ id }: { readonly id: string }): boolean => id === name;
  const model = ownModels(service, organizationId).find(isNamed) ?? (await otherModels(service)).find(isNamed);
  if (model) return model;
  throw new ApiError(404, 'invalid_request_error', 'model_not_found', `There is no model ${name}.`, { param: 'model' });
}
