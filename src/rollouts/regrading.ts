/** Grading the rollouts of a run again in the background, for the screen. */
import { asError } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { comparisonOptions } from '../resources/comparison.ts';
import { type Owner, type OwnRollouts, readRollouts } from './read.ts';
import { gradableIn, type Regraded, regradeAll, regradedInOrder } from './regrade.ts';
import { type GraderChoice, regraderOf } from './regraders.ts';

export interface RegradingState {
  readonly phase: 'reading' | 'grading' | 'done' | 'stopped' | 'failed';
  /** The graded rollouts; the flips first. */
  readonly rows: readonly Regraded[];
  /** The number of rollouts to grade, and of those without an answer. Known after reading. */
  readonly gradable: number;
  readonly failed: number;
  /** Why rollouts may be missing. */
  readonly notes: OwnRollouts['notes'];
  readonly error: Error | undefined;
}

const begun: RegradingState = { phase: 'reading', rows: [], gradable: 0, failed: 0, notes: [], error: undefined };

/** Minimum interval between calls of a listener in milliseconds. */
const notifyEveryMs = 100;

export class Regrading {
  readonly owner: Owner;
  readonly grader: GraderChoice;
  /** The lowest reward that passes. */
  readonly passAt: number;
  #state = begun;
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

  /** Reads and grades the rollouts. Never rejects: the state has the error. */
  async run(connect: () => Promise<Omit<QueryContext, 'signal'>>): Promise<void> {
    const { signal } = this.#stop;
    const graded: Regraded[] = [];
    try {
      const context = { ...(await connect()), signal };
      const rollouts = await readRollouts(this.owner, context);
      signal.throwIfAborted();
      const { gradable, failed } = gradableIn(rollouts);
      this.#set({ phase: 'grading', gradable: gradable.length, failed, notes: rollouts.notes });
      const grader = regraderOf(this.grader)(context.service, comparisonOptions(context.compare).range);
      await regradeAll(gradable, grader, context, row => {
        graded.push(row);
        this.#timer ??= setTimeout(() => this.#show(graded), notifyEveryMs).unref();
      });
      this.#show(graded, { phase: 'done' });
    } catch (error) {
      this.#show(graded, signal.aborted ? { phase: 'stopped' } : { phase: 'failed', error: asError(error) });
    }
  }

  #show(graded: readonly Regraded[], more: Partial<RegradingState> = {}): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#set({ rows: regradedInOrder(graded, this.passAt), ...more });
  }

  #set(state: Partial<RegradingState>): void {
    this.#state = { ...this.#state, ...state };
    this.#listeners.notify();
  }
}
