/** Integers that a double cannot hold keep their digits; all other JSON is parsed at full speed. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { parseExactly } from '../../src/base/exact-json.ts';
import { parseDeepJson } from '../../src/base/json-depth.ts';
import fc from '../../tools/rig/property.ts';

it('writes integers of any length unchanged', () => {
  const integer = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String);
  const leaf = fc.oneof(
    integer,
    fc.string().map(each => JSON.stringify(each)),
    fc.constantFrom('null', 'true', '0.25'),
  );
  const { value } = fc.letrec<{ value: string }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('value')).map(items => `[${items.join()}]`),
      fc.array(tie('value')).map(items => `{${items.map((each, index) => `"k${index}":${each}`).join()}}`),
    ),
  }));
  fc.assert(
    fc.property(value, text => {
      // JSON.stringify shortens a string's escapes, as in the text itself.
      expect(JSON.stringify(parseExactly(text))).toBe(text);
      expect(JSON.stringify(parseDeepJson(` ${text}`))).toBe(text);
    }),
  );
});

it.each([
  ['[0.6931471805599453,-1.2345678901234567]', 1],
  ['{"id":"12345678901234567890","hash":"a1234567890123456"}', 1],
  ['[12345678901234567890]', 0],
])('reads %s in %d parser steps', (text, plain) => {
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  parseExactly(text);
  expect(parse).toHaveBeenCalledTimes(plain);
});
