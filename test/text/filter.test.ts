import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Filter, filterRows, parseFilter } from '../../src/text/filter.ts';

function filterOf(input: string): Filter {
  const parsed = parseFilter(input);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed;
}

/** The matched parts of the text, or undefined. */
function parts(input: string, text: string): string[] | undefined {
  const filter = filterOf(input);
  const ranges = filter.matches(text);
  expect(filter.accepts(text)).toBe(ranges !== undefined);
  return ranges?.map(([start, end]) => text.slice(start, end));
}

describe('parseFilter', () => {
  it('matches everything while nothing is typed', () => {
    for (const input of ['', '!', '~', '/']) {
      expect(parts(input, 'anything')).toEqual([]);
      expect(filterOf(input).kind).toBe('all');
    }
  });

  it('searches plain text with smart case', () => {
    expect(parts('words', 'T-Words and words')).toEqual(['Words', 'words']);
    expect(parts('Words', 'T-Words and words')).toEqual(['Words']);
    expect(parts('Wordy', 'wordy')).toBeUndefined();
    expect(parts('a.b (c', 'x A.B (C')).toEqual(['A.B (C']);
    expect(parts('a.b', 'axb')).toBeUndefined();
    expect(parts('straße', 'STRAßE')).toEqual(['STRAßE']);
  });

  it('keeps correct ranges if lower case is longer', () => {
    expect(parts('word', 'İİİ Word')).toEqual(['Word']);
    expect(parts('~word', 'İİİ Word')).toEqual(['Word']);
  });

  it('searches by regular expression, closed or still being typed', () => {
    expect(parts('/t-w.*s/', 'my T-words')).toEqual(['T-words']);
    expect(parts('/^evr_\\d+', 'evr_12 evr_13')).toEqual(['evr_12']);
    expect(parts('/T-w/', 't-w')).toBeUndefined();
    expect(parts('/T-w/i', 't-w')).toEqual(['t-w']);
    expect(parts('/\\D+/', 'ab1')).toEqual(['ab']);
    expect(parts('/a\\/', 'x a/b')).toEqual(['a/']);
    expect(parts('/x*/', '😀xx😀')).toEqual(['xx']);
  });

  it('reports an invalid expression instead of throwing', () => {
    for (const input of ['/(', '/[a', '/a{2', '/\\', '/(?<a/']) {
      const parsed = parseFilter(input);
      expect(parsed.ok, input).toBe(false);
      if (!parsed.ok) expect(parsed.error).toMatch(/^Not a regular expression: \S.*first slash\.$/);
    }
  });

  it('refuses an expression that is too large, and does not throw later', () => {
    const large = 'pasted '.repeat(8_000);
    expect(parseFilter(large)).toMatchObject({ ok: false, error: expect.stringContaining('too long') });
    expect(parseFilter(`!${large}`)).toMatchObject({ ok: false, error: expect.stringContaining('too long') });
    expect(parseFilter(`/${large}`)).toMatchObject({ ok: false, error: expect.stringContaining('too large') });
    expect(parseFilter('/(?:.?){100000}y')).toMatchObject({ ok: false, error: expect.stringContaining('too long') });
  });

  it('searches plain text without a time limit, which a busy machine could exceed', async () => {
    vi.resetModules();
    vi.doMock('../../src/base/time-limit.ts', () => ({ withinCpuTime: () => false, isTimeLimited: () => false }));
    onTestFinished(() => {
      vi.doUnmock('../../src/base/time-limit.ts');
      vi.resetModules();
    });
    const fresh = await import('../../src/text/filter.ts');
    const rows = ['failed', 'running'];
    const found = (input: string) => {
      const filter = fresh.parseFilter(input);
      return filter.ok ? fresh.filterRows(rows, row => row, filter) : filter.error;
    };
    expect(found('failed')).toEqual({ rows: ['failed'] });
    expect(found('!failed')).toEqual({ rows: ['running'] });
    expect(found('/failed')).toBe('This expression takes too long. Make it simpler.');
  });

  it('inverts', () => {
    expect(parts('!failed', 'run Failed')).toBeUndefined();
    expect(parts('!failed', 'run ok')).toEqual([]);
  });

  it('matches fuzzily', () => {
    expect(parts('~tds', 'two-digit-sum')).toEqual(['t', 'd', 's']);
    expect(parts('~sum two', 'two-digit-sum')).toEqual(['two', 'sum']);
    expect(parts('~mus', 'two-digit-sum')).toBeUndefined();
  });
});

describe('filterRows', () => {
  it('keeps the order and the row objects', () => {
    const rows = [{ name: 'b1' }, { name: 'a' }, { name: 'B2' }];
    expect(filterRows(rows, row => row.name, filterOf('b')).rows).toEqual([rows[0], rows[2]]);
    expect(filterRows(rows, () => expect.unreachable(), filterOf('')).rows).toBe(rows);
    expect(filterRows(rows, row => row.name, filterOf('/^[ab]+\\d?$/')).rows).toEqual(rows);
  });

  it('stops an endless expression and says how far it came', () => {
    const rows = [...Array.from({ length: 10 }, () => 'aa'), `${'a'.repeat(200)}b`, 'aaa'];
    const filter = filterOf('/(a+)+$/');
    const result = filterRows(rows, row => row, filter);
    expect(result.rows).toHaveLength(10);
    expect(result.notice).toMatch(/10 of 12 rows/);
    // The same for one text: the program continues, and does not try again.
    expect(filter.matches(rows[10] ?? '')).toBeUndefined();
    expect(filter.matches('aa')).toBeUndefined();
  });

  it('searches all of a long text, within the same limit (C10)', () => {
    const rows = [`${'a'.repeat(5_000)}!`, 'aa'];
    const found = (input: string) => filterRows(rows, row => row, filterOf(input));
    for (const input of ['/!/', '/a!$/', '/^a+!$/', '/(?:a|b)!$/'])
      expect(found(input), input).toEqual({ rows: [rows[0]] });
    for (const input of ['/^a+$/', '/^(?:a|b)+$/']) expect(found(input), input).toEqual({ rows: ['aa'] });
    expect(parts('/a!$/', rows[0] ?? '')).toEqual(['a!']);
    expect(parts('/^a+$/', rows[0] ?? '')).toBeUndefined();
    // The first takes minutes, if nothing ends it, and the second more than V8's memory for backtracking.
    for (const length of [500_000, 20_000_000]) {
      const long = 'a'.repeat(length);
      expect(filterRows(['aa', long], row => row, filterOf('/a+!/')).notice).toMatch(/1 of 2 rows/);
      expect(filterOf('/a+!/').matches(long)).toBeUndefined();
    }
  });

  it('searches every row once on a busy machine, without a note about time', () => {
    const rows = ['a1', 'b1', 'a2', 'c'];
    let isHeldUp = true;
    const textOf = (row: string): string => {
      if (row === 'a2' && isHeldUp) {
        isHeldUp = false;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
      }
      return row;
    };
    expect(filterRows(rows, textOf, filterOf('/^[ab]\\d'))).toEqual({ rows: ['a1', 'b1', 'a2'] });
    expect(isHeldUp).toBe(false);
  });

  it('passes on errors of its caller', () => {
    const broken = (): string => {
      throw new RangeError('row');
    };
    expect(() => filterRows(['a'], broken, filterOf('/(a+)+$/'))).toThrow(RangeError);
    expect(filterRows(['aa'], row => row, filterOf('/(a+)+$/')).rows).toEqual(['aa']);
  });
});
