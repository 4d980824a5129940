/**
 * What this user has seen on their services, kept beside the program: services that do not list runs or deployments show
 * the ones seen here, pins outlive the program, and so do the commands of the palette and the layout of tables. One SQLite
 * file, apart by profile; several programs may use it at once. Losing it loses nothing on any service.
 */
import { openTables, type Row, type Tables, tablesInMemory } from './tables.ts';

export const thingKinds = ['benchmark', 'run', 'training', 'deployment', 'trajectory', 'dataset'] as const;
export type ThingKind = (typeof thingKinds)[number];

/** A thing as it was when it was last seen. */
export interface SeenThing {
  readonly kind: ThingKind;
  readonly id: string;
  readonly label: string;
  readonly status: string | undefined;
  /** Id of what it belongs to, e.g. the benchmark of a run. */
  readonly parent: string | undefined;
  /** The record itself, as the service sent it. */
  readonly record: Readonly<Record<string, unknown>>;
}

export interface RememberedThing extends SeenThing {
  /** Epoch milliseconds. */
  readonly seenAt: number;
}

export interface PinnedThing {
  readonly kind: ThingKind;
  readonly id: string;
  readonly label: string;
}

/** A conversation as it was kept. */
export interface KeptChat {
  readonly id: string;
  readonly title: string;
  /** Epoch milliseconds of its last turn. */
  readonly at: number;
  /** As it was given; the store does not look into it. */
  readonly talk: unknown;
}

/** How far a training run was, and when. */
export interface ProgressPoint {
  readonly at: number;
  readonly completed_steps: number;
}

/** A thing that has not changed is written again only after this long: its age is shown in minutes at the finest. */
const touchMs = 60_000;
const keptMs = 90 * 24 * 60 * 60_000;
const keptOfKind = 5_000;
const keptPoints = 2_000;
const keptCommands = 100;
const keptChats = 200;

export class RememberedStore {
  readonly #tables: Tables;
  readonly #profile: string;
  /** When each thing was last written by this program, and how. */
  readonly #written = new Map<string, { readonly at: number; readonly text: string }>();

  private constructor(tables: Tables) {
    this.#tables = tables;
    this.#profile = tables.profile;
  }

  /**
   * Opens the file, or makes it. A damaged one is set aside; where it cannot be had, all is kept in memory. Waits
   * `busyMs` at most for others who write. Never throws: the program works without it, and `problem` says what is lost.
   */
  static open(path: string, profile: string, busyMs?: number): RememberedStore {
    return new RememberedStore(openTables(path, profile, busyMs));
  }

  static inMemory(profile: string): RememberedStore {
    return new RememberedStore(tablesInMemory(profile));
  }

  /** What cannot be remembered, in words; undefined where all is well. */
  get problem(): string | undefined {
    return this.#tables.problem;
  }

  /** Remembers things as they are now. */
  see(things: readonly SeenThing[], now = Date.now()): void {
    const fresh = things.flatMap(thing => {
      const text = JSON.stringify([thing.label, thing.status, thing.parent, thing.record]);
      const known = this.#written.get(`${thing.kind} ${thing.id}`);
      return known && known.text === text && now - known.at < touchMs ? [] : [{ thing, text }];
    });
    if (fresh.length === 0) return;
    const written = this.#tables.runAll(
      'insert or replace into seen (profile, kind, id, label, status, parent, record, seen_at) values (?, ?, ?, ?, ?, ?, ?, ?)',
      fresh.map(({ thing: { kind, id, label, status = null, parent = null, record } }) => {
        return [this.#profile, kind, id, label, status, parent, JSON.stringify(record), now];
      }),
    );
    if (!written) return;
    for (const { thing, text } of fresh) this.#written.set(`${thing.kind} ${thing.id}`, { at: now, text });
  }

  /** Things of a kind, those seen last first; of one parent where it is given. */
  list(kind: ThingKind, parent?: string): RememberedThing[] {
    const ofParent = parent === undefined ? '' : 'and parent = ?';
    const values = [this.#profile, kind, ...(parent === undefined ? [] : [parent])];
    const sql = `select * from seen where profile = ? and kind = ? ${ofParent} order by seen_at desc, id limit 1000`;
    return this.#tables.all(sql, ...values).map(thingOf);
  }

  find(kind: ThingKind, id: string): RememberedThing | undefined {
    const [row] = this.#tables.all(
      'select * from seen where profile = ? and kind = ? and id = ?',
      this.#profile,
      kind,
      id,
    );
    return row && thingOf(row);
  }

  /** Forgets a thing that is gone from the service. */
  forget(kind: ThingKind, id: string): void {
    this.#written.delete(`${kind} ${id}`);
    this.#tables.run('delete from seen where profile = ? and kind = ? and id = ?', this.#profile, kind, id);
    this.unpin(kind, id);
  }

  pin({ kind, id, label }: PinnedThing, now = Date.now()): void {
    const sql = 'insert or replace into pins (profile, kind, id, label, pinned_at) values (?, ?, ?, ?, ?)';
    this.#tables.run(sql, this.#profile, kind, id, label, now);
  }

  unpin(kind: ThingKind, id: string): void {
    this.#tables.run('delete from pins where profile = ? and kind = ? and id = ?', this.#profile, kind, id);
  }

  /** What is pinned, in the order in which it was. */
  pinned(): PinnedThing[] {
    return this.#tables
      .all('select kind, id, label from pins where profile = ? order by pinned_at, id', this.#profile)
      .map(({ kind, id, label }) => ({ kind: kind as ThingKind, id: String(id), label: String(label) }));
  }

  /** Notes how far a training run is, where that has changed. */
  recordProgress(runId: string, completed_steps: number, now = Date.now()): void {
    const points = this.progressOf(runId);
    if (points.at(-1)?.completed_steps === completed_steps) return;
    if (points.length >= keptPoints) {
      // The old half is thinned: its shape stays, and there is room for what comes.
      const thinned = points.slice(0, keptPoints / 2).filter((_, index) => index % 2 === 1);
      for (const { at } of thinned) {
        this.#tables.run('delete from progress where profile = ? and run_id = ? and at = ?', this.#profile, runId, at);
      }
    }
    const sql = 'insert or replace into progress (profile, run_id, at, completed_steps) values (?, ?, ?, ?)';
    this.#tables.run(sql, this.#profile, runId, now, completed_steps);
  }

  progressOf(runId: string): ProgressPoint[] {
    const sql = 'select at, completed_steps from progress where profile = ? and run_id = ? order by at';
    return this.#tables.all(sql, this.#profile, runId).map(({ at, completed_steps }) => ({
      at: Number(at),
      completed_steps: Number(completed_steps),
    }));
  }

  /** The commands of the palette, the one used last first. */
  recentCommands(limit: number): string[] {
    const sql = 'select command from commands where profile = ? order by used_at desc limit ?';
    return this.#tables.all(sql, this.#profile, limit).map(({ command }) => String(command));
  }

  rememberCommand(command: string, now = Date.now()): void {
    this.#tables.run(
      'insert or replace into commands (profile, command, used_at) values (?, ?, ?)',
      this.#profile,
      command,
      now,
    );
    this.#tables.keepNewest('commands', 'command', 'used_at', keptCommands);
  }

  /** Keeps a conversation in the place of what was kept of it before; one that is the same keeps its time. */
  keepChat({ id, title, talk }: Omit<KeptChat, 'at'>, now = Date.now()): void {
    const sql = `insert into chats (profile, id, title, at, talk) values (?, ?, ?, ?, ?) on conflict do update
      set title = excluded.title, at = excluded.at, talk = excluded.talk where talk <> excluded.talk`;
    this.#tables.run(sql, this.#profile, id, title, now, JSON.stringify(talk));
    this.#tables.keepNewest('chats', 'id', 'at', keptChats);
  }

  forgetChat(id: string): void {
    this.#tables.run('delete from chats where profile = ? and id = ?', this.#profile, id);
  }

  /** The conversations, the one of the last turn first. */
  chats(): KeptChat[] {
    return this.#tables
      .all('select id, title, at, talk from chats where profile = ? order by at desc', this.#profile)
      .map(({ id, title, at, talk }) => ({
        id: String(id),
        title: String(title),
        at: Number(at),
        talk: JSON.parse(String(talk)) as unknown,
      }));
  }

  setting(name: string): unknown {
    const [row] = this.#tables.all('select value from settings where profile = ? and name = ?', this.#profile, name);
    try {
      return row && (JSON.parse(String(row['value'])) as unknown);
    } catch {
      return undefined;
    }
  }

  setSetting(name: string, value: unknown): void {
    const sql = 'insert or replace into settings (profile, name, value) values (?, ?, ?)';
    this.#tables.run(sql, this.#profile, name, JSON.stringify(value ?? null));
  }

  /** Forgets what nobody has seen for a long time. */
  prune(now = Date.now()): void {
    this.#tables.run('delete from seen where seen_at < ?', now - keptMs);
    this.#tables.run('delete from progress where at < ?', now - keptMs);
    for (const kind of thingKinds) {
      this.#tables.run(
        `delete from seen where profile = ?1 and kind = ?2 and id not in (
           select id from seen where profile = ?1 and kind = ?2 order by seen_at desc limit ?3
         )`,
        this.#profile,
        kind,
        keptOfKind,
      );
    }
  }

  close(): void {
    this.#tables.close();
  }
}

function thingOf(row: Row): RememberedThing {
  const { kind, id, label, status, parent, record, seen_at } = row;
  return {
    kind: kind as ThingKind,
    id: String(id),
    label: String(label),
    status: status === null ? undefined : String(status),
    parent: parent === null ? undefined : String(parent),
    record: JSON.parse(String(record)) as Record<string, unknown>,
    seenAt: Number(seen_at),
  };
}
