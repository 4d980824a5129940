/** The last known states of a service's resources. Writes are batched until they are flushed. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../base/own-property.ts';
import { isSameStatus } from '../text/status-spelling.ts';
import { jsonIn, type Row, type Tables } from './tables.ts';

/** The certainty of a run's mean. Only the queries know its other fields. */
interface SeenCertainty {
  readonly isFinal: boolean;
}

/** A training run's restart: the highest step before it, and the step from which the run continued. */
export interface SeenRestart {
  readonly from: number;
  readonly step: number;
}

/** A resource as last seen. */
export interface RememberedResource {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  readonly status: string | undefined;
  /** Its parent's id, e.g. a run's benchmark. */
  readonly parent: string | undefined;
  readonly record: Readonly<Record<string, unknown>>;
  /** The final certainty of its mean. */
  readonly certainty?: unknown;
  /** How it differs from the baseline. */
  readonly difference?: unknown;
  /** Its last held-out means. */
  readonly measured?: unknown;
  /** Its held-out means as a list read them after its end. */
  readonly heldOut?: unknown;
  /** Epoch milliseconds. */
  readonly seenAt: number;
  /** When the record's current number of rewards was first seen; epoch milliseconds. */
  readonly gradedAt?: number | undefined;
  /** When it was first seen; epoch milliseconds. */
  readonly firstSeenAt: number;
  /** When this machine started it, if it did; epoch milliseconds. */
  readonly startedAt?: number | undefined;
  /** When it was seen leaving the queue, in epoch milliseconds; null if nobody saw it leave. */
  readonly beganAt?: number | null | undefined;
  /** Its last restart. The run may have recovered since. */
  readonly restart?: SeenRestart | undefined;
}

/** An observation of a resource. Missing fields keep their remembered values. */
export interface SeenResource
  extends Pick<RememberedResource, 'kind' | 'id'>,
    Partial<Pick<RememberedResource, 'beganAt' | 'restart'>> {
  readonly label?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly parent?: string | null | undefined;
  /** The service's record, or the part to remember. */
  readonly record?: RememberedResource['record'] | undefined;
  /** Remembered once it is final. */
  readonly certainty?: SeenCertainty | undefined;
  readonly difference?: object | undefined;
  readonly measured?: object | null | undefined;
  readonly heldOut?: object | undefined;
  /** True if this program has just started it. */
  readonly isStart?: boolean;
}

/**
 * When a remembered row or page was last seen; epoch milliseconds. Rows store it as a time string, like all their
 * times, because programs read them; pages store a number.
 */
export function rememberedAt(data: object): number | undefined {
  const at = 'remembered_at' in data ? data.remembered_at : undefined;
  if (typeof at === 'number') return at;
  const parsed = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** Rewrite an unchanged resource only after this long, in milliseconds: ages are shown in minutes. */
const touchMs = 60_000;
export const keptOfKind = 5_000;

const keyOf = ({ kind, id }: Pick<SeenResource, 'kind' | 'id'>): string => `${kind} ${id}`;

/** The reason, the end time and the wait: they belong to a status. Records and known resources name them differently. */
const ofStatus = new Set(['failure', 'completed_at', 'waits_because', 'reason', 'endTime', 'waits']);

/**
 * A resource with the status of a newer response, unless that is unknown or only spelled differently. If the status
 * changes, drops what belongs to the old one.
 */
export function atStatus<Row extends { readonly status?: unknown }>(row: Row, status: string | null | undefined): Row {
  if (status == null) return row;
  if (row.status == null) return { ...row, status };
  if (isSameStatus(String(row.status), status)) return row;
  return { ...Object.fromEntries(Object.entries(row).filter(([name]) => !ofStatus.has(name))), status } as Row;
}

/** Drops the progress, which a status change invalidates. */
function withoutProgress(record: RememberedResource['record'] | undefined): RememberedResource['record'] | undefined {
  if (!record) return undefined;
  const { completed_steps: _, reward_count: __, reward_mean: ___, ...rest } = record;
  return rest;
}

/**
 * A mean belongs to its number of rewards. A response without a mean keeps both: some services send the mean only
 * sometimes, and benchtop counts the rewards. A different mean discards the count.
 */
function meanAndCount(
  known: RememberedResource['record'] | undefined,
  sent: RememberedResource['record'],
): RememberedResource['record'] {
  const { reward_mean, reward_count } = known ?? {};
  const [mean, count] = [sent['reward_mean'], sent['reward_count']];
  if (typeof reward_mean !== 'number' || typeof reward_count !== 'number' || typeof count === 'number') return {};
  if (mean == null) return { reward_mean, reward_count };
  return { reward_count: mean === reward_mean ? reward_count : null };
}

/** The field in a saved record for state that the service did not send. */
const ownField = 'benchtop';

const timeIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

function restartIn(value: unknown): SeenRestart | undefined {
  const { from, step } = isRecord(value) ? value : {};
  return typeof from === 'number' && typeof step === 'number' ? { from, step } : undefined;
}

/** The field for the options that this machine sent when it started the run. */
export const sentOptionsField = 'sent_options';

/** The options that this machine sent when it started the run, if it did. */
export function sentOptionsIn(record: object | undefined): Readonly<Record<string, unknown>> | undefined {
  const sent = isRecord(record) ? record[sentOptionsField] : undefined;
  return isRecord(sent) ? sent : undefined;
}

/** When the record's number of rewards was first seen. */
function gradedAtOf(old: RememberedResource | undefined, record: object, seenAt: number): number | undefined {
  const count = 'reward_count' in record ? record.reward_count : undefined;
  if (typeof count !== 'number') return undefined;
  return old?.record['reward_count'] === count ? (old.gradedAt ?? old.seenAt) : seenAt;
}

/** What the response to a start adds, if another response was faster: that one is newer. */
function withoutOldStatus(old: RememberedResource | undefined, seen: SeenResource): SeenResource {
  if (!seen.isStart || old?.status === undefined) return seen;
  const known = Object.entries(old.record).filter(([, value]) => value != null);
  return { ...seen, status: undefined, record: { ...seen.record, ...Object.fromEntries(known) } };
}

/** Merges an observation into the remembered record. */
function mergeSeen(old: RememberedResource | undefined, sent: SeenResource, seenAt: number): RememberedResource {
  const seen = withoutOldStatus(old, sent);
  const { kind, id } = seen;
  const status = seen.status ?? old?.status;
  const isSame = isSameStatus(old?.status, status);
  const known = isSame ? old?.record : withoutProgress(old && atStatus(old.record, status));
  const record = {
    ...known,
    ...(seen.record ?? (status === undefined ? {} : { status })),
    ...(seen.record && meanAndCount(known, seen.record)),
    // The response to a start may have no status.
    ...(seen.record?.['status'] === null && status !== undefined && { status }),
  };
  return {
    kind,
    id,
    label: seen.label || old?.label || id,
    status,
    parent: seen.parent ?? old?.parent,
    record,
    certainty: seen.certainty?.isFinal ? seen.certainty : isSame ? old?.certainty : undefined,
    difference: seen.difference ?? (isSame ? old?.difference : undefined),
    measured: seen.measured === undefined ? old?.measured : (seen.measured ?? undefined),
    heldOut: seen.heldOut ?? (isSame ? old?.heldOut : undefined),
    seenAt,
    gradedAt: gradedAtOf(old, record, seenAt),
    firstSeenAt: old?.firstSeenAt ?? seenAt,
    startedAt: old?.startedAt ?? (seen.isStart ? seenAt : undefined),
    beganAt: seen.beganAt === undefined ? old?.beganAt : seen.beganAt,
    restart: seen.restart ?? old?.restart,
  };
}

function isWritten(resource: RememberedResource, written: RememberedResource | undefined): boolean {
  if (!written || resource.seenAt - written.seenAt >= touchMs) return false;
  return isDeepStrictEqual({ ...resource, seenAt: 0 }, { ...written, seenAt: 0 });
}

/** Parses a row; undefined if it is damaged. */
function resourceOf(row: Row): RememberedResource | undefined {
  const { kind, id, label, status, parent, record, seen_at } = row;
  const known = jsonIn(record);
  if (!isRecord(known)) return undefined;
  const { [ownField]: own, ...sent } = known;
  const { gradedAt, firstSeenAt, startedAt, beganAt, restart, ...values } = isRecord(own) ? own : {};
  return {
    ...values,
    kind: String(kind),
    id: String(id),
    label: String(label),
    status: status == null ? undefined : String(status),
    parent: parent == null ? undefined : String(parent),
    record: sent,
    seenAt: Number(seen_at),
    gradedAt: timeIn(gradedAt),
    firstSeenAt: timeIn(firstSeenAt) ?? Number(seen_at),
    startedAt: timeIn(startedAt),
    beganAt: beganAt === null ? null : timeIn(beganAt),
    restart: restartIn(restart),
  };
}

const sinceOf = (rows: readonly Row[]): SeenSince[] =>
  rows.flatMap(row => {
    const resource = resourceOf({ ...row, record: '{}', parent: null });
    if (!resource) return [];
    const { kind, id, label, status, seenAt } = resource;
    return [{ kind, id, label, status, seenAt }];
  });

/** Limits the result, because there may be 25,000 resources. */
export interface SeenFilter {
  /** All kinds if missing. */
  readonly kinds?: readonly string[];
  /** All resources if missing. */
  readonly limit?: number;
}

/** A resource without its record. */
type SeenSince = Pick<RememberedResource, 'kind' | 'id' | 'label' | 'status' | 'seenAt'>;

export class SeenResources {
  readonly #tables: Tables;
  readonly #waiting = new Map<string, RememberedResource>();
  /** The state that this program last wrote for each resource. */
  readonly #written = new Map<string, RememberedResource>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  see(resources: readonly SeenResource[], now: number): void {
    for (const seen of resources) {
      const key = keyOf(seen);
      const old = this.#waiting.get(key) ?? this.#written.get(key) ?? this.#read(seen.kind, seen.id);
      this.#waiting.set(key, mergeSeen(old, seen, now));
    }
  }

  flush(): void {
    if (this.#waiting.size === 0) return;
    const fresh = [...this.#waiting.values()].filter(
      resource => !isWritten(resource, this.#written.get(keyOf(resource))),
    );
    this.#waiting.clear();
    if (fresh.length === 0) return;
    const sql =
      'insert or replace into seen (profile, kind, id, label, status, parent, record, seen_at) values (?, ?, ?, ?, ?, ?, ?, ?)';
    const rows = fresh.map(({ kind, id, label, status = null, parent = null, record, seenAt, ...own }) => {
      const saved = JSON.stringify({ ...record, [ownField]: own });
      return [this.#tables.scope, kind, id, label, status, parent, saved, seenAt];
    });
    this.#tables.lazily(() => {
      if (!this.#tables.runAll(sql, rows)) return;
      for (const resource of fresh) this.#written.set(keyOf(resource), resource);
    });
  }

  /** Resources of a kind, last seen first; of one parent if given. */
  list(kind: string, parent?: string): RememberedResource[] {
    this.flush();
    const ofParent = parent === undefined ? '' : 'and parent = ?';
    const values = [this.#tables.scope, kind, ...(parent === undefined ? [] : [parent])];
    const sql = `select * from seen where profile = ? and kind = ? ${ofParent} order by seen_at desc, id limit 1000`;
    return this.#tables.all(sql, ...values).flatMap(row => resourceOf(row) ?? []);
  }

  /** The names of all resources of this kind. */
  labels(kind: string): ReadonlySet<string> {
    this.flush();
    const sql = 'select label from seen where profile = ? and kind = ?';
    return new Set(this.#tables.all(sql, this.#tables.scope, kind).map(({ label }) => String(label)));
  }

  /** Resources seen since `since`, without their records, last seen first. */
  since(since: number, { kinds, limit = -1 }: SeenFilter = {}): SeenSince[] {
    this.flush();
    const ofKind = kinds === undefined ? '' : `and kind in (${kinds.map(() => '?').join(', ')})`;
    const sql = `select kind, id, label, status, seen_at from seen where profile = ? and seen_at > ? ${ofKind}
      order by seen_at desc limit ?`;
    return sinceOf(this.#tables.all(sql, this.#tables.scope, since, ...(kinds ?? []), limit));
  }

  /** The resources that this machine has started since `since`, and whose end no process has recorded. */
  unended(since: number): SeenSince[] {
    this.flush();
    const sql = `select kind, id, label, status, seen_at from seen where profile = ?1 and seen_at > ?2 and not exists (
        select 1 from events where profile = ?1 and kind = seen.kind and id = seen.id and what = 'end'
      ) and case when json_valid(record) then json_extract(record, '$.${ownField}.startedAt') end > ?2`;
    return sinceOf(this.#tables.all(sql, this.#tables.scope, since));
  }

  /** The resources with this id or name, ignoring case, last seen first. */
  named(text: string, limit: number): SeenSince[] {
    this.flush();
    // Force the index: otherwise SQLite reads all rows of the profile.
    const by = (column: 'id' | 'label'): string =>
      `select kind, id, label, status, seen_at from seen indexed by seen_by_${column}
        where profile = ?1 and ${column} = ?2 collate nocase`;
    const sql = `${by('id')} union ${by('label')} order by seen_at desc limit ?3`;
    return sinceOf(this.#tables.all(sql, this.#tables.scope, text, limit));
  }

  find(kind: string, id: string): RememberedResource | undefined {
    return this.#waiting.get(keyOf({ kind, id })) ?? this.#read(kind, id);
  }

  #read(kind: string, id: string): RememberedResource | undefined {
    const sql = 'select * from seen where profile = ? and kind = ? and id = ?';
    const [row] = this.#tables.all(sql, this.#tables.scope, kind, id);
    return row && resourceOf(row);
  }

  forget(kind: string, id: string): void {
    this.#waiting.delete(keyOf({ kind, id }));
    this.#written.delete(keyOf({ kind, id }));
    this.#tables.run('delete from seen where profile = ? and kind = ? and id = ?', this.#tables.scope, kind, id);
  }

  /** Deletes resources last seen before `before`, and all but the newest 5,000 of each kind. */
  prune(before: number): void {
    this.#tables.run('delete from seen where seen_at < ?', before);
    const kinds = this.#tables.all('select distinct kind from seen where profile = ?', this.#tables.scope);
    for (const { kind = null } of kinds) {
      this.#tables.run(
        `delete from seen where profile = ?1 and kind = ?2 and id not in (
           select id from seen where profile = ?1 and kind = ?2 order by seen_at desc limit ?3
         )`,
        this.#tables.scope,
        kind,
        keptOfKind,
      );
    }
    this.#written.clear();
  }
}
