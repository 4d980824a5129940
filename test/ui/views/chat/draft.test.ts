import { expect, it } from 'vitest';
import { draftReducer, emptyDraft, selectedQuestion } from '../../../../src/ui/views/chat/draft.ts';
import { textOf } from '../../../../src/ui/widgets/text-field/editing.ts';

const key = (name: string, text = '') => ({ name, text });

it('takes letters, multi-line pastes, and replacements', () => {
  let draft = draftReducer(emptyDraft, { kind: 'press', press: key('t', 't') });
  draft = draftReducer(draft, { kind: 'press', press: { name: 'paste', text: 'ea\nand toast' } });
  expect(textOf(draft.typed)).toBe('tea\nand toast');
  draft = draftReducer(draft, { kind: 'press', press: key('f5') });
  expect(textOf(draft.typed)).toBe('tea\nand toast');
  draft = draftReducer({ ...draft, writing: false }, { kind: 'set', text: 'again' });
  expect([textOf(draft.typed), draft.writing]).toEqual(['again', true]);
});

it('moves between the two conversations', () => {
  const other = draftReducer(emptyDraft, { kind: 'side' });
  expect(other.side).toBe(1);
  expect(draftReducer(other, { kind: 'side' }).side).toBe(0);
});

it('selects questions from the last one on, and stops at the ends', () => {
  const questions = [0, 2, 4];
  const after = (...moves: readonly (-1 | 1)[]) =>
    moves.reduce((draft, by) => draftReducer(draft, { kind: 'select', by, questions }), emptyDraft);
  const selected = (...moves: readonly (-1 | 1)[]) => selectedQuestion(after(...moves), questions);
  expect([selected(), selected(-1), selected(-1, -1, -1), selected(1), selected(-1, 1)]).toEqual([4, 2, 0, 4, 4]);
  // A question of another branch is not in this one.
  expect(selectedQuestion(after(-1), [0])).toBe(0);
  expect(selectedQuestion(emptyDraft, [])).toBeUndefined();
});

it('restores the unsent message after a question was edited or the edit dropped', () => {
  const unsent = draftReducer(emptyDraft, { kind: 'set', text: 'unsent' });
  const editing = draftReducer(unsent, { kind: 'edit', question: 2, text: 'tea?' });
  expect([textOf(editing.typed), editing.editing?.question]).toEqual(['tea?', 2]);
  const another = draftReducer(editing, { kind: 'edit', question: 0, text: 'milk?' });
  for (const kind of ['end-edit', 'leave-questions'] as const) {
    const ended = draftReducer(another, { kind });
    expect([textOf(ended.typed), ended.editing]).toEqual(['unsent', undefined]);
  }
});
