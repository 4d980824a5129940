/** Declares a resource once, for the screen, line mode and the command line: how to list, read and show it. */
import { capitalised } from '../base/capitalised.ts';
import type { Cell, Column } from '../present/column.ts';
import type { Command, CommandTable } from '../present/command.ts';
import { type Fact, unreadableFacts } from '../present/fact.ts';
import type { Range } from '../present/statistics/tasks.ts';
import type { ListSource } from '../queries/lists/list-source.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { Observation } from '../queries/statuses/known-resource.ts';
import type { ServiceError } from '../service/errors.ts';
import type { ActionTable } from './action.ts';
import type { Place, Scope, ScopeName } from './place.ts';
import type { Watching } from './watch-reads.ts';

/** Advice to press a key, e.g. on an empty list: `uploads one`. */
export interface Advice {
  readonly command: Command;
  readonly words: string;
}

/** The facts of a record, and the data behind them. */
export interface WholeFacts {
  readonly facts: readonly Fact[];
  /** Whether the facts include the mean of its rewards. */
  readonly hasMean?: boolean;
  /** An additional response, which may have unreadable rows. */
  readonly answer?: unknown;
  /** The error of a part that could not be read or is invalid, as a message. */
  readonly unread?: string | undefined;
  /** Additional data under the contract's names; programs get it with the record. */
  readonly fields?: object;
}

/** The extra columns of a list, which take requests per row, or depend on the rows. */
export interface Measures<Row> {
  /** All columns of a list with these rows. Permanent columns keep their ids for any rows. */
  readonly columns: (rows: readonly Row[], range: Range) => readonly Column<Row>[];
  /** The ids of the columns that take requests. */
  readonly costly: readonly string[];
  /** A nested value of a row that can be selected like a column, e.g. an option. */
  readonly field: (row: Row, name: string) => Cell;
  /** Adds remembered measurements to the rows, without a request. */
  readonly remembered?: (rows: readonly Row[], context: QueryContext) => readonly Row[];
  /** Reads the data of these columns and adds it to the rows. */
  readonly read: (
    rows: readonly Row[],
    columns: ReadonlySet<string>,
    context: QueryContext,
    about: MeasuredList,
  ) => Promise<readonly Row[]>;
}

/** How to measure the rows of a list. */
export interface MeasuredList {
  readonly scope: Scope;
  /** The range of rewards in the settings. */
  readonly range: Range;
  /** The id of the run to compare with; by default, the baseline of the benchmark. */
  readonly baseline?: string | undefined;
  /**
   * Called for each row that cannot be measured. Without it, the first such row is an error.
   *
   * @param isOfAll whether no other row can be measured either
   */
  readonly onUnread?: ((row: object, error: ServiceError, isOfAll: boolean) => void) | undefined;
  /** Time without an answer after which the remaining rows stay unread; in milliseconds, unlimited if missing. */
  readonly silentMs?: number | undefined;
  /** Waits for the first value without a limit, because there would be nothing to show. */
  readonly needsOne?: boolean;
  /** Why no row of an earlier page could be measured. Then nothing is requested, and remembered values are shown. */
  readonly failure?: ServiceError | undefined;
}

/** The declaration of a resource with rows of type `Row`. */
export interface ResourceOf<Row> {
  /**
   * Plural, singular and short names, unique among all resources. The first names the list in the palette and on the
   * command line.
   */
  readonly names: readonly [string, string, ...string[]];
  /** Position among the sections and wherever resources are listed, lowest first; last if missing. */
  readonly order?: number;
  /** Matches its ids, in the document's examples and on other services. */
  readonly idPattern?: RegExp;
  /**
   * The kind under which it is remembered and, if it has `get`, pinned and watched. Without a kind, it is none of
   * these. Stored on disk, so it must not change.
   */
  readonly kind?: string;
  readonly scopes?: readonly ScopeName[];
  /** A required scope: the list has no section of its own. */
  readonly needs?: ScopeName;
  /** Whether the command line can address a row despite `needs`, e.g. a checkpoint as `first@6`. */
  readonly hasAddress?: true;
  readonly list: (scope: Scope) => ListSource<Row>;
  /** Reads a record by id. Without it, records cannot be opened. */
  readonly get?: (id: string) => LiveQuery<Row>;
  /** Reads a record without its large parts, if it has any. */
  readonly brief?: (id: string) => LiveQuery<Row>;
  readonly columns: readonly Column<Row>[];
  readonly measures?: Measures<Row>;
  readonly facts: (row: Row) => readonly Fact[];
  /** All facts of a single record on the command line, if further requests add to them. */
  readonly wholeFacts?: (row: Row, context: QueryContext) => Promise<WholeFacts>;
  /** The long part of a record, below its facts on the command line. `width` is in columns. */
  readonly text?: (row: Row, width: number) => Promise<Iterable<string>>;
  /** The name of a row, besides its id. */
  readonly label?: (row: Row) => string | null | undefined;
  /**
   * Whether the command line finds a row by its label alone, the default; only after the name of the resource
   * (`qualified`), because many rows share a label; or only by its id (`never`).
   */
  readonly findsLabel?: 'qualified' | 'never';
  /** The value that narrows another list to this row, if not its id. */
  readonly scopeValue?: (row: Row) => string | null | undefined;
  /** Id of the parent, e.g. the benchmark of a run. */
  readonly parent?: (row: Row) => string | null | undefined;
  /** The place that a row opens, if not its record. */
  readonly place?: (row: Row) => Place;
  /** The place of a row by the name in other records, e.g. the name of a dataset. */
  readonly placeOfName?: (name: string) => Place;
  /** A count of rows of another kind, e.g. the runs of a benchmark. When it changes, their list is read again. */
  readonly tally?: { readonly kind: string; readonly of: (row: Row) => number | null | undefined };
  /** The status of a row, if it has one: a pinned row is then polled until it has ended. */
  readonly status?: (row: Row) => string | null | undefined;
  /** The known statuses; a service may have others. */
  readonly statuses?: readonly string[];
  /** How it is watched; by default, by the status of its record. */
  readonly watch?: Watching;
  /** The actions on its rows, in the order of the screen. */
  readonly actions?: ActionTable<Row>;
  /** Commands of its views that need no row. */
  readonly commands?: CommandTable;
  /** Shown for an empty list; `No projects yet` if missing. */
  readonly emptyWords?: string;
  readonly emptyAdvice?: Advice;
}

/** A resource with an unknown row type. Rows must come from the same resource. */
export type Resource = ResourceOf<object>;

/** Declares a resource. By default, every answer reports its name and status, and watching it reads its record. */
export function defineResource<Row extends object>(declaration: ResourceOf<Row>): ResourceOf<Row> {
  const { facts, wholeFacts } = declaration;
  const declared: ResourceOf<Row> = {
    ...declaration,
    facts: row => [...facts(row), ...unreadableFacts(row)],
    ...(wholeFacts && {
      wholeFacts: async (row, context) => {
        const whole = await wholeFacts(row, context);
        return { ...whole, facts: [...whole.facts, ...unreadableFacts(row)] };
      },
    }),
  };
  const { kind, list, get, brief: briefly, status, label, parent, watch } = declared;
  if (kind === undefined) return declared;
  const { id: idOfRow } = list({});
  const observes = (row: Row): Observation => {
    const named = { kind, id: idOfRow(row), label: label?.(row), status: status?.(row), parent: parent?.(row) };
    // Only the list of rows that cannot be read alone remembers and forgets them.
    return get ? named : { ...named, record: row as Readonly<Record<string, unknown>> };
  };
  const onlyNames = get !== undefined && status === undefined;
  const observing: ResourceOf<Row> = {
    ...declared,
    list: scope => {
      const source = list(scope);
      const isAll = !get && Object.keys(scope).length === 0;
      return source.observes ? source : { ...source, observes, onlyNames, ...(isAll && { all: kind }) };
    },
  };
  if (!get) return observing;
  const observed = (id: string): LiveQuery<Row> => ({ about: { kind, id }, observes, ...get(id) });
  return {
    ...observing,
    get: observed,
    ...((status || watch) && { watch: { status: (id: string) => [{ ...observed(id), ...briefly?.(id) }], ...watch } }),
  };
}

/** Whether the command line finds its rows by label alone. */
export const isFoundByLabel = ({ findsLabel }: Pick<Resource, 'findsLabel'>): boolean => findsLabel === undefined;

/** Whether the command line can read a single row. */
export const isReadAlone = ({ needs, hasAddress }: Pick<Resource, 'needs' | 'hasAddress'>): boolean =>
  needs === undefined || hasAddress === true;

/** The singular in a sentence, e.g. `training run`. */
export const wordFor = ({ names }: Pick<Resource, 'names'>): string => names[1].replaceAll('-', ' ');

/** The plural in a sentence, e.g. `training runs`, although the list is named `training`. */
export const wordsFor = ({ names }: Pick<Resource, 'names'>): string => {
  const [many, one] = names;
  return one.startsWith(many) ? `${wordFor({ names })}s` : many;
};

/**
 * How to find out whether work started although the answer was lost.
 *
 * @param command the command that lists this work
 * @param isListed whether the service is known to list it
 */
export function startedAdvice(resource: Pick<Resource, 'names'>, command: string, isListed = false): string {
  const shows = `${command} shows whether it has started.`;
  return isListed ? shows : `If this service lists ${wordsFor(resource)}, ${shows}`;
}

/** Shown for an empty list that the service does not offer. */
export const noneSeenWords = (resource: Pick<Resource, 'names'>): string =>
  `No ${wordsFor(resource)} have been seen here yet`;

/** The plural as a title: `Training runs`. */
export function titleOf({ names: [many] }: Pick<Resource, 'names'>): string {
  return asTitle(many);
}

/** The singular as a title: `Training run`. */
export function singularTitle({ names: [, one] }: Pick<Resource, 'names'>): string {
  return asTitle(one);
}

/** `Training run` of `training-run`. */
export function asTitle(name: string): string {
  return capitalised(name).replaceAll('-', ' ');
}

/** The place of a list, with an optional scope. */
export function listPlace(
  { names: [resource] }: Pick<Resource, 'names'>,
  scope?: Scope,
  label?: string,
): Place<'list'> {
  return { view: 'list', resource, ...(scope && { scope }), ...(label !== undefined && { label }) };
}

/** The place of a record, by its id and, if known, its name. */
export function recordPlace(
  { names: [resource] }: Pick<Resource, 'names'>,
  id: string,
  label?: string | null,
): Place<'record'> {
  return { view: 'record', resource, id, ...(label ? { label } : {}) };
}

export function idOf<Row extends object>({ list }: Pick<ResourceOf<Row>, 'list'>, row: Row): string {
  return list({}).id(row);
}

/** The name of a row, or else its id. */
export function labelOf<Row extends object>(resource: Pick<ResourceOf<Row>, 'label' | 'list'>, row: Row): string {
  return resource.label?.(row) || idOf(resource, row);
}

/** The place that a row opens; undefined if it cannot be opened. */
export function placeOf<Row extends object>(resource: ResourceOf<Row>, row: Row): Place | undefined {
  if (resource.place) return resource.place(row);
  if (!resource.get) return undefined;
  const parent = resource.parent?.(row);
  return { ...recordPlace(resource, idOf(resource, row), resource.label?.(row)), ...(parent ? { parent } : {}) };
}
