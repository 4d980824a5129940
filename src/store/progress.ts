/** Training runs' progress over time, which replaces the reward curve if a service has none. */
import type { SQLInputValue } from 'node:sqlite';
import type { Tables } from './tables.ts';

export interface ProgressPoint {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly completed_steps: number;
  /**
   * When the previous response arrived, with a different count: the step is newer than that. Undefined for the first
   * response.
   */
  readonly since?: number | undefined;
}

/** A period in which the responses showed no new step, in epoch milliseconds. */
export interface Silence extends Omit<ProgressPoint, 'since'> {
  readonly until: number;
}

const keptPoints = 2_000;
/** In milliseconds. Shorter silences are not saved; longer ones are updated this often. */
const silenceMs = 60_000;
/** Smaller clock changes are ignored. */
const minMoveMs = 1_000;

/** Caches points in memory, so that a screen can read them on every redraw. */
export class ProgressPoints {
  readonly #tables: Tables;
  readonly #points = new Map<string, readonly ProgressPoint[]>();
  #added: [runId: string, at: number, steps: number, since: number | null][] = [];
  #removed: [runId: string, at: number][] = [];
  /** The current silence of each run. */
  readonly #silences = new Map<string, Silence>();
  #unsaved: [runId: string, at: number, until: number, steps: number][] = [];
  /** Offset of the system clock from the monotonic clock at the last response about each run, in milliseconds. */
  readonly #leads = new Map<string, number>();
  /** When the last response about each run arrived, in epoch milliseconds. */
  readonly #answeredAt = new Map<string, number>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** A run's progress, oldest first; the same array until there is a new point. */
  of(runId: string): readonly ProgressPoint[] {
    const known = this.#points.get(runId) ?? this.#read(runId);
    this.#points.set(runId, known);
    return known;
  }

  /** The longer periods in which a run made no step, oldest first. */
  silencesOf(runId: string): readonly Silence[] {
    this.flush();
    const sql = 'select at, until, completed_steps from silences where profile = ? and run_id = ? order by at';
    return this.#tables.all(sql, this.#tables.scope, runId).map(({ at, until, completed_steps }) => ({
      at: Number(at),
      until: Number(until),
      completed_steps: Number(completed_steps),
    }));
  }

  /** Returns whether there is anything to write. Ignores an invalid count. */
  record(runId: string, completed_steps: number, at: number): boolean {
    if (!Number.isSafeInteger(completed_steps) || completed_steps < 0) return false;
    const points = this.#movedWithClock(runId);
    const last = points.at(-1);
    const since = this.#answeredAt.get(runId) ?? last?.at;
    this.#answeredAt.set(runId, at);
    if (last?.completed_steps === completed_steps) return this.#recordSilence(runId, last, at);
    const point = { at, completed_steps, since };
    this.#points.set(runId, [
      ...this.#thinned(
        runId,
        points.filter(each => each.at !== at),
      ),
      point,
    ]);
    this.#added.push([runId, at, completed_steps, since ?? null]);
    return true;
  }

  /**
   * Returns the points. If the system clock was set since the last response, moves the last point by the same amount,
   * because no time passed.
   */
  #movedWithClock(runId: string): readonly ProgressPoint[] {
    const points = this.of(runId);
    const last = points.at(-1);
    const lead = Date.now() - performance.now();
    const moveMs = Math.round(lead - (this.#leads.get(runId) ?? lead));
    this.#leads.set(runId, lead);
    if (!last || Math.abs(moveMs) < minMoveMs) return points;
    const since = last.since === undefined ? undefined : last.since + moveMs;
    const moved = { ...last, at: last.at + moveMs, since };
    const answeredAt = this.#answeredAt.get(runId);
    if (answeredAt !== undefined) this.#answeredAt.set(runId, answeredAt + moveMs);
    this.#removed.push([runId, last.at]);
    this.#added.push([runId, moved.at, moved.completed_steps, since ?? null]);
    const all = [...points.slice(0, -1), moved];
    this.#points.set(runId, all);
    return all;
  }

  #recordSilence(runId: string, point: ProgressPoint, until: number): boolean {
    const known = this.#silences.get(runId);
    const since = known?.at === point.at ? known.until : point.at;
    if (until - since < silenceMs) return false;
    this.#silences.set(runId, { ...point, until });
    this.#unsaved.push([runId, point.at, until, point.completed_steps]);
    return true;
  }

  /** Thins out the older half if there are too many points, which preserves the shape of the curve. */
  #thinned(runId: string, points: readonly ProgressPoint[]): readonly ProgressPoint[] {
    if (points.length < keptPoints) return points;
    const isThinned = (index: number): boolean => index < keptPoints / 2 && index % 2 === 1;
    for (const [index, { at }] of points.entries()) if (isThinned(index)) this.#removed.push([runId, at]);
    return points.filter((_, index) => !isThinned(index));
  }

  #read(runId: string): ProgressPoint[] {
    const sql = 'select at, completed_steps, since from progress where profile = ? and run_id = ? order by at';
    return this.#tables.all(sql, this.#tables.scope, runId).map(({ at, completed_steps, since }) => ({
      at: Number(at),
      completed_steps: Number(completed_steps),
      ...(since != null && { since: Number(since) }),
    }));
  }

  flush(): void {
    const write = (sql: string, rows: readonly (readonly SQLInputValue[])[]): unknown =>
      this.#tables.runAll(
        sql,
        rows.map(row => [this.#tables.scope, ...row]),
      );
    write(
      'insert or replace into progress (profile, run_id, at, completed_steps, since) values (?, ?, ?, ?, ?)',
      this.#added,
    );
    write('delete from progress where profile = ? and run_id = ? and at = ?', this.#removed);
    write(
      'insert or replace into silences (profile, run_id, at, until, completed_steps) values (?, ?, ?, ?, ?)',
      this.#unsaved,
    );
    this.#added = [];
    this.#removed = [];
    this.#unsaved = [];
  }

  /** Deletes older points. */
  prune(before: number): void {
    this.#tables.run('delete from progress where at < ?', before);
    this.#tables.run('delete from silences where until < ?', before);
  }
}
