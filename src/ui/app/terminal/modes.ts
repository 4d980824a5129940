/** The modes of the terminal that the program switches, so that it can always switch back what it switched. */

import { mouseOff, mouseOn } from '../../keys/mouse.ts';

/** What switches a mode on, and what gives it back. */
const modes = {
  alternateScreen: ['\u001b[?1049h', '\u001b[?1049l'],
  hiddenCursor: ['\u001b[?25l', '\u001b[?25h'],
  noWrap: ['\u001b[?7l', '\u001b[?7h'],
  bracketedPaste: ['\u001b[?2004h', '\u001b[?2004l'],
  /** Reports of buttons and wheel, in SGR encoding. */
  mouse: [mouseOn, mouseOff],
  /** The title of the window, kept aside and put back (xterm, window operations 22 and 23). */
  title: ['\u001b[22;2t', '\u001b[23;2t'],
} as const;
export type Mode = keyof typeof modes;

export class Modes {
  readonly #on = new Set<Mode>();

  /** The bytes that switch these on, but for those that are. */
  enter(...names: readonly Mode[]): string {
    const fresh = names.filter(name => !this.#on.has(name));
    for (const name of fresh) this.#on.add(name);
    return fresh.map(name => modes[name][0]).join('');
  }

  /** The bytes that switch everything off, the last first; nothing the second time. */
  leave(): string {
    const bytes = [...this.#on]
      .reverse()
      .map(name => modes[name][1])
      .join('');
    this.#on.clear();
    // Whatever was being painted: shown at once, a plain style, and all rows scrolling.
    return bytes === '' ? '' : `\u001b[?2026l\u001b[m\u001b[r${bytes}`;
  }

  /** The bytes that switch on again what is on, if another program may have switched it off. */
  renew(): string {
    return [...this.#on]
      .filter(name => name !== 'title')
      .map(name => modes[name][0])
      .join('');
  }
}

/** The bytes that switch off whatever a program may have left on that was killed. */
export function switchAllOff(): string {
  const bytes = Object.entries(modes).flatMap(([name, [, off]]) => (name === 'title' ? [] : [off]));
  return `\u001b[m\u001b[r${bytes.join('')}\u001b[?1l\u001b>`;
}
