/** Grades rollouts again in the background, for the screen. */
import { asError } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import { type ComparedRun, comparedRuns } from '../queries/compare.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { comparisonOptions } from '../resources/comparison.ts';
import { labelOf } from '../resources/define.ts';
import type { Place } from '../resources/place.ts';
import { counted } from '../text/numbers.ts';
import { type Owner, type OwnRollouts, readRollouts } from './read.ts';
import {
  type Gradable,
  type Grade,
  type LeftOut,
  type Regraded,
  regradeAll,
  regradedInOrder,
  rolloutsIn,
  separateGrades,
} from './regrade.ts';
import { describeGrader, type GraderChoice, regraderOf } from './regraders.ts';

/** The owner of rollouts, or the comparison whose runs they belong to. */
export type Regradable = Owner | Place<'compare'>;

export const isComparison = (of: Regradable): of is Place<'compare'> => 'view' in of;

export const regradableLabel = (of: Regradable): string =>
  isComparison(of) ? `${of.base.name} and ${of.new.name}` : labelOf(of.resource, of.row);

export interface RegradingState {
  readonly phase: 'reading' | 'grading' | 'done' | 'stopped' | 'failed';
  /** In order of completion. */
  readonly grades: readonly Grade[];
  /** The graded rollouts, flips first. */
  readonly rows: readonly Regraded[];
  /** The number of rollouts; 0 before they have been read. */
  readonly all: number;
  /** How many rollouts without an answer have been found so far. */
  readonly left: LeftOut;
  /** The compared runs with their stored rewards, if this is a comparison. */
  readonly runs: readonly ComparedRun[];
  /** Why rollouts may be missing. */
  readonly notes: OwnRollouts['notes'];
  readonly error: Error | undefined;
}

const initialState: RegradingState = {
  ...{ phase: 'reading', grades: [], rows: [], all: 0, runs: [], notes: [], error: undefined },
  left: { failed: 0, running: 0 },
};

/** Reads the rollouts to grade, without their steps. */
async function readGradable(
  of: Regradable,
  context: QueryContext,
): Promise<Pick<RegradingState, 'runs' | 'notes'> & { readonly rows: readonly Gradable[] }> {
  if (!isComparison(of)) return { runs: [], ...(await readRollouts(of, context)) };
  const { items, note, dropped } = await comparedRuns([of.base, of.new]).readPage({ ...context, query: {} });
  const unreadable = dropped > 0 ? `${counted(dropped, 'reward')} could not be read: not counted in these means` : '';
  return { runs: items, rows: rolloutsIn(items), notes: [note ?? '', unreadable].filter(Boolean) };
}

/** How many rollouts have an answer to grade, as far as known. */
export const gradableIn = ({ all, left: { failed, running } }: RegradingState): number => all - failed - running;

export const isUnderWay = ({ phase }: RegradingState): boolean => phase === 'reading' || phase === 'grading';

/** How far it is; empty once it has ended. */
export function describeProgress(state: RegradingState): string {
  const { phase, rows } = state;
  if (phase === 'reading') return 'Reading the rollouts';
  return phase === 'grading' ? `Graded ${rows.length} of ${gradableIn(state)}` : '';
}

/** Why there is no grade. @param state undefined if a different session made the grades, or too many came later */
export function describeNoGrades(state: RegradingState | undefined): string {
  if (!state) return 'These grades are no longer kept: regrade the rollouts';
  const { phase, all, left } = state;
  if (isUnderWay(state)) return 'Nothing has been graded yet';
  if (phase === 'stopped') return 'Stopped before anything was graded';
  if (phase === 'failed' || gradableIn(state) > 0) return 'Nothing was graded';
  const states = all === 0 ? '' : `: ${left.failed} failed, ${left.running} running`;
  return `There are no rollouts to grade${states}`;
}

/** Minimum interval between calls of a listener, in milliseconds. */
const notifyEveryMs = 100;

export class Regrading {
  readonly of: Regradable;
  readonly grader: GraderChoice;
  /** The lowest reward that passes. */
  readonly passAt: number;
  #state = initialState;
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new Listeners();

  constructor(of: Regradable, grader: GraderChoice, passAt: number) {
    this.of = of;
    this.grader = grader;
    this.passAt = passAt;
  }

  readonly state = (): RegradingState => this.#state;
  readonly subscribe = this.#listeners.subscribe;

  get isRunning(): boolean {
    return isUnderWay(this.#state);
  }

  /** The view of its grades, if it is kept under this id. */
  place(id: string): Place<'compare' | 'regrade'> {
    const grader = describeGrader(this.grader);
    if (isComparison(this.of)) return { ...this.of, regrading: { id, grader } };
    return { view: 'regrade', id, label: `${regradableLabel(this.of)} by ${grader}` };
  }

  readonly stop = (): void => this.#stop.abort(new Error('stopped'));

  /** Reads and grades the rollouts. Never rejects; the state holds the error. */
  async run(connect: (signal: AbortSignal) => Promise<QueryContext>): Promise<void> {
    const { signal } = this.#stop;
    let grades: readonly Grade[] = [];
    try {
      const context = await connect(signal);
      const { rows, ...own } = await readGradable(this.of, context);
      signal.throwIfAborted();
      this.#set({ phase: 'grading', all: rows.length, notes: own.notes, runs: own.runs });
      const grader = regraderOf(this.grader)(context.service, comparisonOptions(context.compare).range);
      await regradeAll(rows, grader, context, soFar => {
        grades = soFar;
        this.#timer ??= setTimeout(() => this.#show(grades), notifyEveryMs).unref();
      });
      this.#show(grades, { phase: 'done' });
    } catch (error) {
      this.#show(grades, signal.aborted ? { phase: 'stopped' } : { phase: 'failed', error: asError(error) });
    }
  }

  #show(grades: readonly Grade[], more: Partial<RegradingState> = {}): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { rows, left } = separateGrades(grades);
    this.#set({ grades: [...grades], rows: regradedInOrder(rows, this.passAt), left, ...more });
  }

  #set(state: Partial<RegradingState>): void {
    this.#state = { ...this.#state, ...state };
    this.#listeners.notify();
  }
}
