/** The resources by name, by id and by kind. */
import type { PinnedThing } from '../queries/remembered/store.ts';
import type { Resource } from './define.ts';
import * as declared from './index.ts';

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

/** What a row is called: its name, or its id where it has none. */
export function labelOf({ list, label }: Resource, row: object): string {
  return label?.(row as never) || list({}).id(row as never);
}

/** As what a row is pinned and watched; undefined for what is neither. */
export function refOf(resource: Resource, row: object): PinnedThing | undefined {
  const { kind, list } = resource;
  return kind && { kind, id: list({}).id(row as never), label: labelOf(resource, row) };
}
