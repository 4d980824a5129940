import { describe, expect, it } from 'vitest';
import { leftOn, SequenceReader } from '../../tools/rig/sequences.ts';
import { mutateJson } from '../../tools/torture/mutate.ts';
import { Random } from '../../tools/torture/random.ts';

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

const many = Array.from({ length: 3_000 }, (_, seed) => mutateJson(page, new Random(seed)));

describe('mutateJson', () => {
  it('gives the same for the same seed, and says what it did', () => {
    for (let seed = 0; seed < 200; seed += 1) expect(mutateJson(page, new Random(seed))).toEqual(many[seed]);
    expect(many.every(({ done }) => done.length > 0)).toBe(true);
  });

  it('knows every way to be wrong', () => {
    const kinds = new Set(many.flatMap(({ done }) => done.map(what => what.replace(/^.*?: /, ''))));
    for (const kind of [
      'drop',
      'null',
      'other type',
      'hostile text',
      'huge text',
      'odd number',
      'odd time',
      'unknown status',
      'deep nesting',
      'name of a prototype',
      'empty',
      'ten times',
      'same ids',
      'no ids',
      'bare list or envelope',
      'cursor without end',
      'cut',
    ]) {
      expect(kinds).toContain(kind);
    }
  });

  it('makes JSON, but for texts that it breaks on purpose', () => {
    for (const { text, done } of many) {
      if (done.some(what => what.startsWith('text:'))) continue;
      expect(() => JSON.parse(text)).not.toThrow();
    }
  });

  it('makes numbers and names that no object of JavaScript is written as', () => {
    expect(many.some(({ text }) => text.includes('1e999'))).toBe(true);
    expect(many.some(({ text }) => text.includes('"__proto__":'))).toBe(true);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('leaves alone what is no JSON', () => {
    expect(mutateJson('<html>', new Random(1))).toEqual({ text: '<html>', done: [] });
  });
});

describe('SequenceReader', () => {
  function read(...parts: readonly string[]): { unmeant: string[]; changed: readonly string[] } {
    const unmeant: string[] = [];
    const reader = new SequenceReader(what => unmeant.push(what));
    for (const part of parts) reader.take(part);
    return { unmeant, changed: leftOn(parts.join('')) };
  }

  it('lets pass what the program means to write, also in pieces', () => {
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
