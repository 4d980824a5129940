/** Mouse reports in SGR encoding: modes 1000 and 1006 of "XTerm Control Sequences" (Dickey), section Mouse Tracking. */

/** Switches mouse reports for buttons and wheel on and off. */
export const mouseOn = '\u001b[?1000h\u001b[?1006h';
export const mouseOff = '\u001b[?1006l\u001b[?1000l';

export interface MouseEvent {
  readonly kind: 'press' | 'release' | 'drag' | 'wheel-up' | 'wheel-down';
  /** `none` for the wheel, and for a release if the terminal does not name the button. */
  readonly button: 'left' | 'middle' | 'right' | 'none';
  /** Column, from 0. */
  readonly column: number;
  /** Row, from 0. */
  readonly row: number;
  readonly shift: boolean;
  readonly alt: boolean;
  readonly ctrl: boolean;
}

export interface MouseDecoder {
  /**
   * Extracts mouse reports from a chunk of input; `rest` is everything else, unchanged and in order. A partial report
   * at the end of a chunk waits for the next one.
   */
  feed(chunk: string): { events: MouseEvent[]; rest: string };
}

const report = /\x1b\[<(\d{1,5});(\d{1,5});(\d{1,5})([Mm])/g;

/** ESC and `ESC [` alone are not held back: they may be a pressed key. */
const unfinishedSequence = /\x1b\[<(?:\d{0,5}|\d{1,5};\d{0,5}|\d{1,5};\d{1,5};\d{0,5})$/;

/** A decoder that remembers a partial report; one for each input. */
export function createMouseDecoder(): MouseDecoder {
  let held = '';
  return {
    feed(chunk) {
      const text = held + chunk;
      held = unfinishedSequence.exec(text)?.[0] ?? '';
      const events: MouseEvent[] = [];
      const rest = text
        .slice(0, text.length - held.length)
        .replace(report, (_, code: string, x: string, y: string, final: string) => {
          const event = eventOf(Number(code), Number(x) - 1, Number(y) - 1, final === 'm');
          if (event !== undefined) events.push(event);
          return '';
        });
      return { events, rest };
    },
  };
}

const buttons = ['left', 'middle', 'right', 'none'] as const;

/** Bits of the button code; the lowest two are the button, or the direction of the wheel. */
const bits = { shift: 4, alt: 8, ctrl: 16, motion: 32, wheel: 64, extra: 128 } as const;

/** Undefined for events that mean nothing here: sideways wheel, buttons 8 and up, motion without a button. */
function eventOf(code: number, column: number, row: number, released: boolean): MouseEvent | undefined {
  if (code >= bits.extra || column < 0 || row < 0) return undefined;
  const low = code & 3;
  const place = {
    column,
    row,
    shift: (code & bits.shift) !== 0,
    alt: (code & bits.alt) !== 0,
    ctrl: (code & bits.ctrl) !== 0,
  };
  if (code & bits.wheel) {
    if (released || low > 1) return undefined;
    return { kind: low === 0 ? 'wheel-up' : 'wheel-down', button: 'none', ...place };
  }
  const button = buttons[low] ?? 'none';
  if (released) return { kind: 'release', button, ...place };
  if (button === 'none') return undefined;
  return { kind: code & bits.motion ? 'drag' : 'press', button, ...place };
}

interface Clicks {
  /** 2 for the second press of a double click, otherwise 1. Only for presses. */
  press(event: MouseEvent): 1 | 2;
}

const doubleClickSpan = 400;

/**
 * Counts presses: the second one in the same cell with the same button within 400 ms is a double click, after which
 * counting restarts. `now` is a monotonic clock in milliseconds.
 */
export function createClicks(now: () => number): Clicks {
  let last: { readonly event: MouseEvent; readonly at: number } | undefined;
  return {
    press(event) {
      const at = now();
      const double =
        last !== undefined &&
        at - last.at <= doubleClickSpan &&
        last.event.button === event.button &&
        last.event.column === event.column &&
        last.event.row === event.row;
      last = double ? undefined : { event, at };
      return double ? 2 : 1;
    },
  };
}
