/** The heads of a comparison tell the runs apart, at any width. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compareTasks } from '../../../../src/queries/compare.ts';
import type { ReadRewards } from '../../../../src/queries/run-extent.ts';
import { compareRuns, describeTaskMean } from '../../../../src/resources/comparison.ts';
import { comparePlace } from '../../../../src/resources/run-places.ts';
import { displayWidth } from '../../../../src/text/width.ts';
import { comparedHeads, comparedNames } from '../../../../src/ui/views/runs/compared-heads.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

const model = 'benchtop/tutor-base';
const rewards = (count: number): ReadRewards['rewards'] =>
  Array.from({ length: count }, (_, index) => ({
    task_id: `t${index % 28}`,
    trajectory_id: `traj_${index}`,
    reward: index % 7 === 0 ? 1 : 0.05,
  }));
const complete: ReadRewards = { rewards: rewards(28), total: 28, status: 'completed' };
const broken: ReadRewards = { rewards: rewards(1688), total: 1792, status: 'completed' };

function heads(
  [base, fresh]: readonly [ReadRewards, ReadRewards],
  [one, other]: readonly [string, string],
  room: { readonly width: number; readonly isLow?: boolean },
): { readonly lines: readonly string[]; readonly words: readonly string[] } {
  const tasks = compareTasks(base, fresh);
  const compared = compareRuns(tasks);
  const names = comparedNames({
    view: 'compare',
    base: { id: 'evr_1', name: one, model },
    new: { id: 'evr_2', name: other, model },
  });
  const lines = comparedHeads(compared, names, tasks[0]?.runs, room, createTheme()).map(stripVTControlCharacters);
  for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(room.width);
  return { lines, words: [describeTaskMean(compared.base), describeTaskMean(compared.new)] };
}

const joined = (lines: readonly string[]): string => lines.join(' ').replace(/ +/g, ' ');

describe('the head of a run in a comparison', () => {
  it.each([200, 120, 80, 60])('tells a checkpoint from its base model in %i columns', width => {
    const run = { base_model_slug: model, parent_checkpoint_id: null };
    const trained = { base_model_slug: model, parent_checkpoint_id: 'ckpt_1', step: 6 };
    const none = { seen: { find: () => undefined } as never };
    const placeOf = (more: object) =>
      comparePlace(
        { ...run, eval_run_id: 'evr_1', display_name: 'before' },
        { ...trained, eval_run_id: 'evr_2', display_name: 'after', ...more },
        none,
      );
    const headsOf = (more: object): string => {
      const tasks = compareTasks(complete, broken);
      const room = { width: width - 2 };
      const lines = comparedHeads(compareRuns(tasks), comparedNames(placeOf(more)), undefined, room, createTheme());
      return joined(lines.map(stripVTControlCharacters));
    };
    expect(headsOf({})).toContain(`new after ${model} at step 6`);
    expect(headsOf({})).toContain(`base before ${model} `);
    expect(headsOf({ step: null })).toContain(`new after ${model} at ckpt_1`);
  });

  it('shows the name and the model, and then the whole mean (X20)', () => {
    const { lines, words } = heads([complete, broken], ['untrained', 'trained'], { width: 57 });
    expect(lines.slice(0, 2)).toEqual([`base  untrained  ${model}  ${words[0]}`, `new   trained  ${model}`]);
    expect(joined(lines.slice(2))).toBe(` ${words[1]}`);
    expect(heads([complete, broken], ['untrained', 'trained'], { width: 160 }).lines).toEqual([
      `base  untrained  ${model}  ${words[0]}`,
      `new   trained  ${model}  ${words[1]}`,
    ]);
  });

  it('cuts no number and no bound at any width, and a name only in the middle (X20)', () => {
    const pair = ['t-words untrained, the first of today', 't-words trained, the first of today'] as const;
    for (let width = 24; width < 130; width += 3) {
      for (const isLow of [false, true]) {
        const { lines, words } = heads([broken, broken], pair, { width, isLow });
        for (const each of words) expect(joined(lines)).toContain(each);
      }
    }
  });

  it('saves a line in a low terminal (X20)', () => {
    const pair = ['untrained', 'trained'] as const;
    expect(heads([complete, broken], pair, { width: 59 }).lines).toHaveLength(4);
    const { lines } = heads([complete, broken], pair, { width: 59, isLow: true });
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^new {3}trained.*base {2}0\.\d+ over /);
    const long = ['t-words before any training', 't-words after any training'] as const;
    expect(heads([complete, complete], long, { width: 59 }).lines).toHaveLength(4);
    const low = heads([complete, complete], long, { width: 59, isLow: true });
    expect(low.lines).toEqual(low.words.map(words => expect.stringContaining(`  ${words}`)));
  });

  it.each([24, 55, 78])('tells runs apart whose names start or end alike, in %i columns (X20)', width => {
    for (const pair of [
      ['t-words after training with seed 1', 't-words after training with seed 2'],
      ['seed 1 of t-words after much training on it', 'seed 2 of t-words after much training on it'],
      ['t-words, seed 1, after training', 't-words, seed 2, after training'],
      ['the same', 'the same'],
    ] as const) {
      for (const isLow of [false, true]) {
        const { lines } = heads([broken, broken], pair, { width, isLow });
        const [base, fresh] = [lines[0], lines[lines.length / 2]].map(line => line?.slice(6));
        expect(base).not.toBe(fresh);
      }
    }
  });

  it.each([
    ['cancelled', /cancelled/],
    ['failed', /failed/],
    ['running', /running/],
    ['cancel_signaled', /cancel signaled/],
  ])('says that a run is %s (X20)', (status, words) => {
    const { lines } = heads([{ ...broken, status }, complete], ['untrained', 'trained'], { width: 55 });
    expect(lines[0]).toMatch(words);
    expect(lines[0]).toMatch(/^base {2}untrained/);
    expect(joined(lines.slice(lines.findIndex(line => line.startsWith('new'))))).not.toMatch(words);
  });

  it('says nothing about a complete run', () => {
    expect(joined(heads([complete, complete], ['one', 'other'], { width: 55 }).lines)).not.toMatch(/complete/);
  });
});
