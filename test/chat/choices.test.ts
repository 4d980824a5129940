import { describe, expect, it } from 'vitest';
import { answersAt, type Choice, countChoices, countPairs, pairKey, withChoice } from '../../src/chat/choices.ts';
import type { Turn } from '../../src/chat/conversation.ts';

const question: Turn = { role: 'user', content: 'tea?', reasoning: '' };
const answer = (content: string, model: string, more: Partial<Turn> = {}): Turn => ({
  ...{ role: 'assistant', content, reasoning: '' },
  ...{ stats: { model, totalMs: 9 }, ...more },
});
const choice = (better: Choice['better'], models: Choice['models'] = ['a', 'b'], pair = 'p'): Choice => ({
  ...{ pair, better, models },
  at: 1,
});

describe('two answers', () => {
  const of = (left: Turn | undefined, right: Turn | undefined) =>
    answersAt(left ? [question, left] : [question], right ? [question, right] : [question], 1);

  it('can be compared if both are complete and come from different models', () => {
    expect(of(answer('x', 'a'), answer('x', 'b'))).toEqual({ models: ['a', 'b'] });
    const refused = [
      of(answer('x', 'a'), undefined),
      of(answer('x', 'a'), question),
      of(answer('x', 'a'), answer('', 'b')),
      of(answer('x', 'a', { cancelled: true }), answer('x', 'b')),
      of(answer('x', 'a'), answer('x', 'b', { error: { message: 'lost' } })),
      of(answer('x', 'a', { stats: { model: 'a' } }), answer('x', 'b')),
    ].map(each => 'why' in each && each.why);
    expect(refused).toEqual([
      ...['There are not two answers yet', 'There are not two answers yet'],
      ...Array.from({ length: 4 }, () => 'An answer is incomplete: generate it again first'),
    ]);
    // A choice counts for the models that answered, not for those that were asked.
    expect(of(answer('x', 'a', { answeredBy: 'c' }), answer('x', 'b'))).toEqual({ models: ['c', 'b'] });
    expect(of(answer('x', 'a', { answeredBy: 'b' }), answer('x', 'b'))).toHaveProperty('why');
    // The turns that a second model was given.
    expect(of(answer('x', 'a'), answer('x', 'a'))).toEqual({ why: 'Both answers are from the same model' });
  });

  it('are recognised after saving, unless anything before them has changed', () => {
    const [left, right] = [
      [question, answer('x', 'a')],
      [question, answer('y', 'b')],
    ];
    const key = pairKey(left, right, 1);
    expect(pairKey(JSON.parse(JSON.stringify(left)), JSON.parse(JSON.stringify(right)), 1)).toBe(key);
    const later = [question, answer('z', 'a')];
    expect(pairKey([...left, ...later], [...right, ...later], 1)).toBe(key);
    expect(pairKey([{ ...question, content: 'milk?' }, ...left.slice(1)], right, 1)).not.toBe(key);
    expect(pairKey(left, [question, answer('z', 'b')], 1)).not.toBe(key);
    expect(pairKey(right, left, 1)).not.toBe(key);
  });
});

describe('choices', () => {
  it('replace an earlier choice between the same answers; choosing the same again removes it', () => {
    const [left, right, other] = [choice('left'), choice('right'), choice('left', ['a', 'b'], 'q')];
    expect(withChoice([left, other], right)).toEqual([other, right]);
    expect(withChoice([other, right], choice('right'))).toEqual([other]);
  });

  it('are counted for two models on either side, and for no others', () => {
    const made = [
      choice('left'),
      choice('right', ['b', 'a']),
      choice('right'),
      choice('equal', ['b', 'a']),
      choice('both bad'),
      choice('left', ['a', 'c']),
    ];
    expect(countChoices(made, ['a', 'b'])).toEqual({ left: 2, right: 1, equal: 1, 'both bad': 1 });
    expect(countChoices(made, ['b', 'a'])).toEqual({ left: 1, right: 2, equal: 1, 'both bad': 1 });
  });

  it('are counted for each pair of models, once for the same answers in several conversations', () => {
    const again = { ...choice('right', ['a', 'b'], 'p1'), at: 2 };
    const made = [again, choice('left', ['a', 'b'], 'p1'), choice('equal', ['c', 'a'], 'p2')];
    expect(countPairs([...made, choice('left', ['b', 'a'], 'p3')])).toEqual([
      { models: ['a', 'b'], counts: { left: 0, right: 2, equal: 0, 'both bad': 0 } },
      { models: ['a', 'c'], counts: { left: 0, right: 0, equal: 1, 'both bad': 0 } },
    ]);
  });
});
