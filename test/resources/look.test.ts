/** The state of a resource if answers of the service disagree. */
import { expect, it } from 'vitest';
import { lookAt } from '../../src/resources/look.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { fakeService } from '../service/fake-service.ts';

it.each(['completed', 'failed'])(
  'takes a run as ended if its record says %s, whatever its progress says (attack34 B4)',
  async status => {
    const service = fakeService({
      getEvalRun: () => ({ eval_run_id: 'evr_1', status, reward_mean: 0.5, reward_count: 10 }),
      getEvalProgress: () => ({
        status: 'running',
        total_rollouts: 10,
        terminal_rollouts: 3,
        live: { scored_rollouts: 3 },
      }),
    });
    const context = { service, memory: RememberedStore.inMemory('test'), signal: new AbortController().signal };
    const { status: seen, done, mean, graded } = await lookAt({ kind: 'run', id: 'evr_1', label: 'c' }, context);
    expect({ seen, done, mean, graded }).toEqual({ seen: status, done: undefined, mean: 0.5, graded: 10 });
  },
);
