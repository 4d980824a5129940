/**
 * Shared by all areas of the contract: reading fields, unwrapping lists, declaring endpoints. Reading is lenient: extra
 * fields are kept, everything but the id may be missing or null, and enums accept unknown values. Requests are
 * validated strictly.
 */

import * as z from 'zod/mini';
import { isRecord, own } from '../base/own-property.ts';
import { listIn, notePage, unreadableFields } from './lists.ts';
import { toText } from './message-content.ts';
import { parseWhole } from './proto-field.ts';
import { type MaybeStatus, withStatus } from './status.ts';

/** An open enum: known values are typed, others pass unchanged. */
export type OpenEnum<Known extends string> = Known | (string & {});

/** Reads any string; known values are typed. */
export function openEnum<const Known extends readonly string[]>(_known: Known) {
  return z.string() as unknown as z.ZodMiniType<OpenEnum<Known[number]>, string>;
}

/**
 * Marks a field as deciding: a row is dropped if this field cannot be read, because a missing value would mean
 * something else.
 */
export const decides = 'decides';

export const text = z.nullish(z.string());
export const number = z.nullish(z.number());
export const flag = z.nullish(z.boolean());
/** A deciding field: a reward, a step, or a count that a mean depends on. */
export const decidingNumber = z.nullish(z.number(decides));
/** A deciding boolean field. */
export const decidingFlag = z.nullish(z.boolean(decides));
export const freeForm = z.nullish(z.record(z.string(), z.unknown()));

/** Reads text. Any other value is converted to JSON, so that nothing is lost. */
export const textOrJson = z.nullish(
  z.pipe(z.unknown(), z.transform(toText)) as unknown as z.ZodMiniType<string, unknown>,
);

/** Reads one sentence or a list of sentences. */
export const sentences = z.nullish(
  z.pipe(
    z.unknown(),
    z.transform((value: unknown) => [value].flat().flatMap(each => toText(each) ?? [])),
  ) as unknown as z.ZodMiniType<string[], unknown>,
);

/** Reads an object whose list may be a bare array, or have a different name from the document's. */
export function wrappedList<Schema extends z.ZodMiniType>(name: string, schema: Schema) {
  return z.pipe(
    z.transform((input: unknown) => {
      if (isRecord(input) && own(input, name) != null) return input;
      const list = listIn(input);
      // A null list counts as empty.
      const isNull = isRecord(input) && Object.hasOwn(input, name);
      if (list === undefined && !isNull) return input;
      return { ...(isRecord(input) ? input : {}), [name]: list ?? [] };
    }),
    schema as z.ZodMiniType<z.output<Schema>, unknown>,
  );
}

/**
 * Reads an object whose fields were renamed between generations: if the document's name is missing, reads the first
 * alternative that is present.
 */
export function withRenamedFields<Schema extends z.ZodMiniType>(
  names: Record<string, readonly string[]>,
  schema: Schema,
) {
  return z.pipe(
    z.transform((input: unknown) => {
      if (!isRecord(input)) return input;
      const standIns = Object.entries(names).flatMap(([name, others]) => {
        const present = [name, ...others].find(candidate => own(input, candidate) != null);
        return present === undefined || present === name ? [] : [[name, own(input, present)]];
      });
      return { ...input, ...Object.fromEntries(standIns) };
    }),
    schema as z.ZodMiniType<z.output<Schema>, unknown>,
  );
}

/** Reads a run, and infers a missing status from the other fields. */
export function withInferredStatus<Schema extends z.ZodMiniType<MaybeStatus>>(schema: Schema) {
  return z.pipe(
    schema,
    z.transform((run: z.output<Schema>) => withStatus(run)),
  ) as unknown as z.ZodMiniType<z.output<Schema>, unknown>;
}

/** One page of a list. `dropped` counts rows that could not be read and were skipped. */
export interface Page<Item> {
  items: Item[];
  has_more: boolean;
  next_cursor: string | null;
  dropped: number;
}

const rowSchemas = new WeakMap<object, z.ZodMiniType>();
/** Schemas of rows. Single records use the same schemas. */
const ofRows = new WeakSet<z.ZodMiniType>();

/**
 * Reads the paginated envelope, another wrapper, or the bare array that some services send, row by row. An empty page
 * or an empty cursor ends the list, even if the service sets `has_more`.
 */
export function page<Schema extends z.ZodMiniType>(item: Schema): z.ZodMiniType<Page<z.output<Schema>>, unknown> {
  const envelope = z.looseObject({ items: z.array(z.unknown()), has_more: flag, next_cursor: text }, decides);
  const unwrapped = z.transform((body: unknown) => {
    const items = listIn(body);
    return items === undefined ? body : { ...(isRecord(body) ? body : {}), items };
  });
  const read = z.pipe(
    z.pipe(unwrapped, envelope as z.ZodMiniType<z.output<typeof envelope>, unknown>),
    z.transform(({ items: rows, ...body }): Page<z.output<Schema>> => {
      const items = rows.flatMap(row => {
        const read = readWith(item, row);
        return read.success ? [read.data] : [];
      });
      const next_cursor = body.next_cursor ?? null;
      const isEnd = rows.length === 0 || next_cursor === '';
      const has_more = !isEnd && (body.has_more ?? next_cursor !== null);
      const dropped = rows.length - items.length;
      notePage(items, { dropped, cursor: has_more ? next_cursor : null, hasMore: has_more });
      return { items, has_more, next_cursor, dropped };
    }),
  ) as unknown as z.ZodMiniType<Page<z.output<Schema>>, unknown>;
  rowSchemas.set(read, item);
  ofRows.add(item);
  return read;
}

/** The schema of a row, if this schema is a list. */
export const rowSchemaOf = (schema: z.ZodMiniType): z.ZodMiniType | undefined => rowSchemas.get(schema);

/**
 * Reads a value whose fields may have the wrong type: anything can become text, and digits can become a number. Drops
 * other unreadable optional fields of a row unless they decide; {@link unreadableFields} keeps their values.
 */
export function readWith<Schema extends z.ZodMiniType>(schema: Schema, value: unknown) {
  const read = parseWhole(schema, value);
  if (read.success || typeof value !== 'object' || value === null) return read;
  let converted: object = value;
  const left: [name: string, value: unknown][] = [];
  for (const issue of schema.safeParse(value, { reportInput: true }).error?.issues ?? []) {
    const instead = issue.code === 'invalid_type' ? inType(issue.expected, issue.input) : undefined;
    if (instead === undefined && !(ofRows.has(schema) && mayBeLeftOut(issue))) return read;
    if (instead === undefined) left.push([issue.path.join('.'), issue.input]);
    converted = withValue(converted, issue.path, instead);
  }
  return parseWhole(
    schema,
    left.length === 0 ? converted : { ...converted, [unreadableFields]: Object.fromEntries(left) },
  );
}

/** Whether a field may be left out: it is not the whole value, a list, or part of a list, and does not decide. */
const mayBeLeftOut = (issue: z.core.$ZodIssue): boolean =>
  issue.message !== decides &&
  issue.path.length > 0 &&
  issue.path.every(key => typeof key === 'string') &&
  !(issue.code === 'invalid_type' && issue.expected === 'array');

/** Converts a value to the expected type; undefined if it cannot. */
function inType(expected: string, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (expected === 'string') return typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (expected === 'number') {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
    return Number.isFinite(number) ? number : undefined;
  }
  if (expected === 'object') return typeof value === 'string' ? { message: value } : undefined;
  return expected === 'record' ? { value } : undefined;
}

/** @param value undefined to leave it out */
function withValue(container: object, [name, ...rest]: readonly PropertyKey[], value: unknown): object {
  if (name === undefined) return container;
  const inner = rest.length === 0 ? value : withValue(Object(Reflect.get(container, name)), rest, value);
  if (Array.isArray(container)) return container.with(Number(name), inner);
  const others = Object.entries(container).filter(([key]) => key !== name);
  return Object.fromEntries(inner === undefined ? others : [...others, [name, inner]]);
}

/** Reads an array row by row. Drops unreadable rows; `unreadableIn` counts them. */
export function rows<Schema extends z.ZodMiniType>(item: Schema): z.ZodMiniType<z.output<Schema>[], unknown> {
  return z.pipe(
    page(item),
    z.transform(({ items }: Page<z.output<Schema>>) => items),
  ) as unknown as z.ZodMiniType<z.output<Schema>[], unknown>;
}

/** Normalises an id for comparison: services differ in the case of UUIDs. */
export const spelledId = (id: string): string => (/^[\da-f-]{32,36}$/i.test(id) ? id.toLowerCase() : id);

export const pageLimit = { minimum: 1, maximum: 200, default: 25 } as const;
export const sortOrders = ['asc', 'desc'] as const;
export type SortOrder = (typeof sortOrders)[number];

/** A list's query. The document shows it only for runtimes; the other lists are assumed to take the same names. */
export const listQuery = z.strictObject({
  cursor: z.optional(z.nullable(z.string())),
  limit: z.optional(z.int().check(z.gte(pageLimit.minimum), z.lte(pageLimit.maximum))),
  sort: z.optional(z.nullable(z.string())),
  order: z.optional(z.enum(sortOrders)),
  search: z.optional(z.nullable(z.string())),
});
export type ListQuery = z.input<typeof listQuery>;

export const runFailure = z.looseObject({ type: text, code: text, message: text, context: freeForm }, decides);
export type RunFailure = z.output<typeof runFailure>;

/** Why something failed, in one sentence: its message, otherwise its code. */
export const failureReason = (failure: Pick<RunFailure, 'message' | 'code'> | null | undefined): string | undefined =>
  failure?.message ?? failure?.code ?? undefined;

/**
 * How a call authenticates: the organization's `X-API-Key`, the inference bearer token, or the short-lived bearer token
 * for one trajectory. `shownWithout` marks endpoints that the document shows without a credential; benchtop sends the
 * organization key there too.
 */
export type Auth = 'apiKey' | 'inferenceToken' | 'trajectoryToken' | 'shownWithout';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The path and names of an operation in the newest generation. */
export interface MovedEndpoint {
  /** Placeholders missing from it become fields of the body, if there is one. */
  readonly path: string;
  /** Renamed body fields, by the document's name. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Whether a service makes a repeated upload harmless. */
export interface SkipsStored {
  /**
   * Whether the service is known to skip trajectories that the dataset already has. The document states only that some
   * are skipped “by validation or deduplication”.
   *
   * @param areTraced whether every trajectory has a `trace_id`
   */
  readonly skipsStored: (areTraced: boolean) => boolean;
}

/** One operation of the service, shared by the client and the local service. */
export interface Endpoint<
  Query extends z.ZodMiniType = z.ZodMiniType,
  Body extends z.ZodMiniType = z.ZodMiniType,
  Response extends z.ZodMiniType = z.ZodMiniType,
  Path extends string = string,
> {
  /** A name for messages and tests, e.g. `listBenchmarkRuntimes`. */
  readonly operation: string;
  readonly method: Method;
  /** Path below the base address; `{name}` marks a parameter. */
  readonly path: Path;
  readonly auth: Auth;
  readonly query?: Query;
  readonly body?: Body;
  readonly response: Response;
  /** True for endpoints that the document does not list, so a service may lack them. */
  readonly capability?: boolean;
  /**
   * Whether to send an `Idempotency-Key`, generated if the caller has none. The document does not promise that it makes
   * a retry safe: after a lost response, the call is retried only if the service is known to honour the key.
   */
  readonly idempotencyKey?: boolean;
  /**
   * Set if repeating it has no further effect, as for DELETE. A lost response is not retried automatically: the second
   * response may be a refusal.
   */
  readonly isIdempotent?: true;
  /** Set for a write after which nothing is stored yet: it may be retried, and a lost response does not matter. */
  readonly storesNothing?: true;
  /** Whether a field in the body makes a retry safe. */
  readonly repeatable?: (body: unknown, service: SkipsStored) => boolean;
  /** How the operation differs in the newest generation. */
  readonly newest?: MovedEndpoint;
  /** Where to put the agent, which later generations require. */
  readonly agent?: 'query' | 'body';
  /** Body fields whose values must not appear in any error, log or history. */
  readonly sensitive?: readonly string[];
  /** Response fields, at any depth, that hold a credential, e.g. a signed address. */
  readonly sensitiveAnswer?: readonly string[];
  /**
   * `slow`: the response takes a long time. `bulk`: the transfer is large, and may be slow without being idle.
   */
  readonly pace?: 'slow' | 'bulk';
  /** A list in the response that can be too long to hold as text. Its rows are parsed as they arrive. */
  readonly longList?: string;
}

/** Whether a call changes anything on the service. A chat completion is a POST that changes nothing. */
export function isWrite({ method, auth }: Pick<Endpoint, 'method' | 'auth'>): boolean {
  return method !== 'GET' && auth !== 'inferenceToken';
}

type Declaration = Omit<Endpoint, 'operation' | 'auth'> & Partial<Pick<Endpoint, 'auth'>>;
type PartOf<Declared, Part extends 'query' | 'body'> =
  Declared extends Readonly<Record<Part, infer Schema extends z.ZodMiniType>> ? Schema : z.ZodMiniType<undefined>;

/** Declares endpoints by operation, keeping the types of their schemas and paths. By default they take the API key. */
export function defineEndpoints<const Area extends Readonly<Record<string, Declaration>>>(area: Area) {
  return Object.fromEntries(
    Object.entries(area).map(([operation, declared]) => [operation, { auth: 'apiKey', ...declared, operation }]),
  ) as {
    readonly [Name in keyof Area]: Endpoint<
      PartOf<Area[Name], 'query'>,
      PartOf<Area[Name], 'body'>,
      Area[Name]['response'],
      Area[Name]['path']
    >;
  };
}
