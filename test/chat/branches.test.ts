import { describe, expect, it } from 'vitest';
import {
  allBranches,
  type Branch,
  branchOff,
  forksOf,
  goToBranch,
  onlyBranch,
  withBranches,
} from '../../src/chat/branches.ts';
import type { Turn } from '../../src/chat/conversation.ts';

const settings = { model: 'm', system: '' };
const question = (content: string): Turn => ({ role: 'user', content, reasoning: '' });
const answer = (content: string, model = 'm'): Turn => ({
  ...{ role: 'assistant', content, reasoning: '' },
  stats: { model, totalMs: 9 },
});
const branch = (...turns: Turn[]): Branch => ({ settings, turns });
const [tea, leaf] = [question('tea?'), answer('a leaf')];
const first = branch(tea, leaf, question('and milk?'), answer('from cows'));
const second = branch(tea, leaf, question('and oats?'), answer('a grain'));
const third = branch(question('coffee?'), answer('a bean'));

describe('the branches of a conversation', () => {
  it('keep the order in which they began, whichever is on screen', () => {
    const two = branchOff(onlyBranch, first);
    expect(allBranches(two, second)).toEqual([first, second]);
    const back = goToBranch(two, second, 0);
    expect(back).toEqual({ current: first, others: [second], branch: 0 });
    const three = branchOff(back ?? onlyBranch, first);
    expect(allBranches(three, third)).toEqual([first, second, third]);
    expect(goToBranch(three, third, 1)).toEqual({ current: second, others: [first, third], branch: 1 });
    expect([-1, 3].map(index => goToBranch(three, third, index))).toEqual([undefined, undefined]);
  });

  it('merge with those of another screen: continuations replace what they continue, known ones are skipped (B2)', () => {
    const more = branch(...second.turns, question('more?'));
    const open = { others: [second], branch: 0 };
    expect(withBranches(open, first, [third, more])).toEqual([more, third]);
    expect(withBranches(open, first, [branch(tea, leaf), branch(tea, leaf, question('and milk?')), second])).toEqual([
      second,
    ]);
    // The answer was incomplete when the other screen was saved.
    const cut = branch(tea, { ...answer(''), cancelled: true });
    expect(withBranches(onlyBranch, first, [cut])).toEqual([]);
    expect(withBranches({ others: [cut], branch: 0 }, third, [second])).toEqual([second]);
  });

  it('keep a stopped answer beside others, and the longer text of one that two screens stream (attack34 A2)', () => {
    const part = (content: string, at: number): Branch =>
      branch(tea, { role: 'assistant', content, reasoning: '', stats: { model: 'm', at } });
    const whole = (content: string, at: number): Branch =>
      branch(tea, { ...answer(content), stats: { model: 'm', at, totalMs: 9 } });
    const [stopped, other] = [part('a leaf of', 1), whole('a bush', 2)];
    expect(withBranches({ others: [stopped], branch: 1 }, other, [whole('a drink', 3)])).toEqual([
      stopped,
      whole('a drink', 3),
    ]);
    expect(withBranches(onlyBranch, other, [stopped])).toEqual([stopped]);
    const longer = part('a leaf of a bush', 1);
    expect(withBranches(onlyBranch, stopped, [longer])).toEqual([longer]);
    expect(withBranches(onlyBranch, longer, [stopped])).toEqual([]);
    expect(withBranches(onlyBranch, whole('a leaf of a bush.', 1), [longer])).toEqual([]);
  });

  it.each([{ refusal: 'I cannot help.' }, { calls: [{ name: 'search', input: '{}' }] }])(
    'keep a stopped answer without text that has %o (attack35 B7)',
    extras => {
      const stopped = branch(tea, { ...answer(''), ...extras, cancelled: true });
      const other = branch(tea, answer('a bush'));
      expect(withBranches(onlyBranch, other, [stopped])).toEqual([stopped]);
      expect(withBranches({ others: [stopped], branch: 0 }, third, [other])).toEqual([stopped, other]);
    },
  );

  it('fork where they differ after the same beginning', () => {
    const all = [first, second, third].map(({ turns }) => turns);
    expect([...forksOf(all, first.turns)]).toEqual([
      [0, [1, 2]],
      [2, [1, 2]],
    ]);
    expect([...forksOf(all, second.turns)]).toEqual([
      [0, [1, 2]],
      [2, [2, 2]],
    ]);
    expect([...forksOf(all, third.turns)]).toEqual([[0, [2, 2]]]);
    expect(forksOf([first.turns], first.turns).size).toBe(0);
  });

  it('fork in the same places after they are saved and read', () => {
    const [one = [], other = []] = JSON.parse(JSON.stringify([first.turns, second.turns])) as Turn[][];
    expect([...forksOf([one, other], other)]).toEqual([[2, [2, 2]]]);
  });

  it('fork at an answer that was regenerated', () => {
    const again = branch(tea, answer('a plant')).turns;
    expect([...forksOf([first.turns, again], again)]).toEqual([[1, [2, 2]]]);
  });
});
