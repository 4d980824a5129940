/**
 * Finds sequences in a program's terminal output that the program does not intend to write. The list is written by
 * hand, so that a sequence from the service is never on it.
 */

/** CSI sequences, by their whole text. */
const meantControls: readonly RegExp[] = [
  // Cursor position, cursor forward; erase line, erase screen; scroll region.
  /^\d*(;\d+)?H$/,
  /^\d*C$/,
  /^K$/,
  /^2J$/,
  /^(\d+;\d+)?r$/,
  /^\d*[ST]$/,
  // Style.
  /^[\d;:]*m$/,
  // Status report, synchronized output.
  /^5n$/,
  /^\?2026[hl]$/,
  // Modes that a killed pager may have left on.
  /^\?(1|1002|1003|1005|1015)l$/,
  // Alternate screen, cursor, wrapping, pastes, mouse; saving and restoring the title.
  /^\?(1049|25|7|2004|1000|1006)[hl]$/,
  /^2[23];2t$/,
];

/** OSC strings: copies, titles, notices. */
const meantStrings: readonly RegExp[] = [
  /^52;c;[\w+/]*={0,2}$/,
  /^2;benchtop: [^\u0000-\u001f\u007f-\u009f]*$/,
  /^9;[^\u0000-\u001f\u007f-\u009f]*$/,
  /^777;notify;benchtop;[^\u0000-\u001f\u007f-\u009f]*$/,
];

/** The allowed CSI sequences and OSC strings, and whether the bell may ring. */
export interface Meant {
  readonly controls: readonly RegExp[];
  readonly strings: readonly RegExp[];
  /** The bell rings for a notice. */
  readonly bell: boolean;
}
const meantByScreen: Meant = { controls: meantControls, strings: meantStrings, bell: true };
/** The command line colours a status, and writes no other control sequences. */
export const meantByCommands: Meant = { controls: [/^3[1-39]m$/], strings: [], bell: false };

/** Reorders or hides text in any script. Joiners and variation selectors have legitimate uses. */
export const deceptive =
  /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;

/** A control sequence; a terminated string; any other escape sequence. */
const token = /\u001b\[([0-?]*[ -/]*[@-~])|\u001b([\]PX^_])([^\u0007\u001b]*)(?:\u0007|\u001b\\)|\u001b([^[\]PX^_])/g;
/** The beginning of an incomplete sequence. */
const unfinished = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]*\u001b?)?$/;

/** Modes by their visible effect. */
const modeNames: Readonly<Record<string, string>> = {
  1049: 'alternate screen',
  25: 'hidden cursor',
  7: 'no wrap',
  2004: 'bracketed paste',
};
/** The cursor and wrapping start switched on: staying off is the error. */
const startOn = new Set(['25', '7']);
/** Synchronized output is part of a frame. */
const ofFrame = '2026';

/** Tracks the modes and the title that output has changed and not restored. */
export function leftOn(output: string): string[] {
  const changed = new Set<string>();
  let titles = 0;
  for (const [sequence, modes = '', final] of output.matchAll(/\u001b\[(?:\?([\d;]+)([hl])|2[23];2t)/g)) {
    if (sequence === '\u001b[22;2t') titles += 1;
    if (sequence === '\u001b[23;2t') titles -= 1;
    for (const mode of modes.split(';').filter(Boolean)) {
      if (final === (startOn.has(mode) ? 'l' : 'h')) changed.add(mode);
      else changed.delete(mode);
    }
  }
  changed.delete(ofFrame);
  const modes = [...changed].map(
    mode => modeNames[mode] ?? `${mode.startsWith('100') ? 'mouse mode' : 'mode'} ${mode}`,
  );
  return titles === 0 ? modes : [...modes, 'title'];
}

export class SequenceReader {
  readonly #report: (what: string) => void;
  readonly #meant: Meant;
  #rest = '';

  /** `report` is called with everything unintended. */
  constructor(report: (what: string) => void, meant: Meant = meantByScreen) {
    this.#report = report;
    this.#meant = meant;
  }

  take(data: string): void {
    const text = this.#rest + data;
    this.#rest = unfinished.exec(text)?.[0] ?? '';
    const whole = text.slice(0, text.length - this.#rest.length);
    let from = 0;
    for (const match of whole.matchAll(token)) {
      this.#plain(whole.slice(from, match.index));
      from = match.index + match[0].length;
      const [, control, opener, string, other] = match;
      if (control !== undefined) this.#control(control);
      else if (opener !== undefined) this.#string(opener, string ?? '');
      // The keypad of a pager that was killed.
      else if (other !== '>') this.#report(`escape ${JSON.stringify(other)}`);
    }
    this.#plain(whole.slice(from));
  }

  #plain(text: string): void {
    const found = deceptive.exec(this.#meant.bell ? text.replaceAll('\u0007', '') : text);
    if (found) this.#report(`character U+${found[0].codePointAt(0)?.toString(16)} in ${excerpt(text, found.index)}`);
  }

  #control(sequence: string): void {
    if (!this.#meant.controls.some(pattern => pattern.test(sequence))) this.#report(`CSI ${JSON.stringify(sequence)}`);
  }

  #string(opener: string, string: string): void {
    const meant = opener === ']' && this.#meant.strings.some(pattern => pattern.test(string));
    if (!meant) this.#report(`string ${JSON.stringify(`${opener}${string.slice(0, 60)}`)}`);
  }
}

function excerpt(text: string, at: number): string {
  return JSON.stringify(text.slice(Math.max(0, at - 20), at + 20));
}
