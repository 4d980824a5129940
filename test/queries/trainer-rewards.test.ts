/** The trainer curve, read row by row from a service. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { unreadableIn } from '../../src/contract/lists.ts';
import { lastReward, stepValues, type TrainerCurve } from '../../src/contract/trainer-curve.ts';
import { TrainerCurveReader } from '../../src/contract/trainer-curve-reader.ts';
import { trainerRewardsQuery } from '../../src/queries/training-curves.ts';
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
import { trainerCurveOf } from '../trainer-curve.ts';

/** Returns a function that reads the next curve of the service, with the columns of the previous one. */
async function readingFrom(...answers: readonly Behaviour[]) {
  const server = await hostileServer(...answers);
  const { service } = serviceAt(server.url);
  const memory = RememberedStore.inMemory('test');
  const { signal } = new AbortController();
  let previous: TrainerCurve | undefined;
  return async () => {
    const curve = await trainerRewardsQuery('trn_1', true).read({ service, signal, memory, previous });
    previous = curve;
    return { curve, dropped: unreadableIn(curve), asked: server.requests.length };
  };
}

/** Reads the curve, and how often it was asked for. */
const readFrom = async (...answers: readonly Behaviour[]) => (await readingFrom(...answers))();

const point = (step: number, trainer_reward?: number | null) => ({ step, trainer_reward });

it('is ordered by step, with gaps, and counts unreadable rows', async () => {
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

it('has the other numbers of its rows, if any', async () => {
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

it('starts again if the connection is lost in between', async () => {
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

it('takes only the new rows of an answer that starts like the previous one', async () => {
  const rows: readonly object[] = Array.from({ length: 10_000 }, (_, step) => ({ ...point(step, step / 7), kl: step }));
  const unreadable = { trainer_reward: 1 };
  const answers = [
    rows,
    // Points are added: one is unreadable, and one has a number that no other has.
    [...rows, unreadable, { ...point(10_000, 1), loss: 2 }],
    [...rows, point(10_000, 1)],
    // The service changes old rewards, and then changes them back.
    rows.map((row, step) => (step < 7_000 ? row : unreadable)),
    [...rows.slice(0, 5_000), point(3, 1), ...rows.slice(5_000)],
    rows.map((row, step) => (step < 7_000 ? row : { ...row, lr: 1 })),
    rows.slice(0, 10),
    [],
    rows,
  ];
  const next = await readingFrom(...answers.map(trainer_rewards => json({ trainer_rewards })));
  for (const answer of answers) {
    const expected = trainerCurveOf(answer);
    const { curve, dropped } = await next();
    expect(curve).toEqual(expected);
    expect(dropped).toBe(unreadableIn(expected));
  }
  const taken = vi.spyOn(TrainerCurveReader.prototype, 'add');
  onTestFinished(() => taken.mockRestore());
  const { curve } = await next();
  expect(taken.mock.calls.length).toBeLessThan(2_500);
  // An equal curve remains the same, and does not lose its rows.
  expect((await next()).curve).toBe(curve);
  expect(taken.mock.calls.length).toBeLessThan(5_000);
});

it('reads all rows again after a lost answer', async () => {
  const rows = Array.from({ length: 10_000 }, (_, step) => point(step, step / 7));
  const changed = rows.map(({ step }) => point(step, step > 5_000 ? 1 : step / 7));
  const half = JSON.stringify({ trainer_rewards: changed }).slice(0, -1_000);
  const next = await readingFrom(
    json({ trainer_rewards: rows }),
    resetAfter(half),
    json({ trainer_rewards: rows }),
    text(half),
    json({ trainer_rewards: rows }),
  );
  for (const problem of [false, false, true, false]) {
    const read = next();
    if (problem) expect(await errorOf(read)).toBeInstanceOf(ResponseError);
    else expect((await read).curve).toEqual(trainerCurveOf(rows));
  }
});
