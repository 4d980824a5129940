/** The list of any resource; lists with more content build on it. */

import { useState } from 'react';
import { refOf, resourceAt } from '../../../resources/catalogue.ts';
import { describeNoneSeen, labelOf, placeOf, type ResourceOf } from '../../../resources/define.ts';
import type { Place } from '../../../resources/place.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useActions } from '../record/use-actions.tsx';
import { useAdvise } from './advice.ts';
import type { ResourceListProps, RowRef } from './list-props.ts';
import { ResourceList } from './resource-list.tsx';

export function useListProps<Row extends object>(resource: ResourceOf<Row>, advice = resource.emptyAdvice) {
  const { file } = useWorkbench();
  const advise = useAdvise();
  const { names, columns, facts, emptyText = `No ${names[0]} yet` } = resource;
  const words = file ? 'The file holds no trajectories' : emptyText;
  return {
    name: names[0],
    columns,
    facts,
    // If the service does not list this resource, it may not start one either.
    emptyText: (isUnlisted: boolean) => (isUnlisted ? describeNoneSeen(resource) : `${words}${advise(advice)}`),
    open: (row: Row) => placeOf(resource, row),
    refOf: (row: Row): RowRef => refOf(resource, row) ?? { label: labelOf(resource, row) },
  };
}

interface ResourceListViewProps<Row extends object> extends Partial<ResourceListProps<Row>> {
  readonly resource: ResourceOf<Row>;
  readonly place: Place<'list'>;
}

/** The list at a place; the other properties extend or replace those of the resource. */
export function ResourceListView<Row extends object>({ resource, place, ...more }: ResourceListViewProps<Row>) {
  // A view shows one place from mount to unmount.
  const [source] = useState(() => resource.list(place.scope ?? {}));
  return (
    <ResourceList
      {...useListProps(resource)}
      source={source}
      initial={place}
      actions={useActions(resource)}
      {...more}
    />
  );
}

export function PlainListView({ place }: ViewProps<'list'>) {
  return <ResourceListView resource={resourceAt(place)} place={place} />;
}
