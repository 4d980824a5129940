/**
 * Runs deployments. MERGING combines the base model and the checkpoint in one self-contained file and verifies it;
 * DEPLOYING loads the file and has it answer once.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { isStorageError } from '../../base/errors.ts';
import { buildBaseModel } from '../model/base-models.ts';
import { unpackCheckpoint } from '../model/checkpoint-file.ts';
import { deserialise, serialise } from '../model/model-file.ts';
import { newId } from '../store/ids.ts';
import type { DeploymentRow, Failure } from '../store/records.ts';
import { readVerified, readVerifiedAs, WeightFileError, writeDurably } from '../store/weight-files.ts';
import { isBaseModel } from './catalog.ts';
import { failureCodeOf, failureOf } from './failures.ts';
import type { Job, JobSource } from './job-queue.ts';
import type { EngineParts } from './parts.ts';

type Parts = Pick<EngineParts, 'deployments' | 'training' | 'catalog' | 'weights' | 'chatWorker'>;

export class Deployer implements JobSource {
  readonly kind = 'deployment';
  /** One at a time, so that deployments take over their slug in the order they were requested. */
  readonly concurrency = 1;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly jobs = (): Job[] =>
    this.#parts.deployments
      .inProgress()
      .map(deployment => ({ id: deployment.deployment_id, run: signal => this.#run(deployment, signal) }));

  /** A deployment that was interrupted starts over. */
  readonly progress = (): number => 0;

  readonly fail = (deploymentId: string, failure: Failure): boolean =>
    this.#parts.deployments.fail(deploymentId, failure);

  /** At startup: completes interrupted undeploys, and fails deployments whose weights are damaged. */
  recover(): void {
    const { deployments } = this.#parts;
    for (const { deployment_id } of deployments.undeploying()) this.remove(deployment_id);
    for (const deployment of deployments.deployed()) {
      try {
        readVerified(this.#parts.catalog.servedBy(deployment).file);
      } catch (error) {
        deployments.fail(deployment.deployment_id, failureOf(error, contextOf(deployment, 'serving')));
      }
    }
  }

  /** Deletes a deployment: first its files, then its row. Returns whether there was a row. */
  remove(deploymentId: string): boolean {
    const { deployments, weights: folder } = this.#parts;
    deployments.beginUndeploy(deploymentId);
    folder.removeDeployment(deploymentId);
    return deployments.delete(deploymentId);
  }

  async #run(deployment: DeploymentRow, signal: AbortSignal): Promise<void> {
    let stage = 'merge';
    try {
      const merged = await this.#merge(deployment);
      stage = 'deploy';
      if (merged) await this.#deploy({ ...deployment, ...merged }, signal);
    } catch (error) {
      // If the service stops, the deployment starts over at the next start.
      if (signal.aborted) return;
      if (isStorageError(error)) throw error;
      const code = failureCodeOf(error);
      const reason = stage === 'deploy' && code === 'worker_failed' ? 'probe_failed' : code;
      this.#parts.deployments.fail(deployment.deployment_id, failureOf(error, contextOf(deployment, stage), reason));
    }
  }

  /** Undefined if the deployment has been deleted. */
  async #merge({ deployment_id, organization_id, checkpoint_id, model_id }: DeploymentRow) {
    const { deployments, training, weights: folder, catalog } = this.#parts;
    if (!deployments.move(deployment_id, 'MERGING')) return undefined;
    await turn();
    const checkpoint = training.requireCheckpoint(organization_id, checkpoint_id);
    const { slug, file } = catalog.ofCheckpoint(checkpoint);
    if (!isBaseModel(slug)) throw new WeightFileError('weights_corrupt', `There is no base model ${slug}.`);
    const { weights } = readVerifiedAs(file, unpackCheckpoint);
    const path = folder.serving(deployment_id);
    const weights_hash = writeDurably(path, serialise(buildBaseModel(slug).withWeights(weights)));
    readVerifiedAs({ path, hash: weights_hash }, deserialise);
    const merged = {
      model_id: model_id ?? newId('model'),
      base_model_slug: slug,
      checkpoint_step: checkpoint.step_index,
      weights_hash,
    };
    if (deployments.move(deployment_id, 'DEPLOYING', merged)) return merged;
    folder.removeDeployment(deployment_id);
    return undefined;
  }

  async #deploy(deployment: DeploymentRow, signal: AbortSignal): Promise<void> {
    const { catalog, chatWorker, deployments } = this.#parts;
    await chatWorker.probe(catalog.servedBy(deployment), signal);
    deployments.deploy(deployment.deployment_id);
  }
}

function contextOf({ checkpoint_id, model_slug }: DeploymentRow, stage: string) {
  return { checkpoint_id, model_slug, stage };
}
