/** The state of a widget with a line to type in below it: a filter or a search. Each character takes effect at once. */
import { useCallback, useReducer } from 'react';
import { typingCommands } from '../../keys/general.ts';
import type { KeyPress } from '../../keys/key.ts';
import type { Binding, ScopeHandlers } from '../../keys/router.tsx';
import { afterCursor, type EditState, edit, editStateOf, fieldHandlers, insert, oneLine, textOf } from './editing.ts';

interface Typed<State> {
  readonly state: State;
  readonly typing: EditState | undefined;
}

type TypedAction<Action> =
  | { readonly kind: 'act'; readonly action: Action }
  | { readonly kind: 'begin'; readonly text: string }
  | { readonly kind: 'press'; readonly press: KeyPress }
  | { readonly kind: 'replace'; readonly text: string }
  | { readonly kind: 'accept' }
  | { readonly kind: 'cancel' };

export interface TypedLine<State, Action> extends Typed<State> {
  /** The same function in every render. */
  readonly dispatch: (action: Action) => void;
  /** Begins typing, with initial text. */
  readonly begin: (text: string) => void;
  /** Replaces the text before the cursor. */
  readonly replace: (text: string) => void;
  /** Ends typing; the text stays. */
  readonly end: () => void;
  /** The keys that work while the user types, along with `others`. */
  readonly handlers: (others?: readonly Binding[]) => ScopeHandlers;
}

/**
 * @param reduce may use values from the current render: React applies queued actions with the newest reducer
 * @param actionOf makes the action for typed text; the action for empty text undoes it
 */
export function useTypedLine<State, Action>(
  reduce: (state: State, action: Action) => State,
  initial: State,
  actionOf: (text: string) => Action,
): TypedLine<State, Action> {
  const [{ state, typing }, dispatch] = useReducer(
    (before: Typed<State>, action: TypedAction<Action>): Typed<State> => {
      const typed = (next: EditState): Typed<State> => ({
        typing: next,
        state: reduce(before.state, actionOf(textOf(next))),
      });
      switch (action.kind) {
        case 'act': {
          const next = reduce(before.state, action.action);
          return next === before.state ? before : { ...before, state: next };
        }
        case 'begin':
          return { ...before, typing: editStateOf(action.text) };
        case 'press': {
          const next = before.typing && edit(before.typing, action.press, oneLine);
          return next ? typed(next) : before;
        }
        case 'replace':
          return before.typing ? typed(insert(afterCursor(before.typing), action.text, oneLine)) : before;
        case 'accept':
          return { ...before, typing: undefined };
        case 'cancel':
          return { typing: undefined, state: reduce(before.state, actionOf('')) };
      }
    },
    { state: initial, typing: undefined },
  );
  return {
    state,
    typing,
    dispatch: useCallback(action => dispatch({ kind: 'act', action }), []),
    end: () => dispatch({ kind: 'accept' }),
    replace: text => dispatch({ kind: 'replace', text }),
    begin: text => dispatch({ kind: 'begin', text }),
    handlers: (others = []) => ({
      bindings: [
        { command: typingCommands.accept, run: () => dispatch({ kind: 'accept' }) },
        { command: typingCommands.cancel, run: () => dispatch({ kind: 'cancel' }) },
        ...others,
      ],
      ...fieldHandlers(oneLine, press => dispatch({ kind: 'press', press })),
    }),
  };
}
