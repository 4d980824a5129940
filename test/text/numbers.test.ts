import { describe, expect, it } from 'vitest';
import {
  asReceived,
  bytes,
  count,
  counted,
  difference,
  none,
  parseRange,
  percent,
  reward,
} from '../../src/text/numbers.ts';

describe('numbers', () => {
  it('never show a missing value as zero, or zero as missing', () => {
    for (const format of [count, bytes, reward, difference, percent]) {
      for (const missing of [undefined, null, Number.NaN]) expect(format(missing)).toBe(none);
      expect(format(0)).toMatch(/^0( B|%)?$/);
      expect(format(-0)).toBe(format(0));
    }
  });

  it('have a word for what is missing, and a sign for what is too large', () => {
    expect([none, percent(Number.POSITIVE_INFINITY), percent(Number.NEGATIVE_INFINITY)]).toEqual(['none', '∞', '-∞']);
  });

  it('shorten counts', () => {
    const texts = [7, 999, 1_000, 1_234, 9_949, 9_950, 9_999, 12_345, 999_499, 999_950, 3_400_000, -1_234].map(count);
    expect(texts).toEqual(['7', '999', '1k', '1.2k', '9.9k', '10k', '10k', '12k', '999k', '1M', '3.4M', '-1.2k']);
  });

  it('use binary units for bytes', () => {
    expect([512, 1_024, 1_234, 1_048_575, 12_582_912].map(bytes)).toEqual([
      '512 B',
      '1 KiB',
      '1.2 KiB',
      '1 MiB',
      '12 MiB',
    ]);
  });

  it('know every unit, and stay in the last one', () => {
    const powers = (base: number) => Array.from({ length: 7 }, (_, power) => base ** power);
    expect(powers(1_000).map(count)).toEqual(['1', '1k', '1M', '1G', '1T', '1P', '1000P']);
    expect(powers(1_024).map(bytes)).toEqual(['1 B', '1 KiB', '1 MiB', '1 GiB', '1 TiB', '1 PiB', '1024 PiB']);
    expect([count, bytes].map(format => format(Number.NEGATIVE_INFINITY))).toEqual(['-∞', '-∞']);
  });

  it('show the fraction of a count that should have none', () => {
    expect([0.5, 12.3456, -999.4, 1_000.5, 1_234.5].map(count)).toEqual(['0.5', '12.3', '-999', '1k', '1.2k']);
  });

  it('count with a noun', () => {
    expect([counted(0, 'file'), counted(1, 'file'), counted(1_200, 'file'), counted(2, 'entry', 'entries')]).toEqual([
      '0 files',
      '1 file',
      '1200 files',
      '2 entries',
    ]);
  });

  it('change form exactly at the threshold', () => {
    expect([0.001, 0.000_999, 999.5, 999.49, 999_999.4, 999_999.5].map(reward)).toEqual([
      '0.00100',
      '9.99e-4',
      '1000',
      '999',
      '999999',
      '1.00e6',
    ]);
    const edges = [0.000_5, 0.000_499, -0.000_5, -0.000_499, 0.999_5, 0.999_49];
    expect(edges.map(percent)).toEqual(['0.1%', '<0.1%', '-0.1%', '>-0.1%', '>99.9%', '99.9%']);
  });

  it('give rewards three significant digits', () => {
    const texts = [1, 0.5, 0.41666, 12.345, 999.4, 999.6, 12_345, 0.00012, -0.5, 1e9].map(reward);
    expect(texts).toEqual(['1.00', '0.500', '0.417', '12.3', '999', '1000', '12345', '1.20e-4', '-0.500', '1.00e9']);
    expect(reward(Number.NEGATIVE_INFINITY)).toBe('-∞');
  });

  it('never show a reward as the end of the range unless it is', () => {
    const inside = [0.9996, 0.99996, -0.9996, 9.996, 99.96, 4.996, 1.0004, 0.0004, 0.9994].map(reward);
    const texts = ['0.9996', '0.99996', '-0.9996', '9.996', '99.96', '4.996', '1.0004', '4.00e-4', '0.999'];
    expect(inside).toEqual(texts);
    expect([0.1 * 3 + 0.7, 1 - 1e-6, 10, 100].map(reward)).toEqual(['1.00', '1.00', '10.0', '100']);
    expect(difference(0.9997)).toBe('+0.9997');
  });

  it('give differences a sign', () => {
    expect([0.12, -3, 0].map(difference)).toEqual(['+0.120', '-3.00', '0']);
  });

  it('never round a share to 0% or 100% unless it is', () => {
    const texts = [0.123, 0.5, 1, 0.0001, 0.9999, 1.5, -0.0001].map(percent);
    expect(texts).toEqual(['12.3%', '50%', '100%', '<0.1%', '>99.9%', '150%', '>-0.1%']);
  });

  it('stay unchanged, except one that overflows', () => {
    expect(
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.1, 'Infinity', true, { a: [1] }].map(asReceived),
    ).toEqual(['∞', '-∞', '0.1', 'Infinity', 'true', '{"a":[1]}']);
  });
});

describe('parseRange', () => {
  it('reads two numbers, the lower one first', () => {
    expect(parseRange('0..1')).toEqual([0, 1]);
    expect(parseRange(' -1.5 .. 1e3 ')).toEqual([-1.5, 1_000]);
    for (const text of [
      '',
      '1',
      '1..0',
      '1..1',
      '..1',
      '0..',
      '0..1..2',
      '0..1 2',
      '0....1',
      '0..x',
      '0..Infinity',
      '0..1e308',
    ])
      expect(parseRange(text), text).toBeUndefined();
  });
});
