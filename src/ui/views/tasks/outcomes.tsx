/** How the rollouts in a run, a dataset or a training run ended, by class. */
import { useMemo, useState } from 'react';
import { type OutcomeClass, outcomeClasses } from '../../../present/outcome-classes.ts';
import { rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import { formatClass, outcomeColumns, outcomeFacts } from '../../../resources/outcomes.ts';
import { describePolicies } from '../../../resources/task-groups.ts';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import { ResourceList } from '../list/resource-list.tsx';
import { textsIn } from './rollout-bindings.ts';
import { emptyRollouts, useRollouts } from './use-rollouts.ts';
import { useStepsChoice } from './use-steps-choice.tsx';

export function OutcomesView({ place }: ViewProps<'outcomes'>) {
  const { scope, label, steps, filter } = place;
  const pane = usePane('main');
  const rollouts = useRollouts(scope, pane.attention, { steps, filter });
  const { rows } = rollouts;
  const classes = useMemo(() => outcomeClasses(rows), [rows]);
  const policies = useMemo(() => describePolicies(rows), [rows]);
  const stepsChoice = useStepsChoice(place, rows);
  // A view shows one place from mount to unmount.
  const [source] = useState(() =>
    rowsMadeElsewhere<OutcomeClass>([...rollouts.key, 'outcomes'], ({ by, value }) => JSON.stringify([by, value])),
  );
  return (
    <ResourceList<OutcomeClass>
      name="outcomes"
      source={source}
      texts={textsIn(place)}
      rows={classes}
      parts={rollouts.parts}
      columns={outcomeColumns}
      emptyText={emptyRollouts(rollouts, 'No rollout reports how it ended')}
      open={({ by, value }) => ({
        ...{ view: 'rollouts', scope, ended: { by, value } },
        ...(label && { label }),
        ...(steps && { steps }),
        filter,
      })}
      refOf={row => ({ label: formatClass(row) })}
      facts={outcomeFacts}
      bindings={[stepsChoice]}
      notes={[...policies, ...rollouts.notes]}
    />
  );
}
