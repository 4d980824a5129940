/** The state of the program around its views: where the user is and which pane has the keys. Pure. */
import { type History, type HistoryAction, here, historyReducer } from '../navigation/history.ts';
import type { Location } from '../navigation/location.ts';
import { neighbour, type PaneName } from './layout.ts';

export interface ShellState {
  readonly history: History;
  readonly focus: PaneName;
  /** Index of the section under the cursor. */
  readonly section: number;
  /** Whether the view shown has an inspector; told by the view when it is drawn. */
  readonly hasInspector: boolean;
}

export type ShellAction =
  | { readonly kind: 'navigate'; readonly action: HistoryAction }
  | { readonly kind: 'focus'; readonly pane: PaneName }
  | { readonly kind: 'move-focus'; readonly direction: -1 | 1 }
  | { readonly kind: 'move-section'; readonly by: number; readonly count: number }
  | { readonly kind: 'show-section'; readonly section: number; readonly view: string }
  | { readonly kind: 'open-section'; readonly sections: readonly string[] }
  | { readonly kind: 'has-inspector'; readonly value: boolean };

export function shellReducer(state: ShellState, action: ShellAction): ShellState {
  switch (action.kind) {
    case 'navigate': {
      const history = historyReducer(state.history, action.action);
      return history === state.history ? { ...state, focus: 'main' } : { ...state, history, focus: 'main' };
    }
    case 'focus':
      return state.focus === action.pane ? state : { ...state, focus: action.pane };
    case 'move-focus': {
      const focus = neighbour(state.focus, action.direction, state.hasInspector);
      return focus === state.focus ? state : { ...state, focus };
    }
    case 'move-section': {
      const section = Math.max(0, Math.min(action.count - 1, state.section + action.by));
      return section === state.section ? state : { ...state, section };
    }
    case 'show-section': {
      const trail = [{ view: action.view, params: {} }];
      return shellReducer({ ...state, section: action.section }, { kind: 'navigate', action: { kind: 'go', trail } });
    }
    case 'open-section': {
      const view = action.sections[state.section];
      if (view === undefined) return state;
      return shellReducer(state, { kind: 'navigate', action: { kind: 'go', trail: [{ view, params: {} }] } });
    }
    case 'has-inspector': {
      if (state.hasInspector === action.value) return state;
      const focus = !action.value && state.focus === 'inspector' ? 'main' : state.focus;
      return { ...state, hasInspector: action.value, focus };
    }
  }
}

/** The section that the present place belongs to. */
export function sectionOf(state: ShellState): string {
  return state.history.present.trail[0]?.view ?? '';
}

export function currentLocation(state: ShellState): Location {
  return here(state.history);
}
