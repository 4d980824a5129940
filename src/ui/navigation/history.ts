/**
 * Navigation history: the current place, the trail that leads to it, and places to go back to. Pure: a reducer over a
 * trail of crumbs, a past and a future, as in a browser.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Place, placeKey } from '../../resources/place.ts';

/** From a section down to a place; never empty. */
type Trail = readonly Place[];

export interface History {
  readonly past: readonly Trail[];
  readonly present: Trail;
  readonly future: readonly Trail[];
  /** The previous trail, after any navigation. */
  readonly last?: Trail | undefined;
}

export type HistoryAction =
  /** Opens a place below the current one. */
  | { readonly kind: 'open'; readonly place: Place }
  /** Goes to a section, or anywhere by name, with a new trail. */
  | { readonly kind: 'go'; readonly trail: Trail }
  /** Shows a sibling in the same position: changes the last crumb, but not where back leads. */
  | {
      readonly kind: 'replace';
      readonly place: Place;
      /** Replaces the record of the same resource above it, if it was opened from one. */
      readonly above?: Place<'record'>;
    }
  /** Goes one crumb up. */
  | { readonly kind: 'up' }
  /** Leaves a place that cannot be shown: one crumb up, or back if there is no crumb. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'back' }
  | { readonly kind: 'forward' }
  /** Switches to the previous view; the same key switches back. */
  | { readonly kind: 'last' };

/** Maximum number of places remembered in each direction. */
const depth = 100;

export function startAt(...trail: [Place, ...Place[]]): History {
  return { past: [], present: trail, future: [] };
}

/** Whether there is a place to go back to. */
export function canLeave({ present, past }: History): boolean {
  return present.length > 1 || past.length > 0;
}

export function here(history: History): Place {
  const place = history.present.at(-1);
  if (!place) throw new Error('a trail is never empty');
  return place;
}

function moveTo(history: History, present: Trail): History {
  if (isSameTrail(present, history.present)) return history;
  return { past: [...history.past, history.present].slice(-depth), present, future: [], last: history.present };
}

const isSameTrail = (left: Trail, right: Trail): boolean => isDeepStrictEqual(left.map(placeKey), right.map(placeKey));

const samePlace = (left: Place, right: Place): boolean => placeKey(left) === placeKey(right);

export function historyReducer(history: History, action: HistoryAction): History {
  const { past, present, future, last } = history;
  switch (action.kind) {
    case 'open': {
      if (samePlace(here(history), action.place)) return history;
      return moveTo(history, [...present, action.place]);
    }
    case 'go':
      return action.trail.length === 0 ? history : moveTo(history, action.trail);
    case 'replace': {
      const { place, above } = action;
      const before = present.slice(0, -1);
      const from = before.at(-1);
      const isShown = above !== undefined && from?.view === 'record' && from.resource === above.resource;
      return { past, present: [...(isShown ? before.with(-1, above) : before), place], future, last };
    }
    case 'up':
      return present.length > 1 ? moveTo(history, present.slice(0, -1)) : history;
    case 'leave':
      return historyReducer(history, { kind: present.length > 1 ? 'up' : 'back' });
    case 'back': {
      const previous = past.at(-1);
      if (!previous) return history;
      return {
        past: past.slice(0, -1),
        present: previous,
        future: [present, ...future].slice(0, depth),
        last: present,
      };
    }
    case 'forward': {
      const next = future[0];
      if (!next) return history;
      return { past: [...past, present].slice(-depth), present: next, future: future.slice(1), last: present };
    }
    case 'last': {
      // If the last trail is the next or the previous one in the history, step there, which keeps the others on both
      // sides.
      if (last === undefined) return history;
      if (last === future[0]) return historyReducer(history, { kind: 'forward' });
      if (last === past.at(-1)) return historyReducer(history, { kind: 'back' });
      return moveTo(history, last);
    }
  }
}
