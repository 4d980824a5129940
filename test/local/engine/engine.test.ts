/** Unfinished jobs of the local service after a crash. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { Catalog } from '../../../src/local/engine/catalog.ts';
import { Engine } from '../../../src/local/engine/engine.ts';
import { WorkerThread } from '../../../src/local/engine/worker-thread.ts';
import { eventually } from '../../eventually.ts';
import { newEvaluation, storesInMemory } from '../store/memory.ts';

it('resumes jobs one by one, which shows the one that crashes it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { stores, organizationId } = storesInMemory();
  const { attempts, evaluations, deployments, weights } = stores;
  const worker = new WorkerThread({ name: 'unused' });
  vi.spyOn(worker, 'answers').mockImplementation(
    (_model, _orders, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  for (const _ of [1, 2, 3]) {
    attempts.begin(evaluations.create(organizationId, newEvaluation).eval_run_id, 'evaluation');
  }
  const begun = vi.spyOn(attempts, 'begin');
  const workers = { chatWorker: worker, sampler: worker, trainer: worker, graders: worker };
  const catalog = new Catalog(deployments, weights, undefined);
  const engine = new Engine({ ...stores, ...workers, catalog, dataFolder: 'unused' });
  engine.recover();
  engine.wake();
  for (const count of [1, 2, 3]) {
    vi.advanceTimersByTime(1_000);
    await eventually(() => expect(begun.mock.calls.length).toBeGreaterThanOrEqual(count));
    expect(begun).toHaveBeenCalledTimes(count);
  }
  await engine.stop();
});
