/** The keys that open views of many rollouts: their tasks, how they ended, and their lengths. */
import type { Command } from '../../../present/command.ts';
import type { Place, SearchedTexts } from '../../../resources/place.ts';
import type { Binding } from '../../keys/router.tsx';
import { regradeCommands, rolloutCommands, searchCommands, sideCommands } from '../commands.ts';
import type { PlaceOf } from '../list/list-props.ts';

type RolloutsPlace = Pick<Place<'outcomes'>, 'scope' | 'label' | 'steps' | 'filter'>;

/** The scope of a text search in these rollouts. */
export const textsIn = ({ scope, label = Object.values(scope).join(' '), steps }: RolloutsPlace): SearchedTexts => ({
  scope,
  label,
  ...(scope.training !== undefined && steps !== undefined && /^\d+$/.test(steps) && { step: Number(steps) }),
});

const views = [
  { command: rolloutCommands.tasks, view: 'tasks' },
  { command: rolloutCommands.outcomes, view: 'outcomes' },
  { command: rolloutCommands.lengths, view: 'lengths' },
] as const;

/** For a list in which each row has rollouts. */
export const opensRollouts = <Row>(of: (row: Row) => RolloutsPlace | undefined) =>
  views.map(({ command, view }) => {
    const place: PlaceOf<Row> = row => {
      const rollouts = of(row);
      return rollouts && { view, ...rollouts };
    };
    return { command, place };
  });

/** For a list of rollouts. @param rollouts undefined for the list of all trajectories */
export const rolloutBindings = (
  rollouts: RolloutsPlace | undefined,
  open: (place: Place) => void,
): readonly Binding[] =>
  views.map(({ command, view }) => ({
    command,
    why: rollouts
      ? undefined
      : 'Open a run, a training run or a dataset first: this list has rollouts from all of them',
    run: () => rollouts && open({ view, ...rollouts }),
  }));

/** The commands in the menu of actions for all rollouts of a run, a training run or a dataset. */
export const rolloutMenu: readonly Command[] = [
  ...Object.values(rolloutCommands),
  searchCommands.texts,
  regradeCommands.open,
];

/** In the menu, names the rows that these bindings act on, because others act on all rollouts. */
export const onRollouts = (rows: readonly unknown[], bindings: readonly Binding[]): readonly Binding[] =>
  bindings.map(binding => ({ ...binding, on: rows.length > 1 ? `${rows.length} marked` : 'rollout' }));

/** A rollout, which may lack an id. */
export interface Rollout {
  readonly trajectory_id?: string | null | undefined;
  readonly task_id?: string | null | undefined;
  readonly reward?: number | null | undefined;
}

/**
 * Opens two rollouts side by side.
 * @param why shown unless `sides` are two different rollouts with ids
 */
export function pairBinding(
  sides: readonly (Rollout & { readonly name?: string })[],
  why: string,
  open: (place: Place) => void,
): Binding {
  const [left, right, more] = sides.flatMap(({ trajectory_id: id, name }) => (id ? [{ id, name: name ?? id }] : []));
  const isPair = left !== undefined && right !== undefined && more === undefined && left.id !== right.id;
  return {
    command: sideCommands.pair,
    why: isPair ? undefined : why,
    run: () => isPair && open({ view: 'pair', left, right }),
  };
}

/** The place of a trajectory's twin, which has that trajectory as its own twin. */
export function twinPlace(place: Place<'record'>): Place<'record'> | undefined {
  const { id, twin, graded } = place;
  if (twin?.id === undefined) return undefined;
  const own = { id, name: twin.of, of: twin.name, isBase: !twin.isBase, graded };
  return { ...place, id: twin.id, twin: own, graded: twin.graded };
}

/** A trajectory and its twin side by side, the base run on the left; undefined if it has none. */
export function pairOfTwins(place: Place | undefined): Place<'pair'> | undefined {
  if (place?.view !== 'record' || place.twin?.id === undefined) return undefined;
  const { id, twin, listed, graded } = place;
  const sides = [
    { id, name: twin.of, graded },
    { id: place.twin.id, name: twin.name, graded: twin.graded },
  ] as const;
  const [left, right] = twin.isBase ? [sides[1], sides[0]] : sides;
  return { view: 'pair', left, right, ...(listed && { listed }) };
}

export const markTwo = 'Mark two rollouts to see them side by side';

/** A task's worst and best rollouts that can be opened, with their names. */
export function worstAndBest(rollouts: readonly Rollout[]): readonly (Rollout & { readonly name: string })[] {
  const known = rollouts
    .filter(({ trajectory_id, reward }) => trajectory_id && reward != null)
    .toSorted((one, other) => (one.reward ?? 0) - (other.reward ?? 0));
  const [worst, best] = [known[0], known.at(-1)];
  return worst && best && worst !== best
    ? [
        { ...worst, name: 'worst' },
        { ...best, name: 'best' },
      ]
    : [];
}
