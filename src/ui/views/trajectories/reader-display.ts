/** The reader's open folds, and how it shows text. Pure. */
import type { FoldKind } from '../../../present/transcript.ts';
import type { OpenFolds } from '../../../present/transcript-lines.ts';

/** Individual folds in one trajectory. */
export type Folds = Pick<Required<OpenFolds>, 'places' | 'closed'>;

export interface ReaderDisplay {
  readonly open: Required<OpenFolds>;
  /** Whether hidden characters are shown. */
  readonly hidden: boolean;
  readonly markdown: boolean;
}

export type DisplayAction =
  | { readonly kind: 'toggle'; readonly fold: FoldKind }
  /** Opens one fold, message or step. */
  | { readonly kind: 'open'; readonly place: number }
  /** Folds a message or a step. */
  | { readonly kind: 'close'; readonly place: number }
  /** Folds the system messages, which many trajectories share, or opens them. */
  | { readonly kind: 'system'; readonly place: number }
  /** Folds all steps, or opens them. */
  | { readonly kind: 'outline' }
  | { readonly kind: 'hidden' | 'markdown' };

const noFolds: Folds = { places: new Set(), closed: new Set() };
const defaultDisplay: ReaderDisplay = {
  open: { kinds: new Set(), outline: false, system: false, ...noFolds },
  hidden: false,
  markdown: false,
};

/** How the last trajectory was shown, with this one's individual folds. */
export const initialDisplay = (
  last: ReaderDisplay = defaultDisplay,
  { places, closed }: Folds = noFolds,
): ReaderDisplay => ({
  ...last,
  open: { ...last.open, places, closed },
});

function withoutItem<Item>(items: ReadonlySet<Item>, item: Item): ReadonlySet<Item> {
  return new Set([...items].filter(each => each !== item));
}

export function displayReducer(shown: ReaderDisplay, action: DisplayAction): ReaderDisplay {
  const { open } = shown;
  const { kinds, places, closed, outline } = open;
  switch (action.kind) {
    case 'toggle': {
      const toggled = kinds.has(action.fold) ? withoutItem(kinds, action.fold) : new Set([...kinds, action.fold]);
      // Folds that were opened for a match are closed again with the others.
      return { ...shown, open: { ...open, kinds: toggled, places: new Set() } };
    }
    case 'open':
      return {
        ...shown,
        open: { ...open, places: new Set([...places, action.place]), closed: withoutItem(closed, action.place) },
      };
    case 'close':
      return {
        ...shown,
        open: { ...open, places: withoutItem(places, action.place), closed: new Set([...closed, action.place]) },
      };
    case 'system':
      return {
        ...shown,
        open: {
          ...{ ...open, system: !open.system },
          places: withoutItem(places, action.place),
          closed: withoutItem(closed, action.place),
        },
      };
    case 'outline':
      return { ...shown, open: { ...open, ...noFolds, outline: !outline } };
    case 'hidden':
    case 'markdown':
      return { ...shown, [action.kind]: !shown[action.kind] };
  }
}
