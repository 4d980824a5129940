/** Finds resources by name, id and kind. */
import type { Reference } from '../present/fact.ts';
import type { Kinds } from '../queries/statuses/store.ts';
import type { ResourceRef } from '../store/store.ts';
import type { RowAction, Sending } from './action.ts';
import { idOf, labelOf, listPlace, type Resource, type ResourceOf, recordPlace } from './define.ts';
import * as declared from './index.ts';
import type { Place } from './place.ts';

/** Every resource, in section order. */
export const resources: readonly Resource[] = Object.values(
  declared as unknown as Readonly<Record<string, Resource>>,
).sort((left, right) => left.order - right.order);

/** The resource with this name: plural, singular or short. */
export function resourceNamed(name: string): Resource | undefined {
  return resources.find(({ names }) => names.includes(name));
}

/** The resource of a list or a record. @throws Error for an unknown name */
export function resourceAt({ resource: name }: Place<'list' | 'record'>): Resource {
  const resource = resourceNamed(name);
  if (!resource) throw new Error(`there is no resource ${name}`);
  return resource;
}

/** The resource whose ids have this form. */
export function resourceOfId(id: string): Resource | undefined {
  return resources.find(({ idPattern }) => idPattern?.test(id));
}

export function resourceOfKind(kind: string): Resource | undefined {
  return resources.find(resource => resource.kind === kind);
}

/** The kinds whose statuses are tracked. */
export const kinds: Kinds = new Map(
  resources.flatMap(({ kind, watch }) => (kind === undefined || !watch ? [] : [[kind, watch]])),
);

/** The action behind one of a resource's commands. */
export function actionOf({ actions = {} }: Resource, command: string): RowAction<object> | undefined {
  return Object.values(actions).find(({ change, sends }) => (change ?? sends)?.command === command);
}

/** The request that a command sends, from the first action that declares it. */
export function sentBy(command: string): Sending | undefined {
  const [action] = resources.flatMap(resource => actionOf(resource, command) ?? []);
  return action?.change ?? action?.sends;
}

/** The resources that a command changes. */
export const changedBy = (command: string): readonly Resource[] =>
  resources.filter(resource => actionOf(resource, command)?.change);

/** A reference for pinning and watching a row; undefined if its resource has no kind, or cannot be read. */
export function refOf<Row extends object>(resource: ResourceOf<Row>, row: Row): ResourceRef | undefined {
  const { kind, get } = resource;
  return kind === undefined || !get ? undefined : { kind, id: idOf(resource, row), label: labelOf(resource, row) };
}

/** The place of a pinned or watched resource; undefined for an unknown kind. */
export function placeOfRef({ kind, id, label }: ResourceRef): Place | undefined {
  const resource = resourceOfKind(kind);
  return resource && recordPlace(resource, id, label);
}

/** The trail from a section to a record, or to the place of its name; undefined if it cannot be opened. */
export function trailTo(resource: Resource, id: string, label?: string): readonly Place[] | undefined {
  const place = resource.get ? recordPlace(resource, id, label) : label && resource.placeOfName?.(label);
  return place ? [listPlace(resource), place] : undefined;
}

/**
 * The place of a reference: its record, or else the list that contains it. Undefined if it is in an unknown resource.
 *
 * @param label its name, if known
 */
export function placeOfReference({ resource: name, id, within }: Reference, label?: string): Place | undefined {
  const resource = resourceNamed(name);
  if (!resource) return undefined;
  if (resource.needs !== undefined) {
    const whole = resourceNamed(resource.needs);
    return whole && within !== undefined ? { ...recordPlace(whole, within, label), at: id } : undefined;
  }
  if (resource.get) return recordPlace(resource, id, label);
  return resource.placeOfName?.(id) ?? { ...listPlace(resource), at: id };
}
