/** Ink’s own class and its replacement: both must draw the same frames. */
import { Output as Ink } from 'ink';
import { describe, expect, it, vi } from 'vitest';
import { cachedRows, type FrameOutput, type FrameSize } from '../../../../src/ui/app/painter/cached-rows.ts';
import { parseLine, styledLines } from '../../../../src/ui/app/painter/cells.ts';

/** Marsaglia's xorshift32: the same cases at every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const texts = [
  'plain',
  'a longer line of plain words',
  ' '.repeat(9),
  '\u001b[1;36mbold\u001b[39m cyan\u001b[22m',
  '日本語 wide',
  'e\u0301 and 👩🏽‍💻',
  '\u001b[2m│\n│\n│\u001b[22m',
  'two\nlines',
  '\u001b[31mred\nstill red\u001b[39m no more',
  '',
];

type Draw = (output: FrameOutput) => void;

function randomFrame(random: (below: number) => number): Draw {
  const steps: Draw[] = [];
  let open = 0;
  for (let step = 0; step < 12; step += 1) {
    const kind = random(8);
    const [x, y] = [random(24) - 3, random(9) - 1];
    if (kind === 0) {
      const clip = {
        ...(random(3) > 0 && { x1: x, x2: x + random(14) }),
        ...(random(3) > 0 && { y1: y, y2: y + random(6) }),
      };
      steps.push(output => output.clip(clip));
      open += 1;
    } else if (kind === 1 && open > 0) {
      steps.push(output => output.unclip());
      open -= 1;
    } else {
      const text = texts[random(texts.length)] ?? '';
      const transformers =
        random(4) === 0 ? [(line: string, index: number) => `\u001b[4m${index}${line}\u001b[24m`] : [];
      steps.push(output => output.write(x, y, text, { transformers }));
    }
  }
  return output => {
    for (const step of steps) step(output);
  };
}

const size = { width: 24, height: 8 };

function frameOf(make: (size: FrameSize) => FrameOutput, draw: Draw, of = size) {
  const output = make(of);
  draw(output);
  const { output: text, height } = output.get();
  return { height, cells: text.split('\n').map(line => parseLine(line, of.width)) };
}

describe('cachedRows', () => {
  it('returns the same frames as Ink, one after another', () => {
    const cached = cachedRows(Ink);
    const random = randomOf(20_261);
    for (let turn = 0; turn < 1_500; turn += 1) {
      const draw = randomFrame(random);
      const of = turn % 50 === 0 ? { width: 10 + random(20), height: 1 + random(9) } : size;
      expect(frameOf(cached, draw, of), `frame ${turn}`).toEqual(frameOf(frame => new Ink(frame), draw, of));
    }
  });

  it('composes only rows that were not in the previous frame', () => {
    let composed = 0;
    class Counted extends Ink {
      override get(): { output: string; height: number } {
        composed += 1;
        return super.get();
      }
    }
    const cached = cachedRows(Counted);
    const draw = (lines: readonly string[]) => (output: FrameOutput) => {
      // A letter with an accent of its own: simple text is not composed at all.
      for (const [y, line] of lines.entries()) output.write(0, y, `e\u0301${line}`, { transformers: [] });
    };
    const counted = (lines: readonly string[]): number => {
      composed = 0;
      frameOf(cached, draw(lines));
      return composed;
    };
    expect(counted(['a', 'b', 'c', 'd'])).toBe(4);
    expect(counted(['a', 'b', 'x', 'd'])).toBe(1);
    // Moved rows are recognised too.
    expect(counted(['b', 'x', 'd', 'e'])).toBe(1);
    expect(counted(['b', 'x', 'd', 'e'])).toBe(0);
    expect(counted(['a'])).toBe(1);
  });

  it('joins adjacent simple texts without composing them', () => {
    const made = vi.fn();
    class Counted extends Ink {
      constructor(of: FrameSize) {
        super(of);
        if (of.height > 0) made();
      }
    }
    const draw: Draw = output => {
      output.write(0, 0, '\u001b[2m│\u001b[22m left', { transformers: [] });
      output.write(9, 0, '\u001b[1;7mopen ', { transformers: [] });
      output.write(14, 0, '日本 ⣀⠤', { transformers: [] });
      output.write(2, 3, 'below', { transformers: [] });
    };
    expect(frameOf(cachedRows(Counted), draw)).toEqual(frameOf(frame => new Ink(frame), draw));
    expect(made).not.toHaveBeenCalled();
  });

  it('frees what it has measured', () => {
    const made = vi.fn();
    class Counted extends Ink {
      constructor(of: FrameSize) {
        super(of);
        if (of.height === 0) made();
      }
    }
    const cached = cachedRows(Counted);
    for (let turn = 0; turn < 3_000; turn += 1) {
      frameOf(cached, output => output.write(0, 0, `e\u0301 line ${turn}`, { transformers: [] }), {
        width: 20,
        height: 1,
      });
    }
    expect(made.mock.calls.length).toBeGreaterThan(2);
  });
});

describe('styledLines', () => {
  it('starts each line in the style in which the previous one ended', () => {
    const text = '\u001b[1;31mone\ntwo\u001b[39m\nthree\u001b[22m\nfour';
    expect(styledLines(text).map(line => parseLine(line, 5).map(cell => cell.style)[0])).toEqual([
      '1;31',
      '1;31',
      '1',
      '',
    ]);
    expect(styledLines('plain\ntext')).toEqual(['plain', 'text']);
  });
});
