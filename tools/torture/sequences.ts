/**
 * Reads what a program writes to its terminal, and says which of it the program does not mean to write: the list here is
 * written by hand, so that a sequence that slips through from the service is on no list.
 */

/** CSI sequences, by their whole text. */
const meantControls: readonly RegExp[] = [
  // Cursor to a place, forward; erase to the end of the line, the screen; scroll within rows.
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
  // Alternate screen, cursor, wrapping, pastes, mouse; the title kept aside and put back.
  /^\?(1049|25|7|2004|1000|1006)[hl]$/,
  /^2[23];2t$/,
];

/** OSC strings: copies, titles of its own, notices. */
const meantStrings: readonly RegExp[] = [
  /^52;c;[\w+/]*={0,2}$/,
  /^2;benchtop: [^\u0000-\u001f\u007f-\u009f]*$/,
  /^9;[^\u0000-\u001f\u007f-\u009f]*$/,
  /^777;notify;benchtop;[^\u0000-\u001f\u007f-\u009f]*$/,
];

/** Reorders or hides text, whatever the script. Joiners and variation selectors have their uses. */
const deceptive =
  /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;

/** A control sequence; a string with its end; any other escape with its final. */
const token = /\u001b\[([0-?]*[ -/]*[@-~])|\u001b([\]PX^_])([^\u0007\u001b]*)(?:\u0007|\u001b\\)|\u001b([^[\]PX^_])/g;
/** The beginning of a sequence, whose end has not come yet. */
const unfinished = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]*\u001b?)?$/;

/** Modes that are on after what was written. */
export class Modes {
  readonly #on = new Set<string>();

  take(sequence: string): void {
    const [, names = '', final] = /^\?([\d;]+)([hl])$/.exec(sequence) ?? [];
    for (const name of names.split(';').filter(Boolean)) {
      // The cursor and the wrapping are on to begin with: off is what must not stay.
      const leaves = name === '25' || name === '7' ? 'l' : 'h';
      if (final === leaves) this.#on.add(name);
      else this.#on.delete(name);
    }
  }

  /** Modes that are not as the program found them. */
  changed(): readonly string[] {
    return [...this.#on].filter(name => name !== '2026');
  }
}

export class SequenceReader {
  readonly modes = new Modes();
  /** Titles that were kept aside and not put back. */
  titles = 0;
  readonly #report: (what: string) => void;
  #rest = '';

  /** `report` hears of everything that was not meant. */
  constructor(report: (what: string) => void) {
    this.#report = report;
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
      else this.#report(`escape ${JSON.stringify(other)}`);
    }
    this.#plain(whole.slice(from));
  }

  #plain(text: string): void {
    // The bell rings for a notice.
    const found = deceptive.exec(text.replaceAll('\u0007', ''));
    if (found) this.#report(`character U+${found[0].codePointAt(0)?.toString(16)} in ${excerpt(text, found.index)}`);
  }

  #control(sequence: string): void {
    this.modes.take(sequence);
    if (sequence === '22;2t') this.titles += 1;
    if (sequence === '23;2t') this.titles -= 1;
    if (!meantControls.some(pattern => pattern.test(sequence))) this.#report(`CSI ${JSON.stringify(sequence)}`);
  }

  #string(opener: string, string: string): void {
    const meant = opener === ']' && meantStrings.some(pattern => pattern.test(string));
    if (!meant) this.#report(`string ${JSON.stringify(`${opener}${string.slice(0, 60)}`)}`);
  }
}

function excerpt(text: string, at: number): string {
  return JSON.stringify(text.slice(Math.max(0, at - 20), at + 20));
}
