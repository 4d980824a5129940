/** Another program deletes an open resource: its answers may show that in any order, and the screen ends the same. */
import { describe, expect, it } from 'vitest';
import { trainingKeys } from '../../../src/queries/training.ts';
import { eventually } from '../../eventually.ts';
import { type Answers, notFound } from '../../queries/scripted-service.ts';
import { openWorld, world } from './scripted-world.tsx';

const training = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'longer', status: 'running' };
const answers = {
  getTrainingRun: () => training,
  getTrainingProgress: () => ({ training_run_id: 'trn_1', status: 'running', completed_steps: 3, total_steps: 40 }),
  getTrainerRewards: () => ({ trainer_rewards: [0, 1, 2].map(step => ({ step, trainer_reward: step / 4 })) }),
  listCheckpoints: () => [{ checkpoint_id: 'ckpt_1', step_index: 2 }],
  listTrainingRuns: () => [training],
} satisfies Answers;
type Asked = keyof typeof answers;
const operations = Object.keys(answers) as Asked[];

/** Each is the first, the last and in between; each follows each other one. */
const orders = operations.flatMap((_, at) => {
  const turned = [...operations.slice(at), ...operations.slice(0, at)];
  return [turned, turned.toReversed()];
});

describe('a training run that another program deletes while it is open', () => {
  it.each(orders)('is reported as deleted in the order %s, %s, %s, %s, %s', async (...order) => {
    const service = world('completed');
    Object.assign(service.answers, answers, { getHeldOutRewards: () => ({ held_out_rewards: [] }) });
    const screen = openWorld(service, { view: 'record', resource: 'training', id: 'trn_1' });
    await screen.waitFor(
      text => text.includes('step 3 of 40') && text.includes('step 2 ') && text.includes('1 running'),
    );
    const know = new Set<Asked>();
    const asked = new Map(operations.map(operation => [operation, 0]));
    for (const [at, operation] of order.entries()) {
      service.answers[operation] = () => {
        asked.set(operation, (asked.get(operation) ?? 0) + 1);
        // A query that is not sent any more delays nothing.
        const isTurn = order.slice(0, at).every(each => know.has(each) || (asked.get(operation) ?? 0) > 3);
        if (!isTurn) return answers[operation]();
        know.add(operation);
        return operation === 'listTrainingRuns' ? [] : notFound('trn_1');
      };
    }
    await screen.waitFor('Deleted from the service.');
    await screen.waitFor(text => !/There is no|does not/.test(text));
    // Held-out rewards are still answered.
    await screen.workbench.cache.refetchQueries({ queryKey: trainingKeys.heldOutRewards('trn_1') });
    for (const operation of ['getTrainingRun', 'listTrainingRuns'] as const) {
      const before = service.asked(operation);
      await screen.press('r');
      await eventually(() => expect(service.asked(operation)).toBeGreaterThan(before));
    }
    await screen.waitFor(text => /Training +0/.test(text) && !text.includes('1 running'));
    const text = screen.text();
    expect(text).toMatch(/✗ deleted, read/);
    expect(text).toMatch(/step 3 of 40[\s\S]*Deleted from[\s\S]*trainer 0\.500[\s\S]*▸ step 2 +ckpt_1/);
    expect(text).not.toMatch(/unknown|There is no|does not|steps\/s/);
  });
});
