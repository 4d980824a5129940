/** What a resource is: how it is listed, read and shown. Declared once, for the screen, the line mode and the command line. */
import type { Column } from '../present/column.ts';
import type { CommandTable } from '../present/command.ts';
import type { Fact } from '../present/fact.ts';
import type { ListSource } from '../queries/list.ts';
import type { ThingKind } from '../queries/remembered/store.ts';
import type { LiveQuery } from '../queries/use-live.ts';

/** What a list is narrowed to: ids, but for `dataset` and `status`. */
export interface Scope {
  readonly benchmark?: string | undefined;
  readonly run?: string | undefined;
  readonly training?: string | undefined;
  readonly dataset?: string | undefined;
  readonly status?: string | undefined;
}

export type ScopeName = keyof Scope;

/** The declaration of a resource whose rows are `Row`. */
export interface ResourceOf<Row> {
  /**
   * What many are called, what one is called, and short names; unique among all resources. The first is the name of its
   * list, in the palette and on the command line.
   */
  readonly names: readonly [string, string, ...string[]];
  /** Its place among the sections and wherever resources are named, the lowest first; the last where it is missing. */
  readonly order?: number;
  /** How its ids begin: the document's own examples, and what other services call the same. */
  readonly idPattern?: RegExp;
  /** As what one is pinned, watched and remembered; it is not where this is missing. Kept on disk: it must not change. */
  readonly kind?: ThingKind;
  /** By what a list can be narrowed. */
  readonly scopes?: readonly ScopeName[];
  /** They are listed only within one of these, and have no section. */
  readonly needs?: ScopeName;
  readonly list: (scope: Scope) => ListSource<Row>;
  /** Reads one by its id. */
  readonly get?: (id: string) => LiveQuery<Row>;
  readonly columns: readonly Column<Row>[];
  /** A row in full. */
  readonly facts: (row: Row) => readonly Fact[];
  /** What a row is called, besides its id. */
  readonly label?: (row: Row) => string | null | undefined;
  /** What can be done with rows. */
  readonly commands?: CommandTable;
}

/** A resource whatever its rows are. */
export interface Resource extends Omit<ResourceOf<never>, 'list' | 'get'> {
  readonly list: (scope: Scope) => ListSource<never>;
  readonly get?: (id: string) => LiveQuery<object>;
}

/** Declares a resource and checks it against the type of its rows. */
export function defineResource<Row extends object>(declared: ResourceOf<Row>): ResourceOf<Row> {
  return declared;
}
