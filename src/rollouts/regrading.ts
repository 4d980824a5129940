/** Grades rollouts again in the background, for the screen. */
import { asError } from '../base/errors.ts';
import { Listeners } from '../base/listeners.ts';
import { mean } from '../base/statistics.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { unfinishedState } from '../present/task-groups.ts';
import { type ComparedRun, comparedRuns } from '../queries/compare.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { trajectoryQuery } from '../queries/trajectories.ts';
import { comparisonOptions } from '../resources/comparison.ts';
import { labelOf } from '../resources/define.ts';
import type { NamedRun, Place } from '../resources/place.ts';
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
import { describeGrader, type GraderChoice, graderKey, judgeMessages, regraderOf } from './regraders.ts';

export type Comparison = Place<'compare' | 'compare-many'>;

/** The owner of rollouts, or the comparison whose runs they belong to. */
export type Regradable = Owner | Comparison;

export const isComparison = (of: Regradable): of is Comparison => 'view' in of;

const runsIn = (of: Comparison): readonly NamedRun[] => (of.view === 'compare' ? [of.base, of.new] : of.runs);

export function regradableLabel(of: Regradable): string {
  if (!isComparison(of)) return labelOf(of.resource, of.row);
  return of.view === 'compare' ? `${of.base.name} and ${of.new.name}` : `${of.runs.length} runs`;
}

export interface RegradingState {
  readonly phase: 'reading' | 'grading' | 'done' | 'stopped' | 'failed';
  /** In order of completion. */
  readonly grades: readonly Grade[];
  /** How many of them an earlier regrading had made. */
  readonly kept: number;
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
  ...{ phase: 'reading', grades: [], kept: 0, rows: [], all: 0, runs: [], notes: [], error: undefined },
  left: { failed: 0, running: 0 },
};

/** Reads the rollouts to grade, without their steps. */
async function readGradable(
  of: Regradable,
  context: QueryContext,
): Promise<Pick<RegradingState, 'runs' | 'notes'> & { readonly rows: readonly Gradable[] }> {
  if (!isComparison(of)) return { runs: [], ...(await readRollouts(of, context)) };
  const { items, note, dropped } = await comparedRuns(runsIn(of)).readPage({ ...context, query: {} });
  const unreadable = dropped > 0 ? `${counted(dropped, 'reward')} could not be read: not counted in these means` : '';
  return { runs: items, rows: rolloutsIn(items), notes: [note ?? '', unreadable].filter(Boolean) };
}

/** How many of the rollouts to read before a judge is asked about all. */
const maxSampled = 3;

/** The rollouts that a judge can grade, and the mean length of a request in characters if a few could be read. */
interface Judgeable {
  readonly ids: readonly string[];
  readonly characters: number | undefined;
}

export function judgedQuery(of: Regradable, rubric: string, range: Range): LiveQuery<Judgeable> {
  const ids = isComparison(of) ? runsIn(of).map(({ id }) => id) : [of.resource.names[0], of.id];
  return {
    key: ['judged', ids, rubric],
    activity: () => 'settled',
    read: async context => {
      const { rows } = await readGradable(of, context);
      const gradable = rows.filter(row => !unfinishedState(row));
      const every = Math.ceil(gradable.length / maxSampled);
      const some = gradable.filter((_, index) => index % every === 0);
      const lengths = await Promise.all(
        some.map(({ trajectory_id }) =>
          trajectoryQuery(trajectory_id)
            .read(context)
            .then(each => judgeMessages(each, rubric, range).reduce((sum, { content }) => sum + content.length, 0))
            .catch(() => []),
        ),
      );
      return { ids: gradable.map(({ trajectory_id }) => trajectory_id), characters: mean(lengths.flat()) };
    },
  };
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

/** How many grades were not made again; empty if none. @param key the key that grades again */
export const describeKept = ({ phase, kept, rows }: RegradingState, key: string): string =>
  phase === 'done' && kept > 0
    ? `${kept} of ${counted(rows.length, 'grade')} kept from before: ${key} grades ${kept === rows.length ? 'again' : 'the others again'}`
    : '';

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

/** Equal for regradings whose grades are the same. */
const gradesKey = (grader: GraderChoice, range: Range): string => JSON.stringify([graderKey(grader), range]);

/** Minimum interval between calls of a listener, in milliseconds. */
const notifyEveryMs = 100;

export class Regrading {
  readonly of: Regradable;
  readonly grader: GraderChoice;
  /** The lowest reward that passes. */
  readonly passAt: number;
  #state = initialState;
  /** Identifies the grader and the range of rewards, once it grades. */
  #key = '';
  readonly #makesAll: boolean;
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new Listeners();

  /** @param makesAll whether to make all grades, even those that are kept */
  constructor(of: Regradable, grader: GraderChoice, passAt: number, makesAll = false) {
    this.of = of;
    this.grader = grader;
    this.passAt = passAt;
    this.#makesAll = makesAll;
  }

  /** The same regrading once more: of the rollouts that lack a grade, or else of all. */
  again(of = this.of): Regrading {
    const { phase, rows } = this.#state;
    return new Regrading(of, this.grader, this.passAt, phase === 'done' && rows.every(({ error }) => !error));
  }

  readonly state = (): RegradingState => this.#state;
  readonly subscribe = this.#listeners.subscribe;

  get isRunning(): boolean {
    return isUnderWay(this.#state);
  }

  /** The view of its grades, if it is kept under this id. */
  place(id: string): Comparison | Place<'regrade'> {
    const grader = describeGrader(this.grader);
    if (isComparison(this.of)) {
      // A comparison that is regraded already is replaced, so the place below stays as it is.
      const { regrading = { isAboveStored: true } } = this.of;
      return { ...this.of, regrading: { ...regrading, id, grader } };
    }
    return { view: 'regrade', id, label: `${regradableLabel(this.of)} by ${grader}` };
  }

  /** The grades by this grader that are not made again, by trajectory. @param earlier other regradings */
  keptOf(earlier: readonly Regrading[], range: Range): ReadonlyMap<string, Regraded> {
    const key = gradesKey(this.grader, range);
    const known = this.#makesAll ? [] : earlier.filter(each => each.#key === key);
    const made = known.flatMap(({ state }) => state().rows.filter(row => row.new_reward !== undefined));
    return new Map(made.map(row => [row.trajectory_id, row]));
  }

  readonly stop = (): void => this.#stop.abort(new Error('stopped'));

  /**
   * Reads and grades the rollouts. Never rejects; the state holds the error.
   *
   * @param earlier the regradings whose grades need not be made again, if the grader is the same
   */
  async run(
    connect: (signal: AbortSignal) => Promise<QueryContext>,
    earlier: readonly Regrading[] = [],
  ): Promise<void> {
    const { signal } = this.#stop;
    let grades: readonly Grade[] = [];
    try {
      const context = await connect(signal);
      const { rows, ...own } = await readGradable(this.of, context);
      signal.throwIfAborted();
      this.#set({ phase: 'grading', all: rows.length, notes: own.notes, runs: own.runs });
      const { range } = comparisonOptions(context.compare);
      this.#key = gradesKey(this.grader, range);
      const kept = this.keptOf(earlier, range);
      this.#set({ kept: rows.filter(row => kept.has(row.trajectory_id)).length });
      const onGrade = (soFar: readonly Grade[]): void => {
        grades = soFar;
        this.#timer ??= setTimeout(() => this.#show(grades), notifyEveryMs).unref();
      };
      await regradeAll(rows, regraderOf(this.grader)(context.service, range), context, onGrade, kept);
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
