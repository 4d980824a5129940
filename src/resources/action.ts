/**
 * Actions on the rows of a resource. Each is declared once, beside the columns, and serves keys, menu, palette, help,
 * line mode, the command line and completion.
 */
import type { Operation } from '../contract/endpoints.ts';
import { hasEnded, type MaybeStatus, statusMeaning } from '../contract/status.ts';
import type { Command } from '../present/command.ts';
import type { CostedRun, KnownCost } from '../present/start-cost.ts';
import type { Action } from '../queries/action.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import type { OptionsOperation, RunInput } from '../queries/run-options.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from '../store/store.ts';
import type { PriceUnit } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import type { Place } from './place.ts';

/** The resources that both a start request and its response name, with their fields. */
const comparedFields = [
  ['benchmark', 'bench_id', 'bench_id'],
  ['checkpoint', 'parent_checkpoint_id', 'checkpoint'],
  ['checkpoint', 'checkpoint_id', 'checkpoint_id'],
] as const;

/** A sentence if the response to a start request names a different benchmark or checkpoint than was requested. */
export function describeWrongStart(answer: object, input: object): string | undefined {
  const [answered, requested] = [answer, input] as readonly Readonly<Record<string, unknown>>[];
  const others = comparedFields.flatMap(([name, answerField, inputField]) => {
    const [started, wanted] = [answered?.[answerField], requested?.[inputField]];
    const differs = typeof started === 'string' && typeof wanted === 'string' && started !== wanted;
    return differs ? [clean`the ${name} ${started}, not ${wanted}`] : [];
  });
  return others.length === 0
    ? undefined
    : `The service did not start what you requested: its response names ${others.join(', and ')}.`;
}

/** How to recognise that a slow change is complete. */
export interface ChangeEnd<Row> {
  /** Whether this status means that the change is complete. */
  readonly isDone: (status: string) => boolean;
  /** Whether this status is final; by default, whether it is the status of ended work. */
  readonly isLast?: (status: string, before: Row) => boolean;
  /** Reads the current status; by default, as for running work. Undefined if the service reports none. */
  readonly readStatus?: (before: Row, service: Service, signal: AbortSignal) => Promise<string | undefined>;
  /** Set if a resource that ended on its own counts as changed. */
  readonly mayHaveEnded?: true;
}

/** An action's request. The user may be asked for its values in a window or by the command. */
export interface Sending<Row = never> {
  readonly send: Action<Row>;
  /** Its command, which takes row names as arguments. */
  readonly command?: string;
  /** The operations whose responses the command prints: the request and, with `--wait`, the final record. */
  readonly prints?: readonly [sent: Operation, ended?: Operation];
  /** The kind of resource it starts, and the operation that lists its options. */
  readonly kind?: string;
  readonly options?: OptionsOperation;
  /** The operation that lists the rows. If the service lacks it, names are resolved from the remembered rows. */
  readonly listedBy?: Operation;
  /** The effect on a row, as a sentence that includes the row's name. */
  readonly describeEffect?: (row: Row, called: string) => string;
}

/** An action that starts work. */
export interface Start<Input = never> extends Sending<Input> {
  readonly send: Action<Input, object>;
  readonly command: string;
  readonly prints: readonly [started: Operation, ended: Operation];
  readonly kind: string;
}

/** An action that starts a run on a benchmark, and the fields of its form. */
export interface RunStart extends Start<RunInput> {
  readonly options: OptionsOperation;
  /** Integer options to ask for if the service lists no options. */
  readonly defaultOptions?: readonly string[];
  /** Set if its form can start several models and seeds at once. */
  readonly startsSeveral?: true;
  /** Set if a checkpoint implies the model; otherwise both are required. */
  readonly checkpointIsModel?: true;
  /** The cost of the runs, in words. */
  readonly cost: (runs: readonly CostedRun[], known?: KnownCost, unit?: PriceUnit | undefined) => string;
  /** The query for the other inputs of the cost, for a benchmark and a model. */
  readonly costQuery: (benchId: string, model: string) => LiveQuery<KnownCost>;
  /** Set if the service names the run when the user does not. */
  readonly mayBeUnnamed?: true;
}

/** A slug that would lose its deployment, or a deployment that would lose its origin. */
export interface Outage {
  /** The slug, which the user types to confirm; the row's name if the slug is unknown. */
  readonly slug: string;
  /** False if the deployment may not be in production. It is then treated as if it were. */
  readonly isCertain: boolean;
  /** Whether the deployment serves its slug, but has the role of a test. */
  readonly isTest?: boolean;
  /** Set if only the origin would be lost: names the deployment, or says why it is unknown. */
  readonly origin?: string;
}

/** A request for each row, confirmed first. Its command is available in line mode too. */
export interface Change<Row> extends Sending<Row> {
  /** The verb on the button, and its past participle: `cancel`, `cancelled`. */
  readonly verb: string;
  readonly participle: string;
  /** What is lost, in words that follow the row names. */
  readonly consequence: string;
  /** Names a row in the question, if its label may be ambiguous. */
  readonly nameOfRow?: (row: Row) => string;
  /** The question; by default, the verb and its object: `Cancel 2 runs?` */
  readonly confirmTitle?: (count: number) => string;
  /** The message after success; by default, `Cancelled first, second`. */
  readonly successMessage?: (names: string) => string;
  /** The words that replace `participle` if the response reports a smaller change. */
  readonly partialOutcome?: (answer: unknown) => string | undefined;
  /**
   * The slugs that would lose their deployment, which the user must type to confirm; empty only if it is certain that
   * none would.
   */
  readonly outages?: (row: Row) => readonly Outage[];
  /** Reads the data for `outages` that a row's own record lacks, and adds it to the rows. Throws only if aborted. */
  readonly withProduction?: (rows: readonly Row[], context: QueryContext) => Promise<readonly Row[]>;
  /** Reads the data that only `nameOfRow` needs, while the question is shown, and adds it to the rows. */
  readonly withNames?: (rows: readonly Row[], context: QueryContext) => Promise<readonly Row[]>;
  /** The change that `--wait` waits for. */
  readonly waitUntil?: ChangeEnd<Row>;
  /** Why the request cannot be made for a row, with advice. */
  readonly blockedReason?: (row: Row) => string | undefined;
}

/** Windows of `ui/views` that ask for more than a confirmation. */
export type ActionWindow =
  | 'compare'
  | 'complete'
  | 'continue'
  | 'deploy'
  | 'evaluate'
  | 'evaluate checkpoint'
  | 'promote'
  | 'replace secret'
  | 'reward'
  | 'secret'
  | 'train';

/** The last result of a query; undefined before the first. */
export type Known = <Data>(query: LiveQuery<Data>) => Data | undefined;

interface Target<Row> extends Command {
  /**
   * Returns the chosen rows that it applies to, or a sentence saying why it is disabled.
   *
   * @param known looks up a query's last result
   */
  readonly appliesTo: (rows: readonly Row[], known?: Known) => readonly Row[] | string;
}

/** @param memory what this machine remembers about the service */
type Opens<Row> = (rows: readonly Row[], memory: RememberedStore) => Place | ActionWindow;

/** An action that changes rows. */
export type ChangeAction<Row> = Target<Row> & {
  readonly change: Change<Row>;
  readonly opens?: never;
  readonly sends?: never;
};

/** An action on rows: it changes them, or opens a place or a window. */
export type RowAction<Row> =
  | ChangeAction<Row>
  | (Target<Row> & {
      readonly opens: Opens<Row>;
      readonly sends?: Sending | RunStart;
      readonly change?: never;
    });

export type ActionTable<Row> = Readonly<Record<string, RowAction<Row>>>;

export function single<Row>(rows: readonly Row[]): readonly Row[] | string {
  return rows.length === 1 ? rows : `${rows.length} are marked; this works on one at a time`;
}

/** For actions that take all chosen rows at once. */
export const all = <Row>(rows: readonly Row[]): readonly Row[] => rows;

/** For actions on rows that are still running. */
export function running<Row extends MaybeStatus>(rows: readonly Row[]): readonly Row[] | string {
  const going = rows.filter(({ status }) => !hasEnded(status));
  if (going.length > 0) return going;
  return rows.length === 1 ? 'It has already ended' : `All ${rows.length} have already ended`;
}

/** A cancellation is complete when the work has stopped, or succeeded before it could be stopped. */
export const untilStopped = {
  isDone: (status: string): boolean => ['stopped', 'success'].includes(statusMeaning(status)),
  mayHaveEnded: true,
} as const;
