/** The strip of the teaching signal: its stacks add up, stand below their steps, and read without colour. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { teachingOf, teachingTurn } from '../../../../src/present/teaching.ts';
import { displayWidth } from '../../../../src/text/width.ts';
import { rowsOf, stripOf, type TeachingSignal } from '../../../../src/ui/views/training/teaching-strip.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

const taught = (step: number, ...groups: number[][]) =>
  teachingOf(
    { step, rewards: groups.flatMap((rewards, index) => rewards.map(reward => ({ task_id: `${index}`, reward }))) },
    [0, 1],
  );
const [good, easy, hard] = [
  [0, 1],
  [1, 1],
  [0, 0],
];
const steps = [1, 2, 3, 4].map(step =>
  step < 2 ? taught(step, good, good, hard, hard) : taught(step, good, easy, easy, easy),
);
const signal: TeachingSignal = { steps, turn: teachingTurn(steps), known: 40, problem: undefined };
const frame = { width: 80, plotWidth: 8, columnOf: (step: number) => (step - 1) * 2, crosshair: undefined };

describe('the strip', () => {
  it('divides its rows exactly', () => {
    const counts = { teaches: 1, easy: 1, hard: 1, equal: 0, unscored: 0 };
    expect(rowsOf(counts, 3, 4)).toHaveLength(4);
    expect(rowsOf(counts, 3, 1)).toHaveLength(1);
  });

  it('stacks what teaches at the bottom of each step, in ASCII too', () => {
    const theme = createTheme('plain', true);
    const drawn = stripOf(signal, 30, 80)?.lines(frame, theme).map(stripVTControlCharacters) ?? [];
    expect(drawn.slice(0, 4).map(line => line.slice(-8))).toEqual(['--+++++ ', '--+++++ ', '##+++++ ', '####### ']);
  });

  it('shows the shares at the crosshair, how much was read, and the turning point', () => {
    const theme = createTheme('plain');
    const at = (crosshair: number | undefined) => stripOf(signal, 30, 80)?.lines({ ...frame, crosshair }, theme) ?? [];
    expect(at(undefined)[4]).toContain('step 4: █ teach 25%  ▒ too easy 75%  of 4 groups, 4 of 40 steps read');
    expect(at(1)[4]).toContain('step 1: █ teach 50%  ░ too hard 50%');
    expect(at(undefined).slice(5).join(' ')).toMatch(
      /^in the newest 4 steps read, 68.8% of the groups teach nothing, most too easy \(\d+ of 11\)$/,
    );
  });

  it('keeps its width and its height in any space', () => {
    const theme = createTheme('plain');
    for (const height of [3, 9, 12, 15, 24, 60]) {
      for (const width of [20, 44, 60, 190]) {
        const strip = stripOf(signal, height, width);
        const drawn = strip?.lines({ ...frame, width }, theme).map(stripVTControlCharacters) ?? [];
        expect(drawn).toHaveLength(strip?.height ?? 0);
        for (const line of drawn) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }
    }
    expect(stripOf(signal, 8, 80)).toBeUndefined();
  });
});
