/** The list of any resource; lists with more content build on it. */

import { useState } from 'react';
import { refOf, resourceAt } from '../../../resources/catalogue.ts';
import { describeNoneSeen, labelOf, placeOf, type ResourceOf } from '../../../resources/define.ts';
import type { Place } from '../../../resources/place.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useActions } from '../record/use-actions.tsx';
import type { ResourceListProps } from './list-props.ts';
import { ResourceList } from './resource-list.tsx';

export function listProps<Row extends object>(resource: ResourceOf<Row>) {
  const { names, columns, facts, emptyText = `No ${names[0]} yet`, emptyAdvice } = resource;
  return {
    name: names[0],
    columns,
    facts,
    emptyText,
    noneSeen: describeNoneSeen(resource),
    ...(emptyAdvice && { emptyAdvice }),
    open: (row: Row) => placeOf(resource, row),
    label: (row: Row) => labelOf(resource, row),
    pin: (row: Row) => refOf(resource, row),
  };
}

export interface ResourceListViewProps<Row extends object> extends Partial<ResourceListProps<Row>> {
  readonly resource: ResourceOf<Row>;
  readonly place: Place<'list'>;
}

/** The list at a place; the other properties extend or replace those of the resource. */
export function ResourceListView<Row extends object>({ resource, place, ...more }: ResourceListViewProps<Row>) {
  // A view shows one place from mount to unmount.
  const [source] = useState(() => resource.list(place.scope ?? {}));
  const { file } = useWorkbench();
  return (
    <ResourceList
      {...listProps(resource)}
      source={source}
      startAt={place.at}
      startFilter={place.filter}
      {...(place.sort && { sort: place.sort })}
      actions={useActions(resource)}
      {...(file && { emptyText: 'The file holds no trajectories' })}
      {...more}
    />
  );
}

export function PlainListView({ place }: ViewProps<'list'>) {
  return <ResourceListView resource={resourceAt(place)} place={place} />;
}
