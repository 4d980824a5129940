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

/** Advice for an empty list: a command, and what its key does, e.g. `uploads one`. */
export interface Advice {
  readonly command: Command;
  readonly words: string;
}

/** The facts about a record, and the data behind them. */
export interface WholeFacts {
  readonly facts: readonly Fact[];
  /** Whether the facts include the mean reward. */
  readonly hasMean?: boolean;
  /** Another response, which may have unreadable rows. */
  readonly answer?: unknown;
  /** The error message for a part that could not be read or is invalid. */
  readonly unread?: string | undefined;
  /** Additional data under the contract's names, added to the record for programs. */
  readonly fields?: object;
}

/** Extra columns of a list, which need requests per row or depend on the rows. */
export interface Measures<Row> {
  /** All columns of a list with these rows. Permanent columns keep their ids for all rows. */
  readonly columns: (rows: readonly Row[], range: Range) => readonly Column<Row>[];
  /** Whether the columns are the same for all rows. */
  readonly fixed?: true;
  /** The ids of the columns that need requests. */
  readonly costly: readonly string[];
  /** A nested value in a row that can be selected like a column, e.g. an option. */
  readonly field?: (row: Row, name: string) => Cell;
  /** A row for programs; by default, the row itself. */
  readonly exported?: (row: Row, range: Range) => object;
  /** The costly column whose data has this field of a row for programs, e.g. `held_out.best.reward`. */
  readonly columnOf?: (names: readonly string[]) => string | undefined;
  /** Adds remembered measurements to the rows, without sending requests. */
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
  /** The range of rewards from the settings. */
  readonly range: Range;
  /** The id of the run to compare with; by default, the benchmark's baseline. */
  readonly baseline?: string | undefined;
  /**
   * Called for each row that cannot be measured. If missing, the first such row is an error.
   *
   * @param isOfAll whether the other rows cannot be measured either
   */
  readonly onUnread?: ((row: object, error: ServiceError, isOfAll: boolean) => void) | undefined;
  /** How long to wait for a response before leaving the remaining rows unread; milliseconds, unlimited if missing. */
  readonly silentMs?: number | undefined;
  /** Waits indefinitely for the first value, because there would be nothing to show without it. */
  readonly needsOne?: boolean;
  /** Why no row on an earlier page could be measured. Nothing is then requested, and remembered values are shown. */
  readonly failure?: ServiceError | undefined;
}

/** The declaration of a resource with rows of type `Row`. */
export interface ResourceOf<Row> {
  /**
   * Plural, singular and short names, unique among all resources. The first names the list in the palette and on the
   * command line.
   */
  readonly names: readonly [string, string, ...string[]];
  /** Position among the sections and in lists of resources, lowest first. */
  readonly order: number;
  /** Matches its ids, both in the document's examples and on other services. */
  readonly idPattern?: RegExp;
  /**
   * The kind under which it is remembered and, if it has `get`, pinned and watched. Without a kind, rows are not
   * remembered, pinned or watched. Stored on disk, so it must not change.
   */
  readonly kind?: string;
  readonly scopes?: readonly ScopeName[];
  /** A scope it requires, so its list has no section of its own. */
  readonly needs?: ScopeName;
  /** Whether the command line can name a row despite `needs`, e.g. a checkpoint as `first@6`. */
  readonly hasAddress?: true;
  readonly list: (scope: Scope) => ListSource<Row>;
  /** Reads a record by id. If missing, records cannot be opened. */
  readonly get?: (id: string) => LiveQuery<Row>;
  /** Reads a record without its large parts, if it has any. */
  readonly brief?: (id: string) => LiveQuery<Row>;
  readonly columns: readonly Column<Row>[];
  readonly measures?: Measures<Row>;
  readonly facts: (row: Row) => readonly Fact[];
  /** All facts about a single record on the command line, if reading them takes further requests. */
  readonly wholeFacts?: (row: Row, context: QueryContext) => Promise<WholeFacts>;
  /** The long part of a record, shown under its facts on the command line. `width` is in columns. */
  readonly text?: (
    row: Row,
    width: number,
    notes?: ReadonlyMap<number, readonly string[]>,
  ) => Promise<Iterable<string>>;
  /** A row's name, besides its id. */
  readonly label?: (row: Row) => string | null | undefined;
  /**
   * Whether the command line finds a row by its label: by the label only (the default); only after the resource's name
   * (`qualified`), because many rows share a label; or not at all, only by its id (`never`).
   */
  readonly findsLabel?: 'qualified' | 'never';
  /** Whether a row serves its label. A read by label then prefers it to other rows with the same label. */
  readonly servesLabel?: (row: Row) => boolean;
  /** The value that narrows another list to this row, if not its id. */
  readonly scopeValue?: (row: Row) => string | null | undefined;
  /** The parent's id, e.g. a run's benchmark. */
  readonly parent?: (row: Row) => string | null | undefined;
  /** The place that a row opens, if not its record. */
  readonly place?: (row: Row) => Place;
  /** The place for a row, given the name that other records use, e.g. a dataset's name. */
  readonly placeOfName?: (name: string) => Place;
  /** A count of rows of another kind, e.g. a benchmark's runs. When it changes, the list of that kind is read again. */
  readonly tally?: { readonly kind: string; readonly of: (row: Row) => number | null | undefined };
  /** A row's status, if it has one: a pinned row is then polled until it has ended. */
  readonly status?: (row: Row) => string | null | undefined;
  /** How it is watched; by default, by reading the status from its record. */
  readonly watch?: Watching;
  /** The actions on its rows, in the order the screen shows them. */
  readonly actions?: ActionTable<Row>;
  /** Commands in its views that need no row. */
  readonly commands?: CommandTable;
  /** Shown for an empty list; `No projects yet` if missing. */
  readonly emptyText?: string;
  readonly emptyAdvice?: Advice;
}

/** A resource whose row type is not known. Its rows must come from the same resource. */
export type Resource = ResourceOf<object>;

/** The status column, which knows the usual statuses. */
export const statusColumnOf = ({ columns }: Pick<Resource, 'columns'>): Resource['columns'][number] | undefined =>
  columns.find(({ status }) => status);

/** Declares a resource. By default, every response updates its name and status, and watching it reads its record. */
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
    // Rows that cannot be read individually are remembered and forgotten only by their list.
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

/** Whether a label is enough for the command line to find a row. */
export const isFoundByLabel = ({ findsLabel }: Pick<Resource, 'findsLabel'>): boolean => findsLabel === undefined;

/** Whether the command line can read an individual row. */
export const isReadAlone = ({ needs, hasAddress }: Pick<Resource, 'needs' | 'hasAddress'>): boolean =>
  needs === undefined || hasAddress === true;

/** The singular for use in a sentence, e.g. `training run`. */
export const singularName = ({ names }: Pick<Resource, 'names'>): string => names[1].replaceAll('-', ' ');

/** The plural for use in a sentence, e.g. `training runs`, although the list is named `training`. */
export const pluralName = ({ names }: Pick<Resource, 'names'>): string => {
  const [many, one] = names;
  return one.startsWith(many) ? `${singularName({ names })}s` : many;
};

/**
 * How to find out whether work started even though the response was lost.
 *
 * @param command the command that lists this work
 * @param isListed whether the service is known to list it
 */
export function startedAdvice(resource: Pick<Resource, 'names'>, command: string, isListed = false): string {
  const shows = `${command} shows whether it has started.`;
  return isListed ? shows : `If this service lists ${pluralName(resource)}, ${shows}`;
}

/** Shown for an empty list if the service does not offer the list. */
export const describeNoneSeen = (resource: Pick<Resource, 'names'>): string =>
  `No ${pluralName(resource)} have been seen here yet`;

/** The plural as a title: `Training runs`. */
export function titleOf({ names: [many] }: Pick<Resource, 'names'>): string {
  return asTitle(many);
}

/** The singular as a title: `Training run`. */
export function singularTitle({ names: [, one] }: Pick<Resource, 'names'>): string {
  return asTitle(one);
}

/** Turns `training-run` into `Training run`. */
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

/** The place of a record: its id and, if known, its name. */
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

/** A row's name, or else its id. */
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
