/** Where a model is asked: most by their name, a deployment that does not answer for its slug at an address of its own. */
import type { Deployment } from '../contract/deployments.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from './remembered/store.ts';

export interface ChatRoute {
  /** The name that the request says. */
  readonly model: string;
  /** The path or address, where it is not that of chat completions. */
  readonly at?: string | undefined;
}

/** @param name a slug, or the id of a deployment */
export async function chatRoute(
  service: Service,
  memory: Pick<RememberedStore, 'find'>,
  name: string,
  signal: AbortSignal,
): Promise<ChatRoute> {
  const seen = memory.find('deployment', name);
  if (!seen && !/^dep[_-]/.test(name)) return { model: name };
  let deployment: Partial<Deployment> | undefined = seen?.record;
  try {
    deployment = await service.call('getDeployment', { params: { deployment_id: name } }, { signal });
  } catch (error) {
    // The answer to the question says what is wrong with the service, if anything is.
    if (signal.aborted) throw error;
  }
  if (!deployment) return { model: name };
  const model = deployment.model_slug ?? name;
  if (deployment.is_active && deployment.model_slug) return { model };
  const address = deployment.playground_endpoint_url;
  if (address) return { model, at: address };
  if (service.generation.current === 'document') return { model: name };
  return { model, at: `/v1/playground/${encodeURIComponent(name)}/chat/completions` };
}
