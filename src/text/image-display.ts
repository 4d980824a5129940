/** Whether the terminal can show images. Pure. Not in terminal.ts, which is compiled at every start. */
import type { Environment } from './terminal.ts';

/** How images are shown: by one of the terminal's protocols, or by the system's viewer. */
export const imageDisplays = ['kitty', 'iterm2', 'wezterm', 'viewer'] as const;
export type ImageDisplay = (typeof imageDisplays)[number];

/**
 * Chooses the display from the environment. Over SSH, only `TERM` is certain to arrive; many servers accept
 * `LC_TERMINAL`. A multiplexer drops images, but keeps the outer terminal's variables.
 */
export function imageDisplayOf(environment: Environment): ImageDisplay {
  const { TERM = '', TERM_PROGRAM, LC_TERMINAL, KITTY_WINDOW_ID, TMUX, STY, ZELLIJ } = environment;
  if (TMUX || STY || ZELLIJ || /^(screen|tmux)/.test(TERM)) return 'viewer';
  if (TERM === 'wezterm' || TERM_PROGRAM === 'WezTerm') return 'wezterm';
  // A terminal that was started from kitty has its variables too.
  const isInKitty = KITTY_WINDOW_ID && !TERM_PROGRAM;
  if (/^xterm-(kitty|ghostty)$/.test(TERM) || TERM_PROGRAM === 'ghostty' || isInKitty) return 'kitty';
  return TERM_PROGRAM === 'iTerm.app' || LC_TERMINAL === 'iTerm2' ? 'iterm2' : 'viewer';
}
