import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Endpoint } from '../../../src/contract/common.ts';
import { endpoints } from '../../../src/contract/endpoints.ts';
import { readBody } from '../../../src/local/server/requests.ts';
import { readQuery } from '../../../src/local/server/validate.ts';

it('names both fields if two names of one differ, in either order', () => {
  const body = { display_name: 'x', base_model_slug: 'a', model_slug: 'b' };
  expect(() => readBody('startEval', body)).toThrow('model_slug: differs from base_model_slug, which is another name');
  const turned = { display_name: 'x', model_slug: 'b', base_model_slug: 'a' };
  expect(() => readBody('startEval', turned)).toThrow(
    'base_model_slug: differs from model_slug, which is another name',
  );
  expect(readBody('startEval', { ...body, model_slug: 'a' }).body).toMatchObject({ model_slug: 'a' });
});

it('reads the body of every operation by its contract schema', () => {
  const bodies = Object.values<Endpoint>(endpoints).filter(({ body }) => body !== undefined);
  expect(bodies.length).toBeGreaterThan(8);
  for (const { operation } of bodies) {
    const read = (raw: unknown): unknown => readBody(operation, raw).body;
    expect(() => read('no object'), operation).toThrow();
  }
  const secret = { name: 'KEY', value: 'v' };
  expect(readBody('createSecret', { ...secret, description: null, later: 1 }).body).toEqual({ ...secret, later: 1 });
  expect(() => readBody('createSecret', { name: 'KEY' })).toThrow('value');
});

it('reads numbers and booleans of a query by the contract schema', () => {
  const query = z.strictObject({ limit: z.optional(z.int()), all: z.optional(z.boolean()), search: z.string() });
  expect(readQuery(query, { limit: '12', all: 'false', search: '12' })).toEqual({
    limit: 12,
    all: false,
    search: '12',
  });
  expect(() => readQuery(query, { limit: '1x', search: '' })).toThrow('limit');
  expect(readQuery(query, { search: 'true', later: '1' })).toEqual({ search: 'true' });
});
