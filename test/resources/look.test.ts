/** The state of a resource if answers of the service disagree. */
import { describe, expect, it } from 'vitest';
import { lookAt } from '../../src/resources/look.ts';
import { NetworkError } from '../../src/service/errors.ts';
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

describe('an answer from before the end that arrives after it', () => {
  const look = (more: Parameters<typeof fakeService>[0] = {}) => {
    let end = (): void => {};
    const ended = new Promise<void>(resolve => {
      end = resolve;
    });
    const service = fakeService({
      getEvalRun: () => {
        setImmediate(end);
        return { eval_run_id: 'evr_1', status: 'completed', reward_mean: 0.5, reward_count: 10 };
      },
      getEvalProgress: async () => {
        await ended;
        return { status: 'running', total_rollouts: 10, terminal_rollouts: 3, live: { scored_rollouts: 3 } };
      },
      ...more,
    });
    const memory = RememberedStore.inMemory('test');
    const context = { service, memory, signal: new AbortController().signal };
    const looked = lookAt({ kind: 'run', id: 'evr_1', label: 'c' }, context);
    return { looked, remembered: () => memory.seen.find('run', 'evr_1') };
  };
  const completed = { status: 'completed', record: { status: 'completed', reward_mean: 0.5, reward_count: 10 } };

  it('is not remembered over the end', async () => {
    const { looked, remembered } = look();
    await looked;
    expect(remembered()).toMatchObject(completed);
  });

  it('loses nothing of what was read if another read fails', async () => {
    const { looked, remembered } = look({
      getEvalProgress: async () => {
        await new Promise(setImmediate);
        await new Promise(setImmediate);
        throw new NetworkError('The line is cut.', {});
      },
    });
    await expect(looked).rejects.toThrow('The line is cut.');
    expect(remembered()).toMatchObject(completed);
  });
});
