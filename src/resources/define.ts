/** What a resource is: how it is listed, read and shown. Declared once, for the screen, the line mode and the command line. */
import type { Column } from '../present/column.ts';
import type { Command, CommandTable } from '../present/command.ts';
import type { Fact } from '../present/fact.ts';
import type { ListSource } from '../queries/lists/list.ts';
import type { Observation } from '../queries/statuses/store.ts';
import type { LiveQuery } from '../queries/use-live.ts';
import type { Place, Scope, ScopeName } from './place.ts';
import { readOf, type Watching } from './watching.ts';

/** What a key would do about something, e.g. about a list without rows: `uploads one`. */
export interface Advice {
  readonly command: Command;
  readonly words: string;
}

/** The declaration of a resource whose rows are `Row`. */
export interface ResourceOf<Row> {
  /**
   * What many are called, what one is called, and short names; unique among all resources. The first is the name of its
   * list, in the palette and on the command line.
   */
  readonly names: readonly [string, string, ...string[]];
  /** Its place among the sections and wherever resources are named, the lowest first; the last if it is missing. */
  readonly order?: number;
  /** How its ids begin: the document's own examples, and what other services call the same. */
  readonly idPattern?: RegExp;
  /** As what one is pinned, watched and remembered; it is not if this is missing. Kept on disk: it must not change. */
  readonly kind?: string;
  /** By what a list can be narrowed. */
  readonly scopes?: readonly ScopeName[];
  /** They are listed only within one of these, and have no section. */
  readonly needs?: ScopeName;
  readonly list: (scope: Scope) => ListSource<Row>;
  /** Reads one by its id. What can be read opens. */
  readonly get?: (id: string) => LiveQuery<Row>;
  readonly columns: readonly Column<Row>[];
  /** A row in full. */
  readonly facts: (row: Row) => readonly Fact[];
  /** What a row is called, besides its id. */
  readonly label?: (row: Row) => string | null | undefined;
  /** Id of what a row belongs to, e.g. the benchmark of a run. */
  readonly parent?: (row: Row) => string | null | undefined;
  /** Where a row opens, if that is not its record. */
  readonly place?: (row: Row) => Place;
  /** The status of a row, if it has one: a pinned one is then read until it has ended. */
  readonly status?: (row: Row) => string | null | undefined;
  /** The statuses that are known; a service may have others. */
  readonly statuses?: readonly string[];
  /** How one is watched, where its status is not all that there is to say. */
  readonly watch?: Watching<Row>;
  /** What can be done with rows. */
  readonly commands?: CommandTable;
  /** What is said of a list without rows; `No projects yet` if it is missing. */
  readonly emptyWords?: string;
  readonly emptyAdvice?: Advice;
}

/** A resource whatever its rows are. Its rows are to be had from itself only. */
export type Resource = ResourceOf<object>;

/**
 * Declares a resource. Where it says nothing of how one is watched, every answer about one is reported by its name and its
 * status, and its record is what is watched.
 */
export function defineResource<Row extends object>(declared: ResourceOf<Row>): ResourceOf<Row> {
  const { kind, list, get, status, label, parent, watch } = declared;
  if (kind === undefined || watch || !get) return declared;
  const { id: idOfRow } = list({});
  const observes = (row: Row): Observation => {
    return { kind, id: idOfRow(row), label: label?.(row), status: status?.(row), parent: parent?.(row) };
  };
  const observed = (id: string): LiveQuery<Row> => ({ about: { kind, id }, observes, ...get(id) });
  return {
    ...declared,
    list: scope => ({ observes, ...list(scope) }),
    get: observed,
    ...(status && { watch: { status: (id: string) => [readOf(observed(id))] } }),
  };
}

/** What many are called, as a title: `Training runs`. */
export function titleOf({ names: [many] }: Pick<Resource, 'names'>): string {
  return titled(many);
}

/** What one is called, as a title: `Training run`. */
export function singularTitle({ names: [, one] }: Pick<Resource, 'names'>): string {
  return titled(one);
}

function titled(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;
}

/** The place of a list, all of it or within something else. */
export function listPlace(
  { names: [resource] }: Pick<Resource, 'names'>,
  scope?: Scope,
  label?: string,
): Place<'list'> {
  return { view: 'list', resource, ...(scope && { scope }), ...(label !== undefined && { label }) };
}

/** The place of a record of which only the id, and perhaps the name, is known. */
export function recordPlace(
  { names: [resource] }: Pick<Resource, 'names'>,
  id: string,
  label?: string | null,
): Place<'record'> {
  return { view: 'record', resource, id, ...(label ? { label } : {}) };
}

export function idOf<Row extends object>({ list }: ResourceOf<Row>, row: Row): string {
  return list({}).id(row);
}

/** What a row is called: its name, or its id if it has none. */
export function labelOf<Row extends object>(resource: ResourceOf<Row>, row: Row): string {
  return resource.label?.(row) || idOf(resource, row);
}

/** Where a row opens; undefined for what does not. */
export function placeOf<Row extends object>(resource: ResourceOf<Row>, row: Row): Place | undefined {
  if (resource.place) return resource.place(row);
  if (!resource.get) return undefined;
  const parent = resource.parent?.(row);
  return { ...recordPlace(resource, idOf(resource, row), resource.label?.(row)), ...(parent ? { parent } : {}) };
}
