/**
 * Compares the outcomes that the user saw with the data of the service. The laws: acknowledged writes are stored,
 * nothing is stored twice, writes reported as not done are not stored, and ended runs stay ended.
 */
import type { LocalService } from './local-service.ts';

/** The outcome of a write according to its answer. */
export type Outcome = 'done' | 'not done' | 'unknown';

interface Thing {
  /** Whether it may exist, and whether it may be missing. */
  mayBe: boolean;
  mayLack: boolean;
  /** Number of writes in flight. */
  open: number;
  /** Whether two writes overlapped. */
  overlaps: boolean;
  id: string | undefined;
  /** The final status that was shown. */
  ended: string | undefined;
}

interface Kind {
  readonly what: string;
  readonly sql: string;
}

const kinds = {
  run: {
    what: 'the run',
    sql: "select eval_run_id as id, display_name as name, status from eval_runs where display_name like 'run %'",
  },
  secret: {
    what: 'the secret',
    sql: "select secret_id as id, name, '' as status from secrets where name like 'SECRET!_%' escape '!'",
  },
  trajectory: {
    what: 'the trajectory',
    sql: "select trajectory_id as id, trace_id as name, '' as status from trajectories where trace_id like 'trace %'",
  },
  reward: {
    what: 'the reward',
    sql: "select trajectory_id || ' ' || reward_id as id, reward_id as name, '' as status from reward_logs",
  },
} as const satisfies Record<string, Kind>;
export type Noted = keyof typeof kinds;

export class Ledger {
  readonly #things: Record<Noted, Map<string, Thing>> = {
    run: new Map(),
    secret: new Map(),
    trajectory: new Map(),
    reward: new Map(),
  };
  readonly #fail: (what: string) => void;

  constructor(fail: (what: string) => void) {
    this.#fail = fail;
  }

  #thing(kind: Noted, name: string): Thing {
    let thing = this.#things[kind].get(name);
    if (!thing) {
      thing = { mayBe: false, mayLack: true, open: 0, overlaps: false, id: undefined, ended: undefined };
      this.#things[kind].set(name, thing);
    }
    return thing;
  }

  /**
   * Call this before a write is sent, since it may have happened from then on. Returns a function for its outcome.
   * The order of two overlapping writes is unknown.
   */
  begin(kind: Noted, name: string, write: 'make' | 'remove'): (outcome: Outcome, id?: string) => void {
    const thing = this.#thing(kind, name);
    const { mayBe, mayLack } = thing;
    thing.open += 1;
    thing.overlaps ||= thing.open > 1;
    if (write === 'make') thing.mayBe = true;
    else thing.mayLack = true;
    return (outcome, id) => {
      if (id !== undefined) thing.id = id;
      if (outcome === 'done') [thing.mayBe, thing.mayLack] = write === 'make' ? [true, false] : [false, true];
      if (outcome === 'not done') [thing.mayBe, thing.mayLack] = [mayBe, mayLack];
      if (thing.overlaps) [thing.mayBe, thing.mayLack] = [true, true];
      thing.open -= 1;
      thing.overlaps &&= thing.open > 0;
    };
  }

  /** The names that have an id and may exist. */
  known(kind: Noted): readonly { readonly name: string; readonly id: string }[] {
    return [...this.#things[kind]].flatMap(([name, { id, mayBe }]) =>
      mayBe && id !== undefined ? [{ name, id }] : [],
    );
  }

  /** Another writer changed the resource at this address. */
  touched(url: string): void {
    for (const things of Object.values(this.#things)) {
      for (const thing of things.values()) if (thing.id !== undefined && url.includes(thing.id)) thing.mayLack = true;
    }
  }

  /** Records a status that was shown; `hasEnded` if it is final. */
  saw(name: string, status: string, hasEnded: boolean): void {
    const thing = this.#thing('run', name);
    if (thing.ended !== undefined && status !== thing.ended) {
      this.#fail(`the run ${name} was ${thing.ended}, and is ${status} now`);
    }
    if (hasEnded) thing.ended = status;
  }

  /** Checks everything against the service's data. */
  audit(service: LocalService): void {
    for (const [kind, { what, sql }] of Object.entries(kinds) as [Noted, Kind][]) {
      const rows = Map.groupBy(service.rows<{ id: string; name: string; status: string }>(sql), ({ name }) => name);
      for (const [name, same] of rows) {
        const thing = this.#things[kind].get(name);
        if (same.length > 1) this.#fail(`${what} ${name} is there ${same.length} times`);
        if (!thing?.mayBe) this.#fail(`${what} ${name} exists, but was not created or was removed`);
        const [{ status = '' } = {}] = same;
        if (thing?.ended !== undefined && status !== thing.ended)
          this.#fail(`${what} ${name} was ${thing.ended}, and is stored as ${status}`);
      }
      for (const [name, { mayLack }] of this.#things[kind]) {
        if (!mayLack && !rows.has(name)) this.#fail(`${what} ${name} was acknowledged, but is missing`);
      }
    }
  }
}
