/** Which keys the last line names if there is little room. */
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import type { HintRank } from '../../../src/present/command.ts';
import { footerLine, hintsFor, mainHintsWidth } from '../../../src/ui/app/frame-lines.ts';
import type { Offer } from '../../../src/ui/keys/router.tsx';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';

const offer = (key: string, hint: string, rank?: HintRank): Offer => ({
  binding: {
    command: { id: hint, title: hint, keys: [key], hint, ...(rank && { rank }), group: 'Test' },
    run: () => undefined,
  },
  keys: [key],
});
const form = [
  offer('ctrl-p', 'request', 'last'),
  offer('tab', 'next field'),
  offer('enter', 'send'),
  offer('esc', 'cancel'),
  offer('?', 'help'),
];
const shown = (room: number): string[] => hintsFor(form, room).map(({ word }) => word);

it('names all keys in order if there is room, set-apart ones last', () => {
  expect(shown(200)).toEqual(['next field', 'send', 'cancel', 'help', 'request']);
});

it('keeps them if the user has changed their keys (U39)', () => {
  const chosen = form.map(each => (each.keys[0] === '?' ? { ...each, keys: ['f1'] } : each));
  expect(hintsFor(chosen, 43).map(({ key }) => key)).toEqual(['enter', 'esc', 'f1']);
});

it('keeps the keys that open, go back and list the others', () => {
  expect(shown(42)).toEqual(['send', 'cancel', 'help']);
  expect(shown(14)).toEqual(['send']);
  expect(shown(3)).toEqual([]);
});

const run = [
  offer('v', 'rollouts'),
  offer('p', 'pin', 'follow'),
  offer('c', 'cancel', 'stop'),
  offer('e', 'evaluate', 'main'),
  offer('enter', 'open', 'follow'),
  offer('D', 'deploy', 'second'),
  offer('?', 'help'),
];
const ofRun = (room: number): string =>
  hintsFor(run, room)
    .map(({ word }) => word)
    .join(' ');

it('names the most important keys first, and keeps them and help in narrow windows (W37)', () => {
  expect(ofRun(200)).toBe('evaluate deploy cancel pin open rollouts help');
  expect(ofRun(60)).toBe('evaluate deploy cancel pin help');
  expect(ofRun(mainHintsWidth(run))).toBe('evaluate deploy cancel help');
});

it('lets a view give a key another rank', () => {
  const inWatch = run.map(each => ({ ...each, binding: { ...each.binding, rank: 'normal' as const } }));
  expect(hintsFor([...inWatch, offer('p', 'unpin', 'follow')], 30)[0]?.word).toBe('unpin');
});

it('leaves room for these keys beside the crumbs', () => {
  const line = (columns: number) =>
    stripVTControlCharacters(footerLine(columns, ['Training', 'words-seed1'], run, createTheme('plain')));
  expect(line(60)).toBe('│ …s-seed1  <e> evaluate  <D> deploy  <c> cancel  <?> help │');
  expect(line(80)).toContain('› words-seed1  ');
});
