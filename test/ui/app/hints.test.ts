/** Which keys the last line names if there is little room. */
import { expect, it } from 'vitest';
import { hintsFor } from '../../../src/ui/app/frame-lines.ts';
import type { Offer } from '../../../src/ui/keys/router.tsx';

const offer = (key: string, hint: string, secondary = false): Offer => ({
  binding: { command: { id: hint, title: hint, keys: [key], hint, secondary, group: 'Test' }, run: () => undefined },
  keys: [key],
});
const form = [
  offer('ctrl-p', 'request', true),
  offer('tab', 'next field'),
  offer('enter', 'send'),
  offer('esc', 'cancel'),
  offer('?', 'help'),
];
const shown = (room: number): string[] => hintsFor(form, room).map(({ word }) => word);

it('names all keys in their order if there is room, what is set apart last', () => {
  expect(shown(200)).toEqual(['next field', 'send', 'cancel', 'help', 'request']);
});

it('keeps them if the user has chosen other keys for them (U39)', () => {
  const chosen = form.map(each => (each.keys[0] === '?' ? { ...each, keys: ['f1'] } : each));
  expect(hintsFor(chosen, 43).map(({ key }) => key)).toEqual(['enter', 'esc', 'f1']);
});

it('keeps what leads on, out and to all other keys', () => {
  expect(shown(42)).toEqual(['send', 'cancel', 'help']);
  expect(shown(14)).toEqual(['send']);
  expect(shown(3)).toEqual([]);
});
