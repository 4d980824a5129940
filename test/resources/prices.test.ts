/** Prices of models. */
import { expect, it } from 'vitest';
import { supportedModel } from '../../src/contract/models.ts';
import { modelColumns, price } from '../../src/resources/models.ts';

it.each([
  [0.1 * 6, '0.6', 0.6],
  [1e-7, '1e-7', 1e-7],
  [0, '0', 0],
  [123_456.789, '123456.789', 123_456.789],
  [null, 'none', undefined],
])('shows and exports %s as %s (C25)', (input, text, value) => {
  const row = supportedModel.parse({ model_slug: 'm', pricing: { input } });
  const column = modelColumns.find(({ id }) => id === 'input');
  expect([price(input), column?.text?.(row), column?.value(row)]).toEqual([text, text, value]);
});
