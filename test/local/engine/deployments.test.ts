/** The failures that end a deployment, and those that only delay it. */
import { expect, it, vi } from 'vitest';
import { Catalog } from '../../../src/local/engine/catalog.ts';
import { Deployer } from '../../../src/local/engine/deployments.ts';
import { WorkerThread } from '../../../src/local/engine/worker-thread.ts';
import { buildBaseModel } from '../../../src/local/model/base-models.ts';
import { packCheckpoint } from '../../../src/local/model/checkpoint-file.ts';
import { writeDurably } from '../../../src/local/store/weight-files.ts';
import { eventually } from '../../eventually.ts';
import { newDeployment, storesInMemory } from '../store/memory.ts';

const base_model_slug = 'benchtop/tutor-base';

it('does not fail if the service stops meanwhile, and restarts', async () => {
  const { stores, organizationId } = storesInMemory();
  const { deployments, training, weights } = stores;
  const { weights: initial } = buildBaseModel(base_model_slug).network;
  const bytes = packCheckpoint({ base_model_slug, step: 1, weights: initial });
  const weights_hash = writeDurably(weights.checkpoint('trn_1', 1), bytes);
  vi.spyOn(training, 'checkpoint').mockReturnValue({
    ...{ checkpoint_id: newDeployment.checkpoint_id, training_run_id: 'trn_1', organization_id: organizationId },
    ...{ base_model_slug, step_index: 1, weights_hash, state_hash: '', created_at: '2026-01-01T00:00:00.000Z' },
  });
  const chatWorker = new WorkerThread({ name: 'unused' });
  const probe = vi.spyOn(chatWorker, 'probe');
  probe.mockImplementation(
    (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  const deployer = new Deployer({ ...stores, catalog: new Catalog(deployments, weights, undefined), chatWorker });
  const { deployment_id } = deployments.create(organizationId, newDeployment);
  const service = new AbortController();
  const running = deployer.jobs().map(job => job.run(service.signal));
  await eventually(() => expect(probe).toHaveBeenCalledTimes(1));
  service.abort();
  await Promise.all(running);
  expect(deployer.jobs().map(({ id }) => id)).toEqual([deployment_id]);
});
