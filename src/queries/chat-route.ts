/** Where a model is asked: most by their name, a deployment that does not answer for its slug at an address of its own. */
import type { Deployment } from '../contract/deployments.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from './remembered/store.ts';

export interface ChatRoute {
  /** The name that the request says. */
  readonly model: string;
  /** The path or address, if it is not that of chat completions. */
  readonly at?: string | undefined;
}

/** Names that were found not to be ids of deployments, by service. */
const models = new WeakMap<object, Set<string>>();

/**
 * @param name a slug, or the id of a deployment, which may look like one
 * @param asks also about a name that was not seen here
 */
export async function chatRoute(
  service: Service,
  memory: Pick<RememberedStore, 'find' | 'list'>,
  name: string,
  signal: AbortSignal,
  asks = false,
): Promise<ChatRoute> {
  const seen = memory.find('deployment', name);
  // Models that can be trained are named by their vendor as well.
  const mayBeId = (): boolean => !name.includes('/') && memory.list('deployment').every(({ label }) => label !== name);
  if (!seen && !/^dep[_-]/.test(name) && !(asks && mayBeId())) return { model: name };
  const known = models.get(service) ?? new Set<string>();
  models.set(service, known);
  if (!seen && known.has(name)) return { model: name };
  let deployment: Partial<Deployment> | undefined = seen?.record;
  try {
    deployment = await service.call('getDeployment', { params: { deployment_id: name } }, { signal });
  } catch (error) {
    // The answer to the question says what is wrong with the service, if anything is.
    if (signal.aborted) throw error;
  }
  if (!deployment) {
    known.add(name);
    return { model: name };
  }
  const model = deployment.model_slug ?? name;
  if (deployment.is_active && deployment.model_slug) return { model };
  const address = deployment.playground_endpoint_url;
  if (address) return { model, at: address };
  if (service.generation.current === 'document') return { model: name };
  return { model, at: `/v1/playground/${encodeURIComponent(name)}/chat/completions` };
}
