/** The draft of a chat message, and the conversation being read. Pure. */
import type { KeyPress } from '../../keys/key.ts';
import { type EditState, edit, editStateOf } from '../../widgets/text-field/editing.ts';

export const manyLines = { multiline: true } as const;

export interface Draft {
  readonly typed: EditState;
  readonly writing: boolean;
  /** Which of the two conversations is on screen. */
  readonly side: 0 | 1;
}

export type DraftAction =
  | { readonly kind: 'press'; readonly press: KeyPress }
  | { readonly kind: 'set'; readonly text: string }
  | { readonly kind: 'writing'; readonly writing: boolean }
  | { readonly kind: 'side' };

export const emptyDraft: Draft = { typed: editStateOf(''), writing: true, side: 0 };

export function draftReducer(draft: Draft, action: DraftAction): Draft {
  switch (action.kind) {
    case 'press':
      return { ...draft, typed: edit(draft.typed, action.press, manyLines) ?? draft.typed };
    case 'set':
      return { ...draft, typed: editStateOf(action.text), writing: true };
    case 'writing':
      return { ...draft, writing: action.writing };
    case 'side':
      return { ...draft, side: draft.side === 0 ? 1 : 0 };
  }
}
