/** Tracks the terminal modes that the program switches on, so it can always restore them. */

import { mouseOff, mouseOn } from '../../keys/mouse.ts';

/** The sequences that switch a mode on and off. */
const modes = {
  alternateScreen: ['\u001b[?1049h', '\u001b[?1049l'],
  hiddenCursor: ['\u001b[?25l', '\u001b[?25h'],
  noWrap: ['\u001b[?7l', '\u001b[?7h'],
  bracketedPaste: ['\u001b[?2004h', '\u001b[?2004l'],
  /** Reports on buttons and the wheel, in SGR encoding. */
  mouse: [mouseOn, mouseOff],
  /** Saves and restores the window title (xterm, window operations 22 and 23). */
  title: ['\u001b[22;2t', '\u001b[23;2t'],
} as const;
type Mode = keyof typeof modes;

export class Modes {
  readonly #on = new Set<Mode>();

  /** The bytes that switch these modes on, unless they already are. */
  enter(...names: readonly Mode[]): string {
    const fresh = names.filter(name => !this.#on.has(name));
    for (const name of fresh) this.#on.add(name);
    return fresh.map(name => modes[name][0]).join('');
  }

  /** The bytes that switch all modes off in reverse order; nothing the second time. */
  leave(): string {
    const bytes = [...this.#on]
      .reverse()
      .map(name => modes[name][1])
      .join('');
    this.#on.clear();
    // Ends a partial update: shows everything, resets the style, and lets all rows scroll.
    return bytes === '' ? '' : `\u001b[?2026l\u001b[m\u001b[r${bytes}`;
  }

  /** The bytes that switch the active modes on again, after another program may have switched them off. */
  renew(): string {
    return [...this.#on]
      .filter(name => name !== 'title')
      .map(name => modes[name][0])
      .join('');
  }
}

/** The bytes that switch off every mode that a killed program may have left on. */
export function switchAllOff(): string {
  const bytes = Object.entries(modes).flatMap(([name, [, off]]) => (name === 'title' ? [] : [off]));
  const others = ['1', '1002', '1003', '1005', '1015'].map(mode => `\u001b[?${mode}l`);
  return `\u001b[m\u001b[r${bytes.join('')}${others.join('')}\u001b>`;
}
