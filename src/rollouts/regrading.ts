/** Grades a run's rollouts again in the background, for the screen. */
import { asError } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { comparisonOptions } from '../resources/comparison.ts';
import { type Owner, type OwnRollouts, readRollouts } from './read.ts';
import { type LeftOut, type Regraded, regradeAll, regradedInOrder } from './regrade.ts';
import { type GraderChoice, regraderOf } from './regraders.ts';

export interface RegradingState {
  readonly phase: 'reading' | 'grading' | 'done' | 'stopped' | 'failed';
  /** The graded rollouts, flips first. */
  readonly rows: readonly Regraded[];
  /** The number of rollouts; 0 before they have been read. */
  readonly all: number;
  /** How many rollouts without an answer have been found so far. */
  readonly left: LeftOut;
  /** Why rollouts may be missing. */
  readonly notes: OwnRollouts['notes'];
  readonly error: Error | undefined;
}

const initialState: RegradingState = {
  ...{ phase: 'reading', rows: [], all: 0, notes: [], error: undefined },
  left: { failed: 0, running: 0 },
};

/** How many rollouts have an answer to grade, as far as known. */
export const gradableIn = ({ all, left: { failed, running } }: RegradingState): number => all - failed - running;

/** Minimum interval between calls of a listener, in milliseconds. */
const notifyEveryMs = 100;

export class Regrading {
  readonly owner: Owner;
  readonly grader: GraderChoice;
  /** The lowest reward that passes. */
  readonly passAt: number;
  #state = initialState;
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new Listeners();

  constructor(owner: Owner, grader: GraderChoice, passAt: number) {
    this.owner = owner;
    this.grader = grader;
    this.passAt = passAt;
  }

  readonly state = (): RegradingState => this.#state;
  readonly subscribe = this.#listeners.subscribe;

  get isRunning(): boolean {
    return this.#state.phase === 'reading' || this.#state.phase === 'grading';
  }

  readonly stop = (): void => this.#stop.abort(new Error('stopped'));

  /** Reads and grades the rollouts. Never rejects; the state holds the error. */
  async run(connect: (signal: AbortSignal) => Promise<QueryContext>): Promise<void> {
    const { signal } = this.#stop;
    const graded: Regraded[] = [];
    const left = { failed: 0, running: 0 };
    try {
      const context = await connect(signal);
      const rollouts = await readRollouts(this.owner, context);
      signal.throwIfAborted();
      const { rows, notes } = rollouts;
      this.#set({ phase: 'grading', all: rows.length, notes });
      const grader = regraderOf(this.grader)(context.service, comparisonOptions(context.compare).range);
      const showSoon = (): void => {
        this.#timer ??= setTimeout(() => this.#show(graded, left), notifyEveryMs).unref();
      };
      await regradeAll(rows, grader, context, {
        onGraded: row => {
          graded.push(row);
          showSoon();
        },
        onLeftOut: state => {
          left[state] += 1;
          showSoon();
        },
      });
      this.#show(graded, left, { phase: 'done' });
    } catch (error) {
      this.#show(graded, left, signal.aborted ? { phase: 'stopped' } : { phase: 'failed', error: asError(error) });
    }
  }

  #show(graded: readonly Regraded[], left: LeftOut, more: Partial<RegradingState> = {}): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#set({ rows: regradedInOrder(graded, this.passAt), left: { ...left }, ...more });
  }

  #set(state: Partial<RegradingState>): void {
    this.#state = { ...this.#state, ...state };
    this.#listeners.notify();
  }
}
