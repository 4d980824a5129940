/** The options of a run that a service describes: for all models at once, or for each. */
import { hashKey } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { optionNames, readRunOptions, runOptionsQuery } from '../../src/queries/run-options.ts';
import type { Service } from '../../src/service/index.ts';
import { fakeService } from '../service/fake-service.ts';

const [steps, rate] = [{ num_steps: { default: 4 } }, { rate: { default: 1 } }];

it.each<[answer: Parameters<typeof optionNames>[0], model: string | undefined, names: string[]]>([
  [{}, undefined, []],
  [{ options: { ...steps, note: 'text' } }, undefined, ['num_steps']],
  [{ ...steps, version: 2 }, 'm', ['num_steps']],
  [
    {
      models: [
        { base_model_slug: 'm', options: steps },
        { base_model_slug: 'n', options: rate },
      ],
    },
    'm',
    ['num_steps'],
  ],
  [
    {
      models: [
        { model_slug: 'm', options: steps },
        { model_slug: 'n', options: rate },
      ],
    },
    'n',
    ['rate'],
  ],
  // A model that is not listed may have any of them, each named once.
  [{ models: [{ model_slug: 'm', options: steps }, { options: { ...rate, ...steps } }] }, 'x', ['num_steps', 'rate']],
  // Other fields of a model are not options.
  [{ models: [{ model_slug: 'm', pricing: { input: 1 } }, 'x', null] }, 'm', []],
])('%j for %s', (answer, model, names) => {
  expect(optionNames(answer, model)).toEqual(names);
});

it('are asked for until they are no longer wanted', async () => {
  const given: unknown[] = [];
  const service = fakeService(
    { getEvalOptions: (_, { signal }) => given.push(signal) },
    { generation: { stated: 'document' } as Service['generation'] },
  );
  const { signal } = new AbortController();
  await readRunOptions(service, 'getEvalOptions', { benchId: 'b1' }, signal);
  expect(given).toEqual([signal]);
});

it('are read once for each operation, benchmark and model', () => {
  const query = (
    ...[operation, benchId, model]: [operation: 'getEvalOptions' | 'getTrainingOptions', string, string?]
  ) => runOptionsQuery(operation, { benchId, model });
  const queries = [
    query('getEvalOptions', 'b1'),
    query('getEvalOptions', 'b2'),
    query('getTrainingOptions', 'b1'),
    query('getTrainingOptions', 'b1', 'm'),
    query('getTrainingOptions', 'b1', 'n'),
  ];
  expect(new Set(queries.map(({ key }) => hashKey(key))).size).toBe(queries.length);
  expect(queries[0]?.activity(undefined)).toBe('settled');
});
