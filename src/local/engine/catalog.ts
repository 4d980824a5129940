/** Resolves a model name: to a base model, a deployment of the organization, or a model on the upstream server. */
import { baseModels } from '../model/base-models.ts';
import type { DeploymentStore, InactiveDeployment } from '../store/deployments.ts';
import type { CheckpointRow, DeploymentRow } from '../store/records.ts';
import type { WeightFolder } from '../store/weight-folder.ts';
import type { LocalModel } from './messages.ts';
import type { Upstream } from './upstream.ts';

export type ModelSource =
  | { readonly kind: 'local'; readonly model: LocalModel }
  | { readonly kind: 'upstream'; readonly name: string; readonly upstream: Upstream };

/** No model can answer under this name: it is unknown, or not ready. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable';
  readonly code = 'model_not_found';
  readonly reason: 'unknown' | 'not_ready';
  /** The state of the deployment that is not ready. */
  readonly status: string | undefined;

  constructor(reason: 'unknown' | 'not_ready', message: string, status?: string) {
    super(message);
    this.reason = reason;
    this.status = status;
  }
}

const baseSlugs = new Set(baseModels.map(({ slug }) => slug));

export function isBaseModel(slug: string): boolean {
  return baseSlugs.has(slug);
}

export class Catalog {
  readonly #deployments: DeploymentStore;
  readonly #folder: WeightFolder;
  readonly upstream: Upstream | undefined;

  constructor(deployments: DeploymentStore, folder: WeightFolder, upstream: Upstream | undefined) {
    this.#deployments = deployments;
    this.#folder = folder;
    this.upstream = upstream;
  }

  /**
   * The model that answers chats under a name.
   *
   * @throws ModelUnavailable
   */
  forChat(organizationId: string, name: string): ModelSource {
    if (baseSlugs.has(name)) return { kind: 'local', model: { kind: 'base', slug: name } };
    const deployment = this.#deployments.serving(organizationId, name);
    if (deployment) return { kind: 'local', model: this.servedBy(deployment) };
    const inactive = this.#deployments.inactive(organizationId, name);
    const newest = inactive.at(-1);
    if (newest) throw notServing(inactive, newest, name);
    return this.#upstreamModel(name);
  }

  /** The model that an evaluation samples from. @throws ModelUnavailable */
  forEvaluation(slug: string, checkpoint: CheckpointRow | undefined): ModelSource {
    if (checkpoint) return { kind: 'local', model: this.ofCheckpoint(checkpoint) };
    return baseSlugs.has(slug) ? { kind: 'local', model: { kind: 'base', slug } } : this.#upstreamModel(slug);
  }

  #upstreamModel(name: string): ModelSource {
    if (this.upstream) return { kind: 'upstream', name, upstream: this.upstream };
    throw new ModelUnavailable('unknown', `There is no model ${name}.`);
  }

  ofCheckpoint({
    base_model_slug,
    training_run_id,
    step_index,
    weights_hash,
  }: CheckpointRow): LocalModel & { kind: 'checkpoint' } {
    const path = this.#folder.checkpoint(training_run_id, step_index);
    return { kind: 'checkpoint', slug: base_model_slug, file: { path, hash: weights_hash } };
  }

  servedBy({ deployment_id, weights_hash }: DeploymentRow): LocalModel & { kind: 'serving' } {
    return { kind: 'serving', file: { path: this.#folder.serving(deployment_id), hash: weights_hash ?? '' } };
  }
}

/** Maximum number of deployments to name. */
const maxNamed = 5;

/** Names every deployment that is up: the last one promoted may be the one that was taken out of production. */
function notServing(
  inactive: readonly InactiveDeployment[],
  { status, deployment_id }: DeploymentRow,
  name: string,
): ModelUnavailable {
  const up = inactive.filter(row => row.status === 'DEPLOYED');
  const named = up.slice(-maxNamed).map(({ deployment_id: id, checkpoint_step: step, run_name }) => {
    return `${id} (${run_name === null ? '' : `${run_name} `}step ${step})`;
  });
  const older = up.length > maxNamed ? `${up.length - maxNamed} older, ` : '';
  const what =
    up.length > 0
      ? `none of its deployments is active; promote one, or chat with it under its id: ${older}${named.join(', ')}`
      : `its deployment ${deployment_id} is ${status}`;
  return new ModelUnavailable('not_ready', `The model ${name} does not answer: ${what}.`, status);
}
