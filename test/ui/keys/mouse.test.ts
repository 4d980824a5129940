import { describe, expect, it } from 'vitest';
import { createClicks, createMouseDecoder, type MouseEvent, mouseOff, mouseOn } from '../../../src/ui/keys/mouse.ts';

const event = (given: Partial<MouseEvent> = {}): MouseEvent => ({
  kind: 'press',
  button: 'left',
  column: 0,
  row: 0,
  shift: false,
  alt: false,
  ctrl: false,
  ...given,
});

const decode = (chunk: string) => createMouseDecoder().feed(chunk);

describe('createMouseDecoder', () => {
  it('recognises buttons, wheel, drag and release', () => {
    const chunk = '\x1b[<0;1;1M\x1b[<1;3;2M\x1b[<2;200;100m\x1b[<32;4;5M\x1b[<64;1;1M\x1b[<65;1;1M\x1b[<3;1;1m';
    expect(decode(chunk)).toEqual({
      events: [
        event(),
        event({ button: 'middle', column: 2, row: 1 }),
        event({ kind: 'release', button: 'right', column: 199, row: 99 }),
        event({ kind: 'drag', column: 3, row: 4 }),
        event({ kind: 'wheel-up', button: 'none' }),
        event({ kind: 'wheel-down', button: 'none' }),
        event({ kind: 'release', button: 'none' }),
      ],
      rest: '',
    });
  });

  it('recognises modifiers', () => {
    expect(decode('\x1b[<4;1;1M\x1b[<8;1;1M\x1b[<16;1;1M\x1b[<93;1;1M').events).toEqual([
      event({ shift: true }),
      event({ alt: true }),
      event({ ctrl: true }),
      event({ kind: 'wheel-down', button: 'none', shift: true, alt: true, ctrl: true }),
    ]);
  });

  it('drops reports that mean nothing here', () => {
    // Sideways wheel, button 8, motion without a button, a cell that does not exist.
    const chunk = '\x1b[<66;1;1M\x1b[<67;1;1M\x1b[<128;1;1M\x1b[<35;1;1M\x1b[<0;0;1M';
    expect(decode(chunk)).toEqual({ events: [], rest: '' });
  });

  it('keeps everything else unchanged, in order', () => {
    expect(decode('j\x1b[<0;1;1Mk\x1b[A\x1b[<0;1;1m\x1b')).toEqual({
      events: [event(), event({ kind: 'release' })],
      rest: 'jk\x1b[A\x1b',
    });
    for (const text of ['', 'é👍🏽\r\t', '\x1b[<0;1M', '\x1b[<;1;1M', '\x1b[<0;1;1X', '\x1b[M !!', '[<0;1;1M']) {
      expect(decode(text)).toEqual({ events: [], rest: text });
    }
  });

  it('joins a report split anywhere', () => {
    const whole = 'a\x1b[<0;12;34Mb';
    const tail = whole.indexOf('<') + 1;
    for (let cut = tail; cut < whole.length; cut++) {
      const decoder = createMouseDecoder();
      const parts = [decoder.feed(whole.slice(0, cut)), decoder.feed(whole.slice(cut))];
      expect(parts.flatMap(part => part.events)).toEqual([event({ column: 11, row: 33 })]);
      expect(parts.map(part => part.rest).join('')).toBe('ab');
    }
    const decoder = createMouseDecoder();
    const parts = [...whole.slice(tail)].map(character => decoder.feed(character));
    expect(parts.flatMap(part => part.events)).toEqual([]);
    expect(parts.map(part => part.rest).join('')).toBe(whole.slice(tail));
  });

  it('holds its first part over several chunks, and once', () => {
    const decoder = createMouseDecoder();
    expect(decoder.feed('x\x1b[<')).toEqual({ events: [], rest: 'x' });
    for (const part of ['0', ';', '1', ';1', '']) expect(decoder.feed(part)).toEqual({ events: [], rest: '' });
    expect(decoder.feed('M')).toEqual({ events: [event()], rest: '' });
    expect(decoder.feed('M')).toEqual({ events: [], rest: 'M' });
  });

  it('never delays a key', () => {
    const decoder = createMouseDecoder();
    for (const key of ['\x1b', '\x1b[', '<', '0', '\x1b[A'])
      expect(decoder.feed(key)).toEqual({ events: [], rest: key });
  });

  it('releases what turns out not to be a report', () => {
    const decoder = createMouseDecoder();
    expect(decoder.feed('\x1b[<0;').rest).toBe('');
    expect(decoder.feed('q\x1b[<0;1;1M')).toEqual({ events: [event()], rest: '\x1b[<0;q' });
    expect(decoder.feed(`\x1b[<${'1'.repeat(50)}`).rest).toBe(`\x1b[<${'1'.repeat(50)}`);
  });
});

describe('mouseOn and mouseOff', () => {
  it('set and reset the same modes', () => {
    expect(mouseOn).toBe('\x1b[?1000h\x1b[?1006h');
    expect(mouseOff).toBe('\x1b[?1006l\x1b[?1000l');
  });
});

describe('createClicks', () => {
  /** The counts of presses, each given with its time. */
  function counts(...presses: [at: number, event: MouseEvent][]): number[] {
    let time = 0;
    const clicks = createClicks(() => time);
    return presses.map(([at, pressed]) => {
      time = at;
      return clicks.press(pressed);
    });
  }

  it('counts two presses within 400 ms as a double click', () => {
    expect(counts([0, event()], [400, event()])).toEqual([1, 2]);
    expect(counts([0, event()], [401, event()])).toEqual([1, 1]);
  });

  it('starts again after a double click', () => {
    expect(counts([0, event()], [10, event()], [20, event()], [30, event()])).toEqual([1, 2, 1, 2]);
  });

  it('requires the same cell and the same button', () => {
    expect(counts([0, event()], [10, event({ column: 1 })])).toEqual([1, 1]);
    expect(counts([0, event()], [10, event({ row: 1 })])).toEqual([1, 1]);
    expect(counts([0, event()], [10, event({ button: 'right' })])).toEqual([1, 1]);
    expect(counts([0, event()], [10, event({ row: 1 })], [20, event({ row: 1 })])).toEqual([1, 1, 2]);
  });
});
