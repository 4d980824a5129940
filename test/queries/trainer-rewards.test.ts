/** The curve of a trainer, read row by row from a service. */
import { expect, it } from 'vitest';
import { unreadableIn } from '../../src/contract/lists.ts';
import { lastReward, stepValues } from '../../src/contract/trainer-curve.ts';
import { trainerRewardsQuery } from '../../src/queries/training.ts';
import { ResponseError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import {
  type Behaviour,
  errorOf,
  hostileServer,
  json,
  resetAfter,
  serviceAt,
  text,
} from '../service/hostile-server.ts';

/** Reads the curve, and how often it was asked for. */
async function readFrom(...answers: readonly Behaviour[]) {
  const server = await hostileServer(...answers);
  const { service } = serviceAt(server.url);
  const memory = RememberedStore.inMemory('test');
  const { signal } = new AbortController();
  const curve = await trainerRewardsQuery('trn_1', true).read({ service, signal, memory });
  return { curve, dropped: unreadableIn(curve), asked: server.requests.length };
}

const point = (step: number, trainer_reward?: number | null) => ({ step, trainer_reward });

it('is in order of the step, with gaps, and counts what cannot be read', async () => {
  const rows = [
    point(3, 0.3),
    { step: '1', trainer_reward: '0.5' },
    point(2, null),
    { trainer_reward: 9 },
    null,
    point(3),
  ];
  const { curve, dropped } = await readFrom(json({ training_run_id: 'trn_1', trainer_rewards: rows }));
  expect(stepValues(curve, curve.rewards)).toEqual([
    { step: 1, value: 0.5 },
    { step: 2, value: undefined },
    { step: 3, value: 0.3 },
    { step: 3, value: undefined },
  ]);
  expect([dropped, lastReward(curve)]).toEqual([2, 0.3]);
});

it('has the other numbers of its rows, where they are', async () => {
  const rows = [point(1, 0), { ...point(2, 0), kl: 0.1, note: 'x' }, { ...point(3, 0), loss: 2 }];
  const { curve } = await readFrom(json({ trainer_rewards: rows }));
  expect([...curve.others]).toEqual([
    ['kl', Float64Array.of(Number.NaN, 0.1, Number.NaN)],
    ['loss', Float64Array.of(Number.NaN, Number.NaN, 2)],
  ]);
  const wide = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`n${index}`, index]));
  const many = Array.from({ length: 200 }, (_, index) => ({ ...point(index, index), ...wide }));
  const read = await readFrom(json({ trainer_rewards: many }));
  expect(read.curve.others.size).toBe(24);
  expect(read.curve.others.get('n23')).toEqual(new Float64Array(200).fill(23));
  expect(read.curve.rewards).toEqual(Float64Array.from(many.keys()));
});

it.each([
  ['the list alone', [point(1, 0.5), {}], 1],
  ['a list of another name', { items: [point(1, 0.5), {}] }, 1],
  ['a list in a wrapper', { data: [point(1, 0.5)] }, 0],
])('is read from %s', async (_, body, left) => {
  const { curve, dropped } = await readFrom(json(body));
  expect([[...curve.steps], [...curve.rewards], dropped]).toEqual([[1], [0.5], left]);
});

it('begins anew if the connection is lost in between', async () => {
  const half = '{"trainer_rewards":[{"step":7,"trainer_reward":0.7},{"step":8,';
  const { curve, asked } = await readFrom(resetAfter(half), json({ trainer_rewards: [point(1, 0.1)] }));
  expect([asked, [...curve.steps]]).toEqual([2, [1]]);
});

it.each(['{"trainer_rewards":[{"step":1,}]}', '{"trainer_rewards":[{"step":1}', '<p>no</p>'])(
  'is not read from %s',
  async body => {
    expect(await errorOf(readFrom(text(body)))).toBeInstanceOf(ResponseError);
  },
);
