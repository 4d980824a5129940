import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compileExpression } from '../../src/base/expression.ts';
import { withinCpuTime } from '../../src/base/time-limit.ts';

/** Expressions that V8's optimisation cannot compile in a lifetime, or that run as long. */
const endless = {
  optional: 'a?'.repeat(60) + 'a'.repeat(60),
  fewer: 'a?'.repeat(30) + 'a'.repeat(30),
  classes: '[a-z]?'.repeat(60) + '[a-z]'.repeat(20),
  words: '\\w?'.repeat(50) + '\\w'.repeat(40),
  groups: '(?:ab?)?'.repeat(40) + 'a'.repeat(60),
  large: `(?:${'a?'.repeat(200)})${'a'.repeat(90)}`,
  nested: '(t+)+$',
  counted: '(?:(?:a?){100}){100}b',
  properties: '(?:\\P{L}|\\P{N}|\\P{M})'.repeat(20),
};

/**
 * The standard output of a script. Runs in its own process, because only a signal ends it if the limit fails. The time
 * limit is far more than it needs.
 */
function outputOf(script: string): string {
  const { stdout, stderr, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    timeout: 110_000,
    killSignal: 'SIGKILL',
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  });
  expect({ signal, stderr }).toEqual({ signal: null, stderr: '' });
  return stdout;
}

describe('an expression from elsewhere', () => {
  it('stops as a filter, whatever it is (X1b)', () => {
    const output = outputOf(`
      const { parseFilter, filterRows } = await import('./src/text/filter.ts');
      const texts = ['', 'a'.repeat(40), 't'.repeat(60) + '!', '\u0101'.repeat(40)];
      for (const source of ${JSON.stringify(Object.values(endless))}) {
        const filter = parseFilter('/' + source);
        if (filter.ok) filterRows(texts, text => text, filter);
        if (filter.ok) for (const text of texts) filter.matches(text);
      }
      console.log('ended');
    `);
    expect(output).toBe('ended\n');
  });

  it('stops as a grader, at ingest and in the build of an image (X1)', () => {
    const output = outputOf(`
      const { grade } = await import('./src/grading/graders.ts');
      const { unusablePattern } = await import('./src/grading/patterns.ts');
      const patterns = ${JSON.stringify(Object.values(endless))};
      process.stdout.write(JSON.stringify([await unusablePattern(patterns)]));
      for (const pattern of patterns) grade({ kind: 'regex', pattern }, '');
      process.stdout.write(JSON.stringify([await unusablePattern(['a', undefined, '(?:.?){100000}y', 'c'])]));
    `);
    expect(output).toBe('[null][{"index":2,"problem":"it takes too long"}]');
  });

  it('is refused if it is invalid, too large or too slow', () => {
    expect(() => compileExpression('(', 'u')).toThrow(/^Unterminated group$/);
    expect(() => compileExpression('pasted '.repeat(8_000), 'iu')).toThrow(/^Regular expression too large$/);
    expect(() => compileExpression('(?:.?){100000}y', 'mu')).toThrow(
      expect.objectContaining({ name: 'ExpressionError', isTooSlow: true }),
    );
    const usable = compileExpression('a', 'gu');
    expect(usable.lastIndex).toBe(0);
    expect(() => compileExpression('a)(?:b', 'u')).toThrow(/^Unmatched '\)'$/);
  });

  it('may use many character properties, and finds the same as without limits', () => {
    const letters = compileExpression('\\p{L}'.repeat(12), 'u');
    expect(['Donaudampfer', 'Čučoriedkový', 'Donaudampf 1'].map(text => letters.test(text))).toEqual([
      true,
      true,
      false,
    ]);
    expect(compileExpression(String.raw`.\B\P{L}`.repeat(12), 'u').test(' !'.repeat(12))).toBe(true);
    const sources = ['(?<first>a|ab)(?:c|)\\k<first>|^\\p{Lu}|$', '\\ba\\b|\\Bx|[\\b\\]](?<!\\B)', '\\\\b'];
    for (const source of sources) {
      for (const text of ['xabab', 'acab', 'Čo', 'x', '', 'ba a', 'ax', '\b', ']', '\\b', 'b']) {
        expect(compileExpression(source, 'u').exec(text)).toEqual(new RegExp(source, 'u').exec(text));
      }
    }
  });
});

describe('withinCpuTime', () => {
  const spin = (ms: number) => {
    const before = process.threadCpuUsage();
    for (let spent = 0; spent < ms * 1_000; ) {
      const { user, system } = process.threadCpuUsage(before);
      spent = user + system;
    }
  };

  it('repeats a task that a busy machine held up, and stops one that never ends (V48)', () => {
    let attempts = 0;
    const sleepsFirst = () => {
      attempts += 1;
      if (attempts === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
    };
    expect(withinCpuTime(sleepsFirst, 20)).toBe(true);
    expect(attempts).toBe(2);
    expect(withinCpuTime(() => spin(Number.POSITIVE_INFINITY), 20)).toBe(false);
  });

  it('passes on errors', () => {
    const fail = () => {
      throw new Error('broken');
    };
    expect(() => withinCpuTime(fail, 20)).toThrow('broken');
  });
});
