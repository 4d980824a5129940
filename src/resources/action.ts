/**
 * What can be done to the rows of a resource. Declared once, next to its columns, for every way to it: key, menu,
 * palette, help, line mode, the command line and its completion.
 */
import type { Operation } from '../contract/endpoints.ts';
import { hasEnded, type MaybeStatus, statusMeaning } from '../contract/status.ts';
import type { Command } from '../present/command.ts';
import type { Action } from '../queries/action.ts';
import type { OptionsOperation } from '../queries/run-options.ts';
import type { LiveQuery } from '../queries/use-live.ts';
import type { Service } from '../service/index.ts';
import type { Place } from './place.ts';

/** How the end of a change is seen that takes time. */
export interface ChangeEnd<Row> {
  /** Whether this status is what was asked for. */
  readonly isDone: (status: string) => boolean;
  /** Whether this status is the last; by default that of work that has ended. */
  readonly isLast?: (status: string, before: Row) => boolean;
  /** The status now, if the service says one; by default as for running work. */
  readonly look?: (before: Row, service: Service, signal: AbortSignal) => Promise<string | undefined>;
  /** What had ended by itself is as good as changed. */
  readonly mayHaveEnded?: true;
}

/** What an action sends, for which a window or the command may ask for values. */
export interface Sending<Row = never> {
  readonly send: Action<Row>;
  /** The command that does it to rows by their names. */
  readonly command?: string;
  /** The operations whose answers the command prints: the request's and, with `--wait`, the record's in the end. */
  readonly prints?: readonly [sent: Operation, ended?: Operation];
  /** The kind of what it starts, and the operation that lists its options. */
  readonly kind?: string;
  readonly options?: OptionsOperation;
  /** What happens to a row, as a sentence with what it is called there. */
  readonly means?: (row: Row, called: string) => string;
}

/** The same for work that is started. */
export interface Start<Input = never> extends Sending<Input> {
  readonly send: Action<Input, object>;
  readonly command: string;
  readonly prints: readonly [started: Operation, ended: Operation];
  readonly kind: string;
}

/** A request for each row, which is confirmed first. Its command is one of line mode too. */
export interface Change<Row> extends Sending<Row> {
  /** What the button says, and what has happened then: `cancel`, `cancelled`. */
  readonly verb: string;
  readonly past: string;
  /** What is lost by it; follows the names of the rows. */
  readonly loses: string;
  /** The question, if it is not the verb and what it is for: `Cancel 2 runs?` */
  readonly asks?: (count: number) => string;
  /** What is said once it is done, if it is not `Cancelled first, second`. */
  readonly says?: (names: string) => string;
  /** The slugs that it takes out of production, which have to be typed before it; undefined if there are none. */
  readonly outage?: (rows: readonly Row[]) => readonly string[] | undefined;
  /** The operation that lists them. Without it, a name is not taken, because only one machine knows it. */
  readonly listedBy?: Operation;
  /** What `--wait` waits for. */
  readonly ends?: ChangeEnd<Row>;
  /** How to do it where it failed, if there is another way. */
  readonly advice?: (row: Row) => string | undefined;
}

/** Windows that ask for more than a confirmation; `ui/views` has them. */
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

/** The last answer of a query; undefined before. */
export type Known = <Data>(query: LiveQuery<Data>) => Data | undefined;

interface Target<Row> extends Command {
  /**
   * The rows among those chosen that it is done to; a sentence says why it cannot be done now.
   *
   * @param known the last answers of queries, where there are any
   */
  readonly to: (rows: readonly Row[], known?: Known) => readonly Row[] | string;
}

type Opens<Row> = (rows: readonly Row[]) => Place | ActionWindow;

/** An action on rows: it changes them, or opens a place or a window. */
export type RowAction<Row> = Target<Row> &
  (
    | { readonly change: Change<Row>; readonly opens?: never; readonly sends?: never }
    | { readonly opens: Opens<Row>; readonly sends?: Sending; readonly change?: never }
  );

export type ActionTable<Row> = Readonly<Record<string, RowAction<Row>>>;

/** For what is done to one row at a time. */
export function single<Row>(rows: readonly Row[]): readonly Row[] | string {
  return rows.length === 1 ? rows : `${rows.length} are marked; this is for one at a time`;
}

/** For what is done to all rows at once. */
export const all = <Row>(rows: readonly Row[]): readonly Row[] => rows;

/** For what is done to those rows that are still running. */
export function running<Row extends MaybeStatus>(rows: readonly Row[]): readonly Row[] | string {
  const going = rows.filter(({ status }) => !hasEnded(status));
  if (going.length > 0) return going;
  return rows.length === 1 ? 'It has ended already' : `All ${rows.length} have ended already`;
}

/** The end of work that was cancelled. It may have succeeded before it could be stopped. */
export const untilStopped = {
  isDone: (status: string): boolean => ['stopped', 'success'].includes(statusMeaning(status)),
  mayHaveEnded: true,
} as const;
