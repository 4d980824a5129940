/** The resources by name, by id and by kind. */
import type { Kinds } from '../queries/kinds.ts';
import type { ResourceRef } from '../queries/remembered/store.ts';
import { idOf, labelOf, listPlace, type Resource, type ResourceOf, recordPlace } from './define.ts';
import * as declared from './index.ts';
import type { Place } from './place.ts';

const last = Number.MAX_SAFE_INTEGER;

/** Every resource, in the order of the sections. */
export const resources: readonly Resource[] = Object.values(
  declared as unknown as Readonly<Record<string, Resource>>,
).sort((left, right) => (left.order ?? last) - (right.order ?? last));

/** The resource of that name, in the plural, the singular or short. */
export function resourceNamed(name: string): Resource | undefined {
  return resources.find(({ names }) => names.includes(name));
}

/** The resource whose ids look like this one. */
export function resourceOfId(id: string): Resource | undefined {
  return resources.find(({ idPattern }) => idPattern?.test(id));
}

/** The resource that is watched and remembered as this kind. */
export function resourceOfKind(kind: string): Resource | undefined {
  return resources.find(resource => resource.kind === kind);
}

/** What the statuses of the watched ones are kept by. */
export const kinds: Kinds = new Map(
  resources.flatMap(({ kind, watch }) =>
    kind === undefined || !watch ? [] : [[kind, { ...watch, runs: watch.running !== undefined }]],
  ),
);

/** As what a row is pinned and watched; undefined for what is neither. */
export function refOf<Row extends object>(resource: ResourceOf<Row>, row: Row): ResourceRef | undefined {
  const { kind } = resource;
  return kind === undefined ? undefined : { kind, id: idOf(resource, row), label: labelOf(resource, row) };
}

/** Where what is pinned or watched opens; undefined for what this program does not know. */
export function placeOfRef({ kind, id, label }: ResourceRef): Place | undefined {
  const resource = resourceOfKind(kind);
  return resource && recordPlace(resource, id, label);
}

/** The way to the record with this id, from its section; undefined if the id does not say what it is of. */
export function trailOfId(id: string): readonly Place[] | undefined {
  const resource = resourceOfId(id);
  return resource && trailTo(resource, id);
}

/** The way to a record from the section of its resource; undefined if it cannot be opened. */
export function trailTo(resource: Resource, id: string, label?: string): readonly Place[] | undefined {
  return resource.get && [listPlace(resource), recordPlace(resource, id, label)];
}
