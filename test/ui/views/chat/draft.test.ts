import { expect, it } from 'vitest';
import { draftReducer, emptyDraft } from '../../../../src/ui/views/chat/draft.ts';
import { textOf } from '../../../../src/ui/widgets/text-field/editing.ts';

const key = (name: string, text = '') => ({ name, text });

it('takes letters, pastes of many lines, and what is set in their place', () => {
  let draft = draftReducer(emptyDraft, { kind: 'press', press: key('t', 't') });
  draft = draftReducer(draft, { kind: 'press', press: { name: 'paste', text: 'ea\nand toast' } });
  expect(textOf(draft.typed)).toBe('tea\nand toast');
  draft = draftReducer(draft, { kind: 'press', press: key('f5') });
  expect(textOf(draft.typed)).toBe('tea\nand toast');
  draft = draftReducer({ ...draft, writing: false }, { kind: 'set', text: 'again' });
  expect([textOf(draft.typed), draft.writing]).toEqual(['again', true]);
});

it('goes from one conversation to the other and back', () => {
  const other = draftReducer(emptyDraft, { kind: 'side' });
  expect(other.side).toBe(1);
  expect(draftReducer(other, { kind: 'side' }).side).toBe(0);
});
