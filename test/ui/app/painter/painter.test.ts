import { Terminal } from '@xterm/headless';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createPrng } from '../../../../src/base/prng.ts';
import { displayWidth } from '../../../../src/text/width.ts';
import { parseLine } from '../../../../src/ui/app/painter/cells.ts';
import { diffFrame } from '../../../../src/ui/app/painter/diff.ts';
import { Painter, probe } from '../../../../src/ui/app/painter/painter.ts';
import { findScroll } from '../../../../src/ui/app/painter/scroll.ts';

const write = (terminal: Terminal, bytes: string) => new Promise<void>(resolve => terminal.write(bytes, resolve));

/** The cells of the emulator with their styles. */
function shown(terminal: Terminal): string[] {
  return Array.from({ length: terminal.rows }, (_, row) => {
    const line = terminal.buffer.active.getLine(row);
    return Array.from({ length: terminal.cols }, (_, column) => {
      const cell = line?.getCell(column);
      if (!cell || cell.getWidth() === 0) return '';
      return `${cell.getChars() || ' '}${cell.isBold() ? 'b' : ''}${cell.isInverse() ? 'i' : ''}${cell.isFgDefault() ? '' : cell.getFgColor()}`;
    }).join('|');
  });
}

describe('diffFrame', () => {
  const columns = 24;
  const rows = 10;
  const words = ['tea', 'トウキョウ', '漢', 'é', '│', 'a b', '   ', 'long-word'];
  const styles = ['', '\u001b[1m', '\u001b[31m', '\u001b[7m', '\u001b[1;32m', '\u001b[38;5;200m'];

  it.each(Array.from({ length: 12 }, (_, seed) => seed + 1))('shows exactly the new frame, seed %i', async seed => {
    const { next } = createPrng(seed);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item;
    const randomLine = (): string =>
      Array.from(
        { length: Math.floor(next() * 6) },
        () => `${pick(styles)}${pick(words)}\u001b[0m${pick(['', ' '])}`,
      ).join('');
    const diffed = new Terminal({ cols: columns, rows, allowProposedApi: true });
    await write(diffed, '\u001b[?7l');
    let frame: string[] = [];
    const scrolled = (by: number): string[] => [...frame.slice(by), ...Array.from({ length: by }, randomLine)];
    for (let step = 0; step < 25; step += 1) {
      const move = next();
      const following =
        move < 0.3
          ? Array.from({ length: rows }, randomLine)
          : move < 0.6
            ? scrolled(1 + Math.floor(next() * 5))
            : frame.map(line => (next() < 0.2 ? randomLine() : line));
      const target = Array.from({ length: rows }, (_, row) => following[row] ?? '');
      await write(diffed, diffFrame(frame, target, columns));
      const whole = new Terminal({ cols: columns, rows, allowProposedApi: true });
      await write(whole, `\u001b[?7l${diffFrame([], target, columns)}`);
      expect(shown(diffed)).toEqual(shown(whole));
      frame = target;
    }
  });

  it.each(['\u0600\u0601 ', 'กำ', 'क्ष', 'नि', '❤', '👩🏽‍💻', '🇩', '\u1112\u1161\u11ab', '\u06dd1'])(
    'keeps what follows %j in place, whatever width a terminal gives it',
    async grapheme => {
      const before = ['│          │ some │', '│          │ same │'];
      const line = (text: string) => `│  ${text}${' '.repeat(10 - 2 - displayWidth(text))}│ same │`;
      const after = [line(grapheme), line(grapheme.repeat(2))];
      const terminal = new Terminal({ cols: 20, rows: 2, allowProposedApi: true });
      await write(terminal, `\u001b[?7l${diffFrame([], before, 20)}${diffFrame(before, after, 20)}`);
      for (const row of shown(terminal)) {
        const cells = row.split('|');
        expect([0, 11, 18].map(column => cells[column])).toEqual(['│', '│', '│']);
        expect(cells.slice(13, 17).join('')).toBe('same');
      }
    },
  );

  it('sends nothing for a frame that looks the same', () => {
    expect(diffFrame(['\u001b[1mab\u001b[22m'], ['\u001b[1ma\u001b[0m\u001b[1mb\u001b[0m  '], 10)).toBe('');
  });

  it('sends one changed cell for at most 60 bytes', () => {
    const frame = Array.from({ length: 60 }, (_, row) => `│ row ${row}`.padEnd(199, '.'));
    const changed = frame.map((line, row) => (row === 40 ? `${line.slice(0, 150)}X${line.slice(151)}` : line));
    expect(diffFrame(frame, changed, 200).length).toBeLessThanOrEqual(12);
  });

  it('lets the terminal scroll a block that fills the width', () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index} ${'x'.repeat(index % 50)}`);
    const sent = diffFrame(['head', ...lines.slice(0, 50), 'foot'], ['head', ...lines.slice(1, 51), 'foot'], 120);
    expect(sent.length).toBeLessThan(120);
    expect(findScroll(lines.slice(0, 50), lines.slice(3, 53))).toMatchObject({ by: 3 });
  });

  it('paints in place if the lines that scroll in would be longer than the difference', () => {
    const lines = (from: number) => Array.from({ length: 10 }, (_, row) => `benchmark number ${from + row} of many`);
    const moved = diffFrame(lines(10), lines(18), 40);
    expect(moved).not.toMatch(/\u001b\[\d*S/);
    expect(moved.length).toBeLessThan(10 * 12);
    expect(diffFrame(lines(10), lines(11), 40)).toMatch(/\u001b\[S/);
  });

  it('moves no lines away from where they belong', () => {
    const period = ['one', 'two', 'three', 'four'];
    const blanks = Array.from({ length: 8 }, (_, index) => `blank ${index}`);
    const old = [...period, ...period, ...blanks];
    // The same text again below: a block that is both at its old place and elsewhere.
    expect(findScroll(old, [...period, ...period, ...period, ...blanks.slice(4)])).toBeUndefined();
  });
});

describe('parseLine', () => {
  it('keeps styles, wide characters and marks together', () => {
    const cells = parseLine('\u001b[1;31mト\u001b[0me\u0301!', 6);
    expect(cells.map(cell => [cell.text, cell.width, cell.style])).toEqual([
      ['ト', 2, '1;31'],
      ['', 0, '1;31'],
      ['e\u0301', 1, ''],
      ['!', 1, ''],
      [' ', 1, ''],
      [' ', 1, ''],
    ]);
  });

  it('makes each ASCII cell once per style', () => {
    const [first, second, red, again] = parseLine('aa\u001b[31ma\u001b[39ma', 4);
    expect([second, again, parseLine('a', 1)[0]].every(cell => cell === first)).toBe(true);
    expect([red?.text, red?.style]).toEqual(['a', '31']);
  });
});

describe('Painter', () => {
  function open() {
    const sent: string[] = [];
    const line = { blocked: false };
    const painter = new Painter(
      { write: bytes => sent.push(bytes), isBlocked: () => line.blocked },
      { columns: 80, rows: 24 },
    );
    return { painter, sent, line };
  }

  function fakeTime(): void {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
  }

  /** Longer than the gap between two frames. */
  const aMoment = 35;

  it('skips frames that come while the stream is blocked, and shows the last one', () => {
    fakeTime();
    const { painter, sent, line } = open();
    painter.frame('one');
    vi.advanceTimersByTime(aMoment);
    line.blocked = true;
    painter.frame('two');
    painter.frame('three');
    expect(sent).toHaveLength(1);
    line.blocked = false;
    painter.resume();
    expect(sent).toHaveLength(2);
    expect(sent[1]).toContain('hr');
  });

  it('sends only a little without a reply, and continues when it arrives', () => {
    fakeTime();
    const { painter, sent } = open();
    const frame = (letter: string) => Array.from({ length: 5 }, () => letter.repeat(70)).join('\n');
    painter.frame(frame('z'));
    painter.answered();
    for (const letter of 'abcdefgh') {
      vi.advanceTimersByTime(aMoment);
      painter.frame(frame(letter));
    }
    const before = sent.length;
    expect(before).toBeLessThan(6);
    expect(sent.every(bytes => bytes.endsWith(probe))).toBe(true);
    for (let index = 0; index < 8; index += 1) {
      painter.answered();
      vi.advanceTimersByTime(aMoment);
    }
    expect(sent.at(-1)).toContain('hhhh');
    painter.close();
  });

  it('does not wait forever for a lost reply, or at all for a terminal that sends none', () => {
    fakeTime();
    const { painter, sent } = open();
    const frame = (letter: string) => Array.from({ length: 8 }, () => letter.repeat(70)).join('\n');
    painter.frame(frame('a'));
    painter.answered();
    for (const letter of 'bcd') {
      vi.advanceTimersByTime(aMoment);
      painter.frame(frame(letter));
    }
    const before = sent.length;
    vi.advanceTimersByTime(3_000);
    expect(sent).toHaveLength(before);
    vi.advanceTimersByTime(1_500);
    expect(sent.at(-1)).toContain('dddd');
    vi.advanceTimersByTime(1_500);
    for (const letter of 'efgh') {
      vi.advanceTimersByTime(aMoment);
      painter.frame(frame(letter));
      expect(sent.at(-1)).toContain(letter.repeat(4));
    }
    painter.close();
  });

  it('sends a few frames at once, then no more than eyes see, and always the last one', () => {
    fakeTime();
    const { painter, sent } = open();
    for (let index = 0; index < 3; index += 1) painter.frame(`frame ${index}`);
    expect(sent).toHaveLength(3);
    for (let index = 3; index <= 40; index += 1) {
      vi.advanceTimersByTime(5);
      painter.frame(`frame ${index}`);
    }
    expect(sent.length).toBeGreaterThan(6);
    expect(sent.length).toBeLessThan(12);
    vi.advanceTimersByTime(aMoment);
    expect(sent.at(-1)).toMatch(/0$/);
    painter.close();
  });

  it('never paints past the edge of a terminal that has shrunk', () => {
    const { painter, sent } = open();
    const tall = Array.from({ length: 24 }, (_, row) => `row ${row}`).join('\n');
    painter.frame(tall);
    sent.length = 0;
    painter.resize({ columns: 80, rows: 5 });
    expect(sent).toEqual([]);
    painter.frame(tall);
    expect(sent.join('')).toContain('row 4');
    expect(sent.join('')).not.toContain('row 5');
  });

  it('drains until no reply is pending, which others would take as keys', async () => {
    const { painter, sent } = open();
    const frame = (letter: string) => Array.from({ length: 5 }, () => letter.repeat(70)).join('\n');
    painter.frame(frame('a'));
    painter.repaint();
    let hushed = false;
    const done = painter.pauseAndDrain().then(() => {
      hushed = true;
    });
    const before = sent.length;
    painter.frame(frame('b'));
    painter.answered();
    await Promise.resolve();
    expect([hushed, sent.length]).toEqual([false, before]);
    painter.answered();
    await done;
    expect(sent).toHaveLength(before);
    painter.open();
    expect(sent.at(-1)).toContain('bbbb');
    painter.close();
  });

  const large = (letter: string) => Array.from({ length: 20 }, () => letter.repeat(78)).join('\n');

  /** Pauses it. Returns whether no answer is awaited. */
  const hush = (painter: Painter): (() => Promise<boolean>) => {
    let hushed = false;
    void painter.pauseAndDrain().then(() => {
      hushed = true;
    });
    return async () => {
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      return hushed;
    };
  };

  it('drains at once if nothing was requested, and after a while if the terminal does not reply', async () => {
    fakeTime();
    const { painter } = open();
    expect(await hush(painter)()).toBe(true);
    painter.open();
    painter.frame(large('x'));
    const isHushed = hush(painter);
    vi.advanceTimersByTime(499);
    expect(await isHushed()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await isHushed()).toBe(true);
  });

  it('waits longer for a terminal that replies, which may be slow', async () => {
    fakeTime();
    const { painter } = open();
    painter.frame(large('x'));
    painter.answered();
    painter.frame(large('y'));
    const isHushed = hush(painter);
    vi.advanceTimersByTime(1_999);
    expect(await isHushed()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await isHushed()).toBe(true);
  });

  it('drains at once if all missing replies were lost or taken by another program', async () => {
    fakeTime();
    const { painter, sent } = open();
    const isHushed = (): Promise<boolean> => hush(painter)();
    const frame = (letter: string) => Array.from({ length: 8 }, () => letter.repeat(70)).join('\n');
    painter.frame(frame('a'));
    painter.answered();
    for (const letter of 'bc') {
      vi.advanceTimersByTime(aMoment);
      painter.frame(frame(letter));
    }
    vi.advanceTimersByTime(4_500);
    expect(sent.at(-1)).toContain('cccc');
    painter.answered();
    expect(await isHushed()).toBe(true);
    painter.open();
    expect(await isHushed()).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    painter.open();
    painter.answered();
    expect(await isHushed()).toBe(true);
  });

  describe('on a slow line', () => {
    const answerMs = 0.2;
    function slow(msPerByte: number, delayMs: number) {
      fakeTime();
      const opened = open();
      for (const letters of ['ab', 'cdefgh', 'ijklmn', 'opqrst', 'uvwxyz']) {
        opened.painter.frame([...letters].map(letter => letter.repeat(70)).join('\n'));
        vi.advanceTimersByTime(delayMs + (opened.sent.at(-1)?.length ?? 0) * msPerByte);
        opened.painter.answered();
      }
      opened.sent.length = 0;
      return opened;
    }

    it('delays a large frame until the last of several in quick succession', () => {
      const { painter, sent } = slow(answerMs, 5);
      for (const letter of 'abcdefgh') {
        painter.frame(large(letter));
        vi.advanceTimersByTime(10);
      }
      expect(sent).toEqual([]);
      vi.advanceTimersByTime(40);
      expect(sent).toHaveLength(1);
      expect(sent[0]).toContain('hhhh');
      painter.close();
    });

    it('does not delay it forever, or a small one at all', () => {
      const { painter, sent } = slow(answerMs, 5);
      painter.frame('small');
      expect(sent).toHaveLength(1);
      painter.answered();
      for (let index = 0; index < 30; index += 1) {
        painter.frame(large(String.fromCharCode(97 + (index % 26))));
        vi.advanceTimersByTime(10);
      }
      expect(sent).toHaveLength(2);
      painter.close();
    });

    it('delays it after a reply to a request from before a redraw too', () => {
      const { painter, sent } = slow(answerMs, 5);
      painter.frame([...'1234'].map(digit => digit.repeat(70)).join('\n'));
      painter.repaint();
      expect(sent).toHaveLength(2);
      painter.answered();
      vi.advanceTimersByTime(200);
      painter.answered();
      painter.frame(large('a'));
      expect(sent).toHaveLength(2);
      painter.close();
    });

    it('does not delay it if the terminal is only far away', () => {
      const { painter, sent } = slow(0, 150);
      painter.frame(large('a'));
      expect(sent).toHaveLength(1);
      painter.close();
    });
  });

  it('sends nothing for a frame that is already shown', () => {
    const { painter, sent } = open();
    painter.frame('one');
    painter.frame('one');
    expect(sent).toHaveLength(1);
  });
});
