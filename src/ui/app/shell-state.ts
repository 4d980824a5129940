/** The state of the program around its views: where the user is and which pane has the keys. Pure. */
import { type History, type HistoryAction, here, historyReducer, startAt } from '../navigation/history.ts';
import type { Location } from '../navigation/location.ts';
import { neighbour, type PaneName } from './layout.ts';

export interface ShellState {
  readonly history: History;
  readonly focus: PaneName;
  /** Names of the sections, from top to bottom. */
  readonly sections: readonly string[];
  /** Index of the section under the cursor: the one that is shown, unless the user looks for another. */
  readonly section: number;
  /** Whether the view shown has an inspector; told by the view when it is drawn. */
  readonly hasInspector: boolean;
}

export type ShellAction =
  | { readonly kind: 'navigate'; readonly action: HistoryAction }
  | { readonly kind: 'focus'; readonly pane: PaneName }
  | { readonly kind: 'move-focus'; readonly direction: -1 | 1 }
  | { readonly kind: 'move-section'; readonly by: number }
  /** Shows a section; the one under the cursor, where none is named. */
  | { readonly kind: 'open-section'; readonly section?: number }
  | { readonly kind: 'has-inspector'; readonly value: boolean };

export function shellReducer(state: ShellState, action: ShellAction): ShellState {
  switch (action.kind) {
    case 'navigate': {
      const history = historyReducer(state.history, action.action);
      const section = state.sections.indexOf(history.present.trail[0]?.view ?? '');
      return { ...state, history, focus: 'main', section: section === -1 ? state.section : section };
    }
    case 'focus':
      return state.focus === action.pane ? state : { ...state, focus: action.pane };
    case 'move-focus': {
      const focus = neighbour(state.focus, action.direction, state.hasInspector);
      return focus === state.focus ? state : { ...state, focus };
    }
    case 'move-section': {
      const section = Math.max(0, Math.min(state.sections.length - 1, state.section + action.by));
      return section === state.section ? state : { ...state, section };
    }
    case 'open-section': {
      const view = state.sections[action.section ?? state.section];
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

/** The state of a program that opens at `location`. */
export function initialShellState(location: Location, sections: readonly string[]): ShellState {
  const section = Math.max(0, sections.indexOf(location.view));
  return { history: startAt(location), focus: 'main', sections, section, hasInspector: false };
}
