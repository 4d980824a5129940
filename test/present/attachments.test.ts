import { expect, it } from 'vitest';
import { describeBinary } from '../../src/present/attachments.ts';
import { inTime } from '../in-time.ts';

it('recognises base64 that ends with line breaks, and reads a text once', () => {
  const encoded = 'aB3/'.repeat(600);
  expect(describeBinary(`${encoded}aA==\r\n \n`)).toBe('base64 1.8 KB');
  expect(describeBinary(`${encoded}a-b`)).toBeUndefined();
  const text = `${encoded}${'\n'.repeat(200_000)}\0`;
  expect(inTime('the look', () => describeBinary(text))).toBeUndefined();
});
