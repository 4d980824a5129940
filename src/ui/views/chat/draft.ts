/** A chat message being drafted, and the part of the conversation being read. Pure. */
import type { KeyPress } from '../../keys/key.ts';
import { type EditState, edit, editStateOf } from '../../widgets/text-field/editing.ts';

export const manyLines = { multiline: true } as const;

export interface Draft {
  readonly typed: EditState;
  readonly writing: boolean;
  /** Which of the two conversations is on screen. */
  readonly side: 0 | 1;
  /** The turn index of the selected question; undefined for the last one. */
  readonly question: number | undefined;
  /** The question that the text will replace, and the unsent message from before the edit. */
  readonly editing: { readonly question: number; readonly before: EditState } | undefined;
}

export type DraftAction =
  | { readonly kind: 'press'; readonly press: KeyPress }
  /** Begins a message with this text. */
  | { readonly kind: 'set'; readonly text: string }
  | { readonly kind: 'writing'; readonly writing: boolean }
  | { readonly kind: 'side' }
  /** Selects the question this many after the selected one; stays at the ends. */
  | { readonly kind: 'select'; readonly by: -1 | 1; readonly questions: readonly number[] }
  /** Ends the selection and the edit, for another conversation or branch. */
  | { readonly kind: 'leave-questions' }
  /** Begins editing a question that has been sent. */
  | { readonly kind: 'edit'; readonly question: number; readonly text: string }
  /** Ends the edit, whether it was sent or discarded. */
  | { readonly kind: 'end-edit' };

export const emptyDraft: Draft = {
  typed: editStateOf(''),
  writing: true,
  side: 0,
  question: undefined,
  editing: undefined,
};

/** The turn index of the selected question; by default, the last question's. */
export function selectedQuestion({ question }: Draft, questions: readonly number[]): number | undefined {
  return question !== undefined && questions.includes(question) ? question : questions.at(-1);
}

export function draftReducer(draft: Draft, action: DraftAction): Draft {
  switch (action.kind) {
    case 'press':
      return { ...draft, typed: edit(draft.typed, action.press, manyLines) ?? draft.typed };
    case 'set':
      return { ...draft, typed: editStateOf(action.text), writing: true, question: undefined, editing: undefined };
    case 'writing':
      return { ...draft, writing: action.writing };
    case 'side':
      return { ...draft, side: draft.side === 0 ? 1 : 0 };
    case 'select': {
      const { questions, by } = action;
      const at = questions.indexOf(selectedQuestion(draft, questions) ?? -1);
      return { ...draft, question: questions[Math.max(0, Math.min(questions.length - 1, at + by))] };
    }
    case 'leave-questions':
      return { ...draft, typed: draft.editing?.before ?? draft.typed, question: undefined, editing: undefined };
    case 'edit': {
      const before = draft.editing?.before ?? draft.typed;
      const { question, text } = action;
      return { ...draft, typed: editStateOf(text), writing: true, question, editing: { question, before } };
    }
    case 'end-edit':
      return { ...draft, typed: draft.editing?.before ?? editStateOf(''), question: undefined, editing: undefined };
  }
}
