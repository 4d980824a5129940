/** The program's state outside its views: the current place, and the focused pane. Pure. */
import type { Place } from '../../resources/place.ts';
import { type History, type HistoryAction, here, historyReducer, startAt } from '../navigation/history.ts';
import { neighbour, type PaneName } from './layout.ts';
import { viewId } from './registry.ts';

export interface ShellState {
  readonly history: History;
  readonly focus: PaneName;
  /** The sections' places, from top to bottom. */
  readonly sections: readonly Place[];
  /** Index of the section under the cursor: the current one, unless the user is browsing the sections. */
  readonly section: number;
}

export type ShellAction =
  | { readonly kind: 'navigate'; readonly action: HistoryAction }
  | { readonly kind: 'focus'; readonly pane: PaneName }
  | { readonly kind: 'move-focus'; readonly direction: -1 | 1; readonly hasInspector: boolean }
  | { readonly kind: 'move-section'; readonly by: number }
  /** Opens a section; by default the one under the cursor. */
  | { readonly kind: 'open-section'; readonly section?: number };

export function shellReducer(state: ShellState, action: ShellAction): ShellState {
  switch (action.kind) {
    case 'navigate': {
      const history = historyReducer(state.history, action.action);
      const section = sectionAt(state.sections, history.present[0]);
      return { ...state, history, focus: 'main', section: section === -1 ? state.section : section };
    }
    case 'focus':
      return state.focus === action.pane ? state : { ...state, focus: action.pane };
    case 'move-focus': {
      const focus = neighbour(state.focus, action.direction, action.hasInspector);
      return focus === state.focus ? state : { ...state, focus };
    }
    case 'move-section': {
      const section = Math.max(0, Math.min(state.sections.length - 1, state.section + action.by));
      return section === state.section ? state : { ...state, section };
    }
    case 'open-section': {
      const place = state.sections[action.section ?? state.section];
      if (place === undefined) return state;
      return shellReducer(state, { kind: 'navigate', action: { kind: 'go', trail: [place] } });
    }
  }
}

/** Index of the section that opens this place's view; -1 if there is none. */
function sectionAt(sections: readonly Place[], place: Place | undefined): number {
  return place === undefined ? -1 : sections.findIndex(section => viewId(section) === viewId(place));
}

/** Index of the section that the current place belongs to; -1 if there is none. */
export function sectionOf({ sections, history }: ShellState): number {
  return sectionAt(sections, history.present[0]);
}

export function currentPlace(state: ShellState): Place {
  return here(state.history);
}

/** The state of a program that opens at `place`. */
export function initialShellState(place: Place, sections: readonly Place[]): ShellState {
  const section = Math.max(0, sectionAt(sections, place));
  return { history: startAt(place), focus: 'main', sections, section };
}
