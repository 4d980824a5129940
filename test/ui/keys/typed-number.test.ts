/** A number before a key, and a digit alone. */
import { expect, it } from 'vitest';
import { TypedNumber } from '../../../src/ui/keys/typed-number.ts';

const press = (name: string, at: number) => ({ name, text: name, at });

it('becomes a number if a digit or G soon follows a digit, whose command is then undone', () => {
  const typed = new TypedNumber();
  let undone = 0;
  const begin = (at: number) => typed.read(press('1', at))?.ifNumber?.(() => (undone += 1));
  begin(0);
  expect(typed.read(press('5', 400))).toBeUndefined();
  expect(typed.read(press('0', 800))).toBeUndefined();
  expect(undone).toBe(1);
  expect(typed.read(press('G', 1_200))?.number?.()).toBe(150);
  expect(undone).toBe(1);
  begin(2_000);
  expect(typed.read(press('G', 2_400))?.number?.()).toBe(1);
  expect(undone).toBe(2);
  // After a pause, or another key, the digit was a command.
  begin(5_000);
  expect(typed.read(press('G', 5_600))?.number).toBeUndefined();
  begin(6_000);
  typed.read(press('j', 6_010));
  expect(typed.read(press('2', 6_020))?.ifNumber).toBeDefined();
  expect(undone).toBe(2);
});

it('leaves digits alone that no command can undo', () => {
  const typed = new TypedNumber();
  expect(typed.read(press('1', 0))).toBeDefined();
  expect(typed.read(press('2', 10))).toMatchObject({ name: '2' });
  expect(typed.read(press('G', 20))?.number?.()).toBe(12);
});
