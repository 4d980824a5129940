/**
 * The remembered store, which keeps benchtop's data between sessions. It holds the last lists for the first frame, the
 * runs and deployments seen on services that do not list them, pins, chats, palette history and table layouts. It is
 * one SQLite file, scoped by service, which several programs may use at the same time. Losing the file loses nothing on
 * a service. SQLite is part of Node: opening the file and reading a page takes a millisecond or two.
 */
import { EventRecords } from './events.ts';
import { RememberedLists, type SavedList } from './lists.ts';
import { NoteRecords } from './notes.ts';
import { ProgressPoints } from './progress.ts';
import { type SeenResource, SeenResources } from './seen.ts';
import { StartKeys } from './start-keys.ts';
import { type FileState, jsonIn, openTables, type Scope, type Tables, tablesInMemory } from './tables.ts';
import { TrajectoryRecords } from './trajectory-records.ts';
import { UploadRecords } from './upload-records.ts';

export type { ProgressPoint, Silence } from './progress.ts';
export type { RememberedResource, SeenResource } from './seen.ts';

export interface ResourceRef {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
}

/** A saved conversation without its turns. */
export interface SavedChat {
  readonly id: string;
  readonly title: string;
  readonly model: string;
  /** Whether its last answer is incomplete. */
  readonly isIncomplete: boolean;
  /** Epoch milliseconds of its last turn. */
  readonly at: number;
}

/** A conversation as it is saved. */
interface ChatToSave extends Omit<SavedChat, 'at'> {
  /** Opaque to the store. */
  readonly talk: unknown;
}

/** Identifies a choice between two answers. */
interface ChoiceRef {
  readonly conversation: string;
  readonly pair: string;
}

/** Delay that batches writes, in milliseconds. */
const writeAfterMs = 250;
const keptMs = 90 * 24 * 60 * 60_000;
const keptCommands = 100;

export class RememberedStore {
  readonly #tables: Tables;
  readonly #scope: string;
  readonly file: FileState;
  /** Resources that any response has reported; write them with `see`. */
  readonly seen: SeenResources;
  /** The progress of training runs over time; write it with `recordProgress`. */
  readonly progress: ProgressPoints;
  /** The first rows of lists; write them with `keepList`. */
  readonly lists: RememberedLists;
  /** Benchmark uploads that can be resumed. */
  readonly uploads: UploadRecords;
  readonly trajectoryUploads: TrajectoryRecords;
  /** Keys of start requests with unknown outcomes. */
  readonly startKeys: StartKeys;
  /** Ends, stalls and other events, until they are dismissed. */
  readonly events: EventRecords;
  /** Flags and notes that people write. */
  readonly notes: NoteRecords;
  #timer: NodeJS.Timeout | undefined;
  /** The versions of conversations that this store has read or saved, by id. */
  readonly #chatTimes = new Map<string, number>();

  private constructor(tables: Tables) {
    this.#tables = tables;
    this.#scope = tables.scope;
    this.file = tables;
    this.seen = new SeenResources(tables);
    this.progress = new ProgressPoints(tables);
    this.uploads = new UploadRecords(tables);
    this.trajectoryUploads = new TrajectoryRecords(tables);
    this.startKeys = new StartKeys(tables);
    this.events = new EventRecords(tables);
    this.notes = new NoteRecords(tables);
    this.lists = new RememberedLists(tables);
  }

  /**
   * Opens or creates the file. One that is damaged or of an earlier version is set aside; if it cannot be opened,
   * everything stays in memory. Waits at most `busyMs` for other writers. `scope` identifies the service. Never throws:
   * benchtop works without the file, and `problem` describes the loss.
   */
  static open(path: string, scope: Scope | string, busyMs?: number): RememberedStore {
    return new RememberedStore(openTables(path, scope, busyMs));
  }

  static inMemory(scope: Scope | string): RememberedStore {
    return new RememberedStore(tablesInMemory(scope));
  }

  /** Remembers observations. They are written a little later in one batch, so no response waits for the disk. */
  see(resources: readonly SeenResource[], now = Date.now()): void {
    this.seen.see(resources, now);
    if (resources.length > 0) this.#writeSoon();
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => this.flush(), writeAfterMs).unref();
  }

  /** Writes pending changes. Reads do so, too. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.seen.flush();
    this.#tables.lazily(() => {
      this.progress.flush();
      this.lists.flush();
    });
  }

  /** Replaces the saved first rows of a list. They are written a little later. */
  keepList(list: string, data: SavedList, readAt: number): void {
    this.lists.keep(list, data, readAt);
    this.#writeSoon();
  }

  /** When a run first had this number of rewards, in epoch milliseconds; undefined if its last known number differs. */
  gradedAt({ kind, id }: Pick<ResourceRef, 'kind' | 'id'>, count: number): number | undefined {
    const seen = this.seen.find(kind, id);
    return seen?.record['reward_count'] === count ? (seen.gradedAt ?? seen.seenAt) : undefined;
  }

  /** Forgets a resource that the service no longer has. */
  forget(kind: string, id: string): void {
    this.seen.forget(kind, id);
    this.startKeys.forgetStart(id);
    this.unpin(kind, id);
  }

  /** False if it could not be saved. */
  pin({ kind, id, label }: ResourceRef, now = Date.now()): boolean {
    const sql = 'insert or replace into pins (service, kind, id, label, pinned_at) values (?, ?, ?, ?, ?)';
    return this.#tables.run(sql, this.#tables.service, kind, id, label, now);
  }

  /** False if it could not be saved. */
  unpin(kind: string, id: string): boolean {
    const sql = 'delete from pins where service = ? and kind = ? and id = ?';
    return this.#tables.run(sql, this.#tables.service, kind, id);
  }

  /** The pins, in the order of pinning; undefined if they cannot be read. */
  pinned(): ResourceRef[] | undefined {
    return this.#tables
      .read('select kind, id, label from pins where service = ? order by pinned_at, id', this.#tables.service)
      ?.map(({ kind, id, label }) => ({ kind: String(kind), id: String(id), label: String(label) }));
  }

  /**
   * Records a training run's progress, if it has changed.
   *
   * @param lacksEnd whether the run ended at an unknown time, so that a repeated count is no silence
   */
  recordProgress(runId: string, completed_steps: number, now = Date.now(), lacksEnd = false): void {
    if (lacksEnd && this.progress.of(runId).at(-1)?.completed_steps === completed_steps) return;
    if (this.progress.record(runId, completed_steps, now)) this.#writeSoon();
  }

  /** The palette's history, most recent first. */
  recentCommands(limit: number): string[] {
    const sql = 'select command from commands where profile = ? order by used_at desc limit ?';
    return this.#tables.all(sql, this.#scope, limit).map(({ command }) => String(command));
  }

  rememberCommand(command: string, now = Date.now()): void {
    this.#tables.run(
      'insert or replace into commands (profile, command, used_at) values (?, ?, ?)',
      this.#scope,
      command,
      now,
    );
    this.#tables.keepNewest('commands', 'command', 'used_at', keptCommands);
  }

  /**
   * Saves a conversation, replacing its previous version; an unchanged one keeps its time. False if it could not be
   * saved.
   *
   * @param merge merges it with a version that another screen has saved since this one has read or saved it
   */
  saveChat(
    { id, title, model, isIncomplete, talk }: ChatToSave,
    now = Date.now(),
    merge: (theirs: unknown) => unknown = () => talk,
  ): boolean {
    const { service } = this.#tables;
    return this.#tables.atOnce(run => {
      const [row] = this.#tables.all('select at, talk from chats where service = ? and id = ?', service, id);
      const isTheirs = row !== undefined && row['at'] !== this.#chatTimes.get(id);
      const text = JSON.stringify(isTheirs ? merge(jsonIn(row['talk'])) : talk);
      const isSame = row?.['talk'] === text;
      const at = isSame ? Number(row['at']) : Math.max(now, Number(row?.['at'] ?? 0) + 1);
      const sql =
        'insert or replace into chats (service, id, title, model, incomplete, at, talk) values (?, ?, ?, ?, ?, ?, ?)';
      if (!isSame) run(sql, service, id, title, model, isIncomplete ? 1 : 0, at, text);
      this.#chatTimes.set(id, at);
    });
  }

  /** Saves a choice between two answers, which outlives its conversation. False if it could not be saved. */
  saveChoice({ conversation, pair }: ChoiceRef, choice: unknown): boolean {
    const sql = 'insert or replace into choices (service, conversation, pair, choice) values (?, ?, ?, ?)';
    return this.#tables.run(sql, this.#tables.service, conversation, pair, JSON.stringify(choice));
  }

  removeChoice({ conversation, pair }: ChoiceRef): void {
    const sql = 'delete from choices where service = ? and conversation = ? and pair = ?';
    this.#tables.run(sql, this.#tables.service, conversation, pair);
  }

  /** The choices in all conversations. */
  choices(): { readonly conversation: string; readonly choice: unknown }[] {
    return this.#tables
      .all('select conversation, choice from choices where service = ?', this.#tables.service)
      .map(({ conversation, choice }) => ({ conversation: String(conversation), choice: jsonIn(choice) }));
  }

  /** Notes which version of a conversation is on screen. */
  openedChat({ id, at }: Pick<SavedChat, 'id' | 'at'>): void {
    this.#chatTimes.set(id, at);
  }

  forgetChat(id: string): void {
    this.#tables.run('delete from chats where service = ? and id = ?', this.#tables.service, id);
  }

  /** The conversations, most recent first. */
  chats(): SavedChat[] {
    const sql = 'select id, title, model, incomplete, at from chats where service = ? order by at desc';
    return this.#tables.all(sql, this.#tables.service).map(({ id, title, model, incomplete, at }) => ({
      id: String(id),
      title: String(title),
      model: String(model),
      isIncomplete: incomplete === 1,
      at: Number(at),
    }));
  }

  /** A conversation as it was saved, and when; undefined if there is none. */
  chat(id: string): { readonly talk: unknown; readonly at: number } | undefined {
    const sql = 'select talk, at from chats where service = ? and id = ?';
    const [row] = this.#tables.all(sql, this.#tables.service, id);
    return row && { talk: jsonIn(row['talk']), at: Number(row['at']) };
  }

  setting(name: string): unknown {
    const [row] = this.#tables.all('select value from settings where profile = ? and name = ?', this.#scope, name);
    return row && jsonIn(row['value']);
  }

  /** Does not wait for the disk, because a service's first response saves a value. */
  setSetting(name: string, value: unknown): void {
    const sql = 'insert or replace into settings (profile, name, value) values (?, ?, ?)';
    this.#tables.lazily(() => this.#tables.run(sql, this.#scope, name, JSON.stringify(value ?? null)));
  }

  /** Deletes everything not seen for 90 days, and the oldest data beyond the limits. */
  prune(now = Date.now()): void {
    this.flush();
    this.#tables.lazily(() => {
      this.seen.prune(now - keptMs);
      this.progress.prune(now - keptMs);
      this.lists.prune(now - keptMs);
      this.startKeys.prune(now - keptMs);
      this.events.prune(now - keptMs);
    });
  }

  /** Writes pending changes. Waits at most `busyMs` for other writers, if set. */
  close(busyMs?: number): void {
    if (busyMs !== undefined) this.#tables.waitAtMost(busyMs);
    this.flush();
    this.#tables.close();
  }
}
