/** A message in the last line: as wide as the terminal, with the key for the whole of it if it is cut. */
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { displayWidth } from '../../../src/text/width.ts';
import { toastLine } from '../../../src/ui/app/footer.tsx';
import type { Toast } from '../../../src/ui/app/shell-context.tsx';
import { formCommands, globalCommands, listCommands } from '../../../src/ui/keys/general.ts';
import type { Offer } from '../../../src/ui/keys/router.tsx';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('plain');
const offers: readonly Offer[] = [globalCommands.help, globalCommands.notices].map(command => ({
  binding: { command, run: () => undefined },
  keys: command.keys,
}));
const long = 'The local service has other settings than this program asks for. Stop it with `benchtop serve --stop`.';

function line(columns: number, toast: Toast, offered = offers): string {
  const shown = stripVTControlCharacters(toastLine(columns, toast, offered, theme));
  expect(displayWidth(shown)).toBe(columns);
  return shown;
}

it('names the key that shows the whole of a cut message', () => {
  expect(line(80, { kind: 'warning', text: long })).toMatch(/The local service has other settings.*… {2}<!> more │$/);
  expect(line(160, { kind: 'warning', text: long })).toMatch(/--stop`\. +<\?> help │$/);
});

it('names no key that would not show it', () => {
  expect(line(80, { kind: 'info', text: long })).not.toContain('more');
  expect(line(80, { kind: 'warning', text: long }, [])).not.toContain('more');
});

it('keeps the end, which matters', () => {
  const line80 = line(80, { kind: 'success', text: long, tail: '/home/me/runs.json' });
  expect(line80).toMatch(/…\/home\/me\/runs\.json {2}<!> more │$/);
});

it('keeps the keys of a window on screen, whatever the notice (W38)', () => {
  const keys: readonly Offer[] = [formCommands.submit, formCommands.cancel, formCommands.help].map(command => ({
    binding: { command, run: () => undefined },
    keys: command.keys,
  }));
  for (const columns of [60, 80, 120]) {
    const toast = { kind: 'warning', text: long } as const;
    const shown = stripVTControlCharacters(toastLine(columns, toast, keys, theme, true));
    expect(displayWidth(shown)).toBe(columns);
    expect(shown).toMatch(/The local .*<enter> send {2}<esc> cancel/);
  }
});

it('shows the whole notice in a window, if its main keys leave room', () => {
  const keys: readonly Offer[] = Object.values({ ...formCommands, ...listCommands }).map(command => ({
    binding: { command, run: () => undefined },
    keys: command.keys,
  }));
  const shown = stripVTControlCharacters(toastLine(160, { kind: 'warning', text: long }, keys, theme, true));
  expect(displayWidth(shown)).toBe(160);
  expect(shown).toMatch(/--stop`\..*<enter> send .*<esc> cancel/);
});
