/** Where to send a chat: to most models by name, to an inactive deployment at its own address. */
import type { Deployment } from '../contract/deployments.ts';
import { isGone } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from '../store/store.ts';

interface ChatRoute {
  /** The name of the model in the request. */
  readonly model: string;
  /** The path or address, if it differs from the default one for chat completions. */
  readonly at?: string | undefined;
}

/**
 * @param name a slug or a deployment id; the two may look alike
 * @param asks whether to ask the service about an unknown name
 */
export async function chatRoute(
  service: Service,
  memory: Pick<RememberedStore, 'seen'>,
  name: string,
  signal: AbortSignal,
  asks = false,
): Promise<ChatRoute> {
  const seen = memory.seen.find('deployment', name);
  // Names of base models have a vendor prefix.
  const mayBeId = (): boolean =>
    !name.includes('/') && memory.seen.list('deployment').every(({ label }) => label !== name);
  if (!seen && !/^dep[_-]/.test(name) && !(asks && mayBeId())) return { model: name };
  const { notDeployments } = service.capabilities;
  if (!seen && notDeployments.has(name)) return { model: name };
  let deployment: Partial<Deployment> | undefined;
  try {
    deployment = await service.call('getDeployment', { params: { deployment_id: name } }, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    // Another deployment may serve its slug now, so use its own address.
    if (seen && !isGone(error)) {
      deployment = { ...seen.record, is_active: false };
      if (!deployment.playground_endpoint_url && service.generation.current === 'document') throw error;
    }
  }
  if (!deployment) {
    notDeployments.add(name);
    return { model: name };
  }
  const model = deployment.model_slug ?? name;
  if (deployment.is_active && deployment.model_slug) return { model };
  const address = deployment.playground_endpoint_url;
  if (address) return { model, at: address };
  if (service.generation.current === 'document') return { model: name };
  return { model, at: `/v1/playground/${encodeURIComponent(name)}/chat/completions` };
}
