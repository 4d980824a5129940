import { expect, it } from 'vitest';
import { readBody } from '../../../src/local/server/requests.ts';

it('names both fields where two names of one differ, in whatever order they come', () => {
  const body = { display_name: 'x', base_model_slug: 'a', model_slug: 'b' };
  expect(() => readBody('startEval', body)).toThrow('model_slug: differs from base_model_slug, which is another name');
  const turned = { display_name: 'x', model_slug: 'b', base_model_slug: 'a' };
  expect(() => readBody('startEval', turned)).toThrow(
    'base_model_slug: differs from model_slug, which is another name',
  );
  expect(readBody('startEval', { ...body, model_slug: 'a' }).body).toMatchObject({ model_slug: 'a' });
});
