import { expect, it } from 'vitest';
import { evaluationCost, judgeCost, trainingCost } from '../../src/present/start-cost.ts';
import { money, type PriceUnit, parsePriceUnit } from '../../src/text/numbers.ts';

const offered = {
  options: {
    num_steps: { default: 60 },
    train_batch_size: { default: 16 },
    samples_per_instance: { default: 16 },
    max_output_tokens_per_step: { default: 1200 },
  },
};

it('multiplies out the work of a training run, with the defaults of the service', () => {
  expect(trainingCost({}, offered)).toBe(
    '60 steps x 16 tasks x 16 samples = 15,360 rollouts, of at most 1200 tokens a step; cost unknown: set priceUnit',
  );
  expect(trainingCost({ num_steps: 1 }, offered)).toMatch(/^1 step x 16 tasks x 16 samples = 256 rollouts/);
});

it('says that held-out rollouts are not counted, if the service has them (out33 C3)', () => {
  const options = { ...offered.options, held_out_every: { default: null } };
  expect(trainingCost({}, { options })).toContain('= 15,360 rollouts, without held-out ones, of at most');
});

it('estimates tokens from an earlier run, and names it', () => {
  const used = { tokens: { input: undefined, output: 1_180.4 }, step: 60, name: 'words' };
  expect(trainingCost({}, offered, 'm', used)).toContain(
    '15,360 rollouts, of at most 1200 tokens a step, about 18M output tokens (1,180 each, as in step 60 of words); cost',
  );
  expect(trainingCost({}, offered, 'm', { ...used, tokens: { input: 300, output: 1_180 } })).toContain(
    ', about 18M output and 4.6M input tokens (1,180 and 300 each, as in step 60 of words); cost',
  );
  expect(trainingCost({}, offered, 'm', {})).not.toContain('about');
  expect(trainingCost({}, undefined, 'm', used)).toMatch(/; a rollout in step 60 of words took 1,180 output tokens$/);
});

it('uses the options of the chosen model', () => {
  const models = [
    { base_model_slug: 'a', options: { ...offered.options, num_steps: { default: 2 } } },
    { base_model_slug: 'b', options: offered.options },
  ];
  expect(trainingCost({}, { models }, 'a')).toMatch(/^2 steps/);
  expect(trainingCost({}, { models }, 'b')).toMatch(/^60 steps/);
});

it('invents no numbers', () => {
  const words = 'rollouts and cost unknown: the service chooses num_steps, samples_per_instance';
  expect(trainingCost({ train_batch_size: 4 }, undefined)).toContain(words);
  expect(trainingCost({}, { num_steps: { default: null } })).toMatch(/^rollouts and cost unknown/);
  expect(trainingCost({ num_steps: Number.NaN }, offered)).toMatch(/^rollouts and cost unknown/);
});

it('adds up several evaluations', () => {
  const run = (options: object, model = 'a') => ({
    ...{ options: { ...options }, model },
    offered: { evaluation_max_samples: { default: null }, evaluation_samples_per_task: { default: 1 } },
  });
  const cost = 'cost unknown: set priceUnit';
  expect(evaluationCost([run({})], { task_count: 28 })).toBe(`1 run x 28 tasks x 1 sample = 28 rollouts; ${cost}`);
  const six = Array.from({ length: 6 }, () => run({ evaluation_max_samples: 12, evaluation_samples_per_task: 2 }));
  expect(evaluationCost(six, { task_count: 28 })).toBe(`6 runs x 12 tasks x 2 samples = at most 144 rollouts; ${cost}`);
  expect(evaluationCost(six, { task_count: 4 })).toMatch(/^6 runs x 4 tasks x 2 samples = at most 48 rollouts/);
  expect(evaluationCost(six)).toMatch(/^6 runs x 12 tasks/);
  const unlike = [run({}), run({ evaluation_samples_per_task: 3 })];
  expect(evaluationCost(unlike, { task_count: 24, by_split: { train: 14, test: 10 } })).toBe(
    `2 runs = 40 rollouts; ${cost}`,
  );
  expect(evaluationCost(unlike)).toBe('2 runs, rollouts and cost unknown: the service chooses the number of tasks');
  expect(evaluationCost([{ options: {}, offered: undefined, model: 'a' }])).toMatch(/number of tasks and samples$/);
});

it('estimates tokens and cost of evaluations of one model from an earlier one', () => {
  const run = (model: string) => ({
    ...{ options: {}, model },
    offered: { evaluation_samples_per_task: { default: 2 } },
  });
  const unit = { currency: '$', tokens: 1e6 };
  const used = { tokens: { input: 500, output: 1_000 }, name: 'base', prices: { input: 0.1, output: 0.4 } };
  const known = { task_count: 20, ...used };
  expect(evaluationCost([run('a'), run('a')], known, unit)).toBe(
    '2 runs x 20 tasks x 2 samples = 80 rollouts, about 80k output and 40k input tokens (1,000 and 500 each, as in base); about $0.04',
  );
  expect(evaluationCost([run('a'), run('b')], known, unit)).toBe(
    '2 runs x 20 tasks x 2 samples = 80 rollouts; cost unknown: the runs have several models',
  );
  expect(evaluationCost([run('a')], { task_count: 20 }, unit)).toMatch(
    /= 40 rollouts; cost unknown: the model has no price$/,
  );
  expect(evaluationCost([run('a')], used, unit)).toMatch(/; a rollout in base took 1,000 output and 500 input tokens$/);
});

it('computes the cost from tokens in and out (B11), once the unit of prices is set', () => {
  const unit = { currency: '$', tokens: 1e6 };
  const used = { tokens: { input: undefined, output: 1_000 }, step: 60, name: 'words' };
  const cost = (known: object, of: PriceUnit | undefined = unit) =>
    trainingCost({}, offered, 'm', known, of).split('; ').at(-1);
  const prices = { input: 0.1, output: 0.4 };
  expect(cost({ ...used, prices })).toBe('about $6.14 for the output tokens, input tokens unknown');
  const both = { ...used, tokens: { input: 500, output: 1_000 } };
  expect(cost({ ...both, prices })).toBe('about $6.91');
  expect(cost({ ...both, prices: { input: 100, output: 400 } }, { currency: 'EUR', tokens: 1_000 })).toBe(
    'about 6,912,000 EUR',
  );
  expect(cost({ ...both, prices: { output: 0.4 } })).toBe(
    'about $6.14 for the output tokens, input tokens have no price',
  );
  expect(cost({ ...both, prices: { input: -1, output: 0.4 } })).toMatch(/^about \$6.14 for the output tokens/);
  expect(cost({ ...both, prices: { input: 0.1, output: -0.4 } })).toBe('cost unknown: the model has no price');
  expect(cost(both)).toBe('cost unknown: the model has no price');
  expect(cost({ prices })).toBe('cost unknown: tokens per rollout are unknown');
});

it('says how many requests a judge gets, and the cost of their input as far as known', () => {
  const unit: PriceUnit = { currency: '$', tokens: 1e6 };
  const cost = (characters?: number, prices?: { readonly input: number }, of?: PriceUnit) =>
    judgeCost({ requests: 340, characters }, prices, of);
  const size = 'at most 340 requests, about 408k input tokens (1,200 each, at 4 characters a token)';
  expect(cost(4_800, { input: 0.2 }, unit)).toBe(`${size}; about $0.08, besides the answers`);
  expect(cost(4_800, { input: 0.2 })).toBe(`${size}; cost unknown: set priceUnit`);
  expect(cost(4_800, undefined, unit)).toBe(`${size}; cost unknown: the model has no price`);
  expect(cost(undefined, { input: 0.2 }, unit)).toBe('at most 340 requests; cost unknown: no rollout could be read');
});

it('reads units of prices as people write them', () => {
  for (const text of ['USD per 1M tokens', 'USD/1m', ' USD per 1000000 ']) {
    expect(parsePriceUnit(text)).toEqual({ currency: 'USD', tokens: 1e6 });
  }
  expect(parsePriceUnit('$/1k')).toEqual({ currency: '$', tokens: 1e3 });
  for (const text of ['', 'USD', 'USD per token', '1M', 'USD per 0 tokens', 'dollars/1M']) {
    expect(parsePriceUnit(text)).toBeUndefined();
  }
  expect([money(0, '$'), money(0.0042, '$'), money(4.1, '$'), money(12_345.6, 'EUR')]).toEqual([
    ...['$0.00', '$0.0042', '$4.10', '12,346 EUR'],
  ]);
});
