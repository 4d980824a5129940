/** Reads the run options that a service describes. */
import { hashKey } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { readRunOptions, runOptionsQuery } from '../../src/queries/run-options.ts';
import type { Service } from '../../src/service/index.ts';
import { fakeService } from '../service/fake-service.ts';

it('are requested until they are no longer needed', async () => {
  const given: unknown[] = [];
  const service = fakeService(
    { getEvalOptions: (_, { signal }) => given.push(signal) },
    { generation: { known: 'document' } as Service['generation'] },
  );
  const { signal } = new AbortController();
  await readRunOptions(service, 'getEvalOptions', { benchId: 'b1' }, signal);
  expect(given).toEqual([signal]);
});

it('are read once per operation, benchmark and model', () => {
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
