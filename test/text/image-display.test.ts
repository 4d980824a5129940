import { expect, it } from 'vitest';
import { imageDisplayOf } from '../../src/text/image-display.ts';

it.each([
  [{}, 'viewer'],
  [{ TERM: 'xterm-256color', COLORTERM: 'truecolor' }, 'viewer'],
  [{ TERM: 'xterm-kitty' }, 'kitty'],
  [{ TERM: 'xterm-256color', KITTY_WINDOW_ID: '1' }, 'kitty'],
  [{ TERM: 'xterm-256color', KITTY_WINDOW_ID: '1', TERM_PROGRAM: 'vscode' }, 'viewer'],
  [{ TERM: 'xterm-256color', KITTY_WINDOW_ID: '1', TERM_PROGRAM: 'iTerm.app' }, 'iterm2'],
  [{ TERM: 'xterm-ghostty' }, 'kitty'],
  [{ TERM: 'xterm-256color', TERM_PROGRAM: 'ghostty' }, 'kitty'],
  [{ TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' }, 'iterm2'],
  [{ TERM: 'xterm-256color', LC_TERMINAL: 'iTerm2' }, 'iterm2'],
  [{ TERM: 'xterm-256color', TERM_PROGRAM: 'WezTerm' }, 'wezterm'],
  [{ TERM: 'wezterm' }, 'wezterm'],
  [{ TERM: 'tmux-256color', LC_TERMINAL: 'iTerm2' }, 'viewer'],
  [{ TERM: 'screen', KITTY_WINDOW_ID: '1' }, 'viewer'],
  [{ TERM: 'xterm-kitty', TMUX: '/tmp/tmux-0/default,1,0' }, 'viewer'],
  [{ TERM: 'xterm-kitty', STY: '1.screen' }, 'viewer'],
  [{ TERM: 'xterm-kitty', ZELLIJ: '0' }, 'viewer'],
] as const)('a terminal with %o shows images by %s', (environment, display) => {
  expect(imageDisplayOf(environment)).toBe(display);
});
