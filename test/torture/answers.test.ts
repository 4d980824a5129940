import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyChanges, type Change, changed } from '../../tools/rig/answers.ts';
import { leftOn, SequenceReader } from '../../tools/rig/sequences.ts';

const page = JSON.stringify({
  items: Array.from({ length: 4 }, (_, index) => ({
    eval_run_id: `evr_${index}`,
    status: 'completed',
    created_at: '2026-01-01T00:00:00Z',
    reward_mean: index / 4,
    options: { temperature: 1 },
  })),
  has_more: true,
  next_cursor: 'two',
});

const parsed = JSON.parse(page) as { items: { eval_run_id?: string; status?: string }[]; next_cursor?: string };

const plans = fc.sample(anyChanges, { seed: 1, numRuns: 3_000 });
const many = plans.map(changes => changed(page, changes));

describe('changed', () => {
  it('returns the same for the same changes', () => {
    for (const [index, changes] of plans.slice(0, 200).entries()) expect(changed(page, changes)).toBe(many[index]);
    expect(many.filter(text => text === page).length).toBeLessThan(many.length / 5);
  });

  it('makes JSON, except for texts that it breaks on purpose', () => {
    const broken = many.filter(text => {
      try {
        JSON.parse(text);
        return false;
      } catch {
        return true;
      }
    });
    expect(broken.length).toBeGreaterThan(0);
    expect(broken.length).toBeLessThan(many.length / 8);
  });

  it('makes numbers and names that no JavaScript object serialises to', () => {
    expect(many.some(text => text.includes('1e999'))).toBe(true);
    expect(many.some(text => text.includes('"__proto__":'))).toBe(true);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it.each<[string, Change, (body: typeof parsed) => boolean]>([
    [
      'a value',
      { do: 'set', where: 'any', at: 'items.2.status', json: '"quantum"' },
      body => body.items[2]?.status === 'quantum',
    ],
    ['no value', { do: 'drop', at: 'items.0.status' }, body => !Object.hasOwn(body.items[0] ?? {}, 'status')],
    ['no row', { do: 'drop', at: 'items.0' }, body => body.items.length === 3],
    ['no rows', { do: 'empty', at: 0 }, body => body.items.length === 0],
    ['more rows', { do: 'ten times', at: 0 }, body => new Set(body.items.map(row => row.eval_run_id)).size === 40],
    ['rows twice', { do: 'same ids', at: 0 }, body => body.items.length === 8],
    ['rows without an id', { do: 'no ids', at: 0 }, body => body.items.filter(row => row.eval_run_id).length === 2],
    ['a list without end', { do: 'cursor without end', at: 0 }, body => body.next_cursor === 'again'],
    ['a bare list', { do: 'bare list or envelope', at: 0 }, body => Array.isArray(body)],
  ])('makes %s', (_, change, isSo) => {
    expect(isSo(JSON.parse(changed(page, [change])) as typeof parsed)).toBe(true);
  });

  it('does not touch what is not JSON', () => {
    expect(changed('<html>', [{ do: 'twice', at: 0 }])).toBe('<html>');
  });
});

describe('SequenceReader', () => {
  function read(...parts: readonly string[]): { unmeant: string[]; changed: readonly string[] } {
    const unmeant: string[] = [];
    const reader = new SequenceReader(what => unmeant.push(what));
    for (const part of parts) reader.take(part);
    return { unmeant, changed: leftOn(parts.join('')) };
  }

  it('accepts what the program writes on purpose, in any chunks', () => {
    expect(read('\u001b[?1049h\u001b[?25l\u001b[H\u001b[2J\u001b[0;1;38;5;4mab\u001b[K\u001b[12;', '4Hx\r\n')).toEqual({
      unmeant: [],
      changed: ['alternate screen', 'hidden cursor'],
    });
    expect(read('\u001b]52;c;YWI=\u0007\u0007\u001b]2;benchtop: run completed\u0007').unmeant).toEqual([]);
  });

  it.each([
    ['\u001b[6n', 'CSI "6n"'],
    ['\u001b[?1003h', 'CSI "?1003h"'],
    ['\u001b]0;owned\u0007', 'string "]0;owned"'],
    ['\u001bPq#0\u001b\\', 'string "Pq#0"'],
    ['\u001bc', 'escape "c"'],
    ['a\u202eb', 'character U+202e in "a\u202eb"'],
    ['a\u009b31mb', 'character U+9b in "a\u009b31mb"'],
  ])('reports %j', (bytes, what) => {
    expect(read(bytes).unmeant).toEqual([what]);
  });

  it('knows which modes are left on', () => {
    expect(read('\u001b[?1000h\u001b[?1006h\u001b[?2004h\u001b[?1006l\u001b[?2004l').changed).toEqual([
      'mouse mode 1000',
    ]);
    expect(read('\u001b[?25l\u001b[?7l\u001b[?7h\u001b[?25h').changed).toEqual([]);
    expect(read('\u001b[22;2t\u001b]2;benchtop: x\u0007').changed).toEqual(['title']);
    expect(read('\u001b[22;2t\u001b[23;2t').changed).toEqual([]);
  });
});
