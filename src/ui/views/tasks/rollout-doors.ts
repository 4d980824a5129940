/** The keys that open what many rollouts say together: their tasks, and how they ended. */
import type { Place } from '../../../resources/place.ts';
import type { Binding } from '../../keys/router.tsx';
import { rolloutCommands } from '../commands.ts';
import type { PlaceOf } from '../list/list-props.ts';

/** Whose rollouts. */
type Whose = Pick<Place<'outcomes'>, 'scope' | 'label'>;

const views = [
  { command: rolloutCommands.tasks, view: 'tasks' },
  { command: rolloutCommands.outcomes, view: 'outcomes' },
] as const;

/** For the rows of a list, each of which has rollouts. */
export const opensRollouts = <Row>(of: (row: Row) => Whose | undefined) =>
  views.map(({ command, view }) => {
    const place: PlaceOf<Row> = row => {
      const whose = of(row);
      return whose && { view, ...whose };
    };
    return { command, place };
  });

/** For a list of rollouts. @param whose undefined for a list of all there are */
export const rolloutBindings = (whose: Whose | undefined, open: (place: Place) => void): readonly Binding[] =>
  views.map(({ command, view }) => ({
    command,
    why: whose ? undefined : 'Open a run, a training run or a dataset first: these are of all',
    run: () => whose && open({ view, ...whose }),
  }));
