/** The outcome of each trajectory of a request, as the service reports it. */
import type { Failure } from '../contract/errors.ts';
import type { UploadedTrajectory, UploadTrajectoriesResult } from '../contract/trajectories.ts';
import { isStored, placedAnswer, saysWhy } from '../contract/upload-answer.ts';
import type { ServiceError } from '../service/errors.ts';
import type { SentItems, UploadCounts } from '../store/trajectory-records.ts';
import { clean, safeJson } from '../text/sanitise.ts';
import type { Item } from './trajectory-file.ts';

/** The words of the service, with what sometimes only the context of a failure holds. */
export interface Reason {
  readonly message: string | undefined;
  readonly code?: string | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
}

export interface Outcome extends Reason {
  /** Line of the file, or index in the array, from 1. */
  readonly line: number;
  /** The service's status; otherwise `failed`, `counted` if the service sends only counts, or `unknown`. */
  readonly status: string;
  /** Any status other than `uploaded`, `skipped`, `counted` and `unknown`, and any item with its own failure. */
  readonly failed: boolean;
  readonly trajectoryId: string | undefined;
  readonly traceId: string | undefined;
}

/** What the service said of a request as a whole. */
export interface BatchReport extends Reason {
  /** A failure of the batch, the summary of an answer that did not store all, or the error of the request. */
  readonly kind: 'failure' | 'summary' | 'error';
  /** The first and the last line of the request. */
  readonly lines: readonly [first: number, last: number];
  readonly docUrl?: string | undefined;
  readonly requestId?: string | undefined;
}

/** `it is too long (too_long)  {"field":"steps"}`; empty if there are no words. */
export function reasonWords({ message, code, context }: Reason): string {
  const named = message === undefined || code === undefined || message.includes(code) ? '' : ` (${code})`;
  return clean`${message ?? code ?? ''}${named}${context ? `  ${safeJson(context)}` : ''}`;
}

/** `lines 1 to 2: the service says: 1 of 2 stored`. */
export function reportWords({ kind, lines: [first, last], docUrl, requestId, ...reason }: BatchReport): string {
  const where = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  const what = { failure: 'a failure of the batch', summary: 'the service says', error: 'the request failed' }[kind];
  const more = [requestId && `request ${requestId}`, docUrl].filter(Boolean).join('  ');
  return clean`${where}: ${what}: ${reasonWords(reason)}${more && `  ${more}`}`;
}

export const noCounts: UploadCounts = { stored: 0, skipped: 0, failed: 0, unknown: 0 };

/** `1 stored`, `2 skipped`… */
export function countWords({ stored, skipped, failed, unknown }: UploadCounts): string[] {
  return [`${stored} stored`, `${skipped} skipped`, `${failed} failed`, ...(unknown > 0 ? [`${unknown} unknown`] : [])];
}

/** The number of items with a known outcome. */
export const handledItems = ({ stored, skipped, failed }: UploadCounts): number => stored + skipped + failed;

export function sumOf(left: UploadCounts, right: UploadCounts): UploadCounts {
  return {
    stored: left.stored + right.stored,
    skipped: left.skipped + right.skipped,
    failed: left.failed + right.failed,
    unknown: left.unknown + right.unknown,
  };
}

export function failedOutcome(line: number, message: string): Outcome {
  return { line, status: 'failed', failed: true, trajectoryId: undefined, traceId: undefined, message };
}

export function unknownOutcome(line: number, message: string): Outcome {
  return { line, status: 'unknown', failed: false, trajectoryId: undefined, traceId: undefined, message };
}

/** An item with its id in the record. */
interface NamedItem extends Item {
  readonly id: string;
}

/** The outcome of a request: per item, as counts, for the record, and of the request as a whole. */
export interface RequestOutcome {
  readonly outcomes: readonly Outcome[];
  readonly counts: UploadCounts;
  readonly items: SentItems;
  readonly reports?: readonly BatchReport[];
}

/** The outcome is unknown for all items. */
export function lost(sent: readonly NamedItem[], message: string): RequestOutcome {
  return {
    outcomes: sent.map(({ line }) => unknownOutcome(line, message)),
    counts: { ...noCounts, unknown: sent.length },
    items: { stored: [], skipped: [], unknown: sent.map(({ id }) => id) },
  };
}

/** All items were rejected, or not sent. */
export function rejected(
  sent: readonly NamedItem[],
  reasonOf: (item: Item, index: number) => Reason,
): Pick<RequestOutcome, 'outcomes' | 'counts' | 'items'> {
  return {
    outcomes: sent.map((item, index) => ({ ...failedOutcome(item.line, ''), ...reasonOf(item, index) })),
    counts: { ...noCounts, failed: sent.length },
    items: { stored: [], skipped: [], unknown: [] },
  };
}

/** All items were refused, with a reason per item if the service gives one. */
export function refusedOutcome(sent: readonly NamedItem[], error: ServiceError): RequestOutcome {
  const { failures, batchFailures } = placedAnswer(
    { trajectories: null, failures: [...error.failures] },
    valuesOf(sent),
  );
  const outcome = rejected(sent, (_, index) => {
    const own = failures.get(index);
    return saysWhy(own) ? reasonOf(own) : { message: error.message };
  });
  return { ...outcome, reports: [...batchFailures.map(each => failureReport(sent, each)), errorReport(sent, error)] };
}

/** The error of a request, without the failures of its items. */
export function errorReport(sent: readonly Item[], error: ServiceError): BatchReport {
  const { failures: _, ...context } = error.context ?? {};
  const { message, code, docUrl, requestId } = error;
  return { kind: 'error', lines: linesOf(sent), message, code, context: filled(context), docUrl, requestId };
}

const failureReport = (sent: readonly Item[], failure: Failure): BatchReport => ({
  kind: 'failure',
  lines: linesOf(sent),
  ...reasonOf(failure),
});

const valuesOf = (sent: readonly Item[]) => sent.map(({ value }) => value);

const linesOf = (sent: readonly Item[]): readonly [number, number] => [
  sent[0]?.line ?? 0,
  sent[sent.length - 1]?.line ?? 0,
];

/** An empty context says nothing. */
const filled = (context: Reason['context'] | null): Reason['context'] =>
  context && Object.keys(context).length > 0 ? context : undefined;

const reasonOf = ({ message, code, context }: Failure): Reason => ({
  message: message ?? code ?? undefined,
  code: code ?? undefined,
  context: filled(context),
});

/** What the answer says of one item; undefined if it says nothing. */
function ownOutcome(
  line: number,
  item: UploadedTrajectory | undefined,
  failure: Failure | undefined,
): Outcome | undefined {
  const reason = [item?.failure, failure].find(saysWhy) ?? (item ? undefined : failure);
  const status = item?.status ?? (reason ? 'failed' : undefined);
  if (status === undefined) return undefined;
  return {
    line,
    status,
    failed: reason !== undefined || !isStored(status),
    trajectoryId: item?.trajectory_id ?? undefined,
    traceId: item?.trace_id ?? undefined,
    ...(reason ? reasonOf(reason) : { message: undefined }),
  };
}

/** Reads the outcomes from a response. */
export function answered(sent: readonly NamedItem[], answer: UploadTrajectoriesResult): RequestOutcome {
  const { listed, failures, batchFailures } = placedAnswer(answer, valuesOf(sent));
  const own = sent.map(({ line }, index) => ownOutcome(line, listed.get(index), failures.get(index)));
  const known = (status: string): number => own.filter(each => isOf(each, status)).length;
  const others = othersOf(own.filter(each => each === undefined).length, {
    uploaded: countOf(answer.uploaded) - known('uploaded'),
    skipped: countOf(answer.skipped) - known('skipped'),
  });
  const outcomes = sent.map(({ line }, index): Outcome => {
    const outcome = own[index];
    if (outcome) return outcome;
    const { status } = others;
    if (status === undefined) return unknownOutcome(line, 'The service did not report what happened to this one.');
    return { line, status, failed: false, trajectoryId: undefined, traceId: undefined, message: undefined };
  });
  const named = (status: string): string[] =>
    sent.flatMap(({ id }, index) => (isOf(outcomes[index], status) ? [id] : []));
  const stored = named('uploaded');
  const skipped = named('skipped');
  const counted = named('counted');
  const unknown = named('unknown');
  const counts = {
    stored: stored.length + others.stored,
    skipped: skipped.length + others.skipped,
    failed: outcomes.filter(outcome => outcome.failed).length,
    unknown: unknown.length + counted.length - others.stored - others.skipped,
  };
  // Unless all items are accounted for, it is unknown which ones are stored.
  const isWhole = counted.length === others.stored + others.skipped;
  const items = isWhole
    ? {
        stored: [...stored, ...counted.slice(0, others.stored)],
        skipped: [...skipped, ...counted.slice(others.stored)],
        unknown,
      }
    : { stored, skipped, unknown: [...unknown, ...counted] };
  // The local service only repeats the counts.
  const isNews = counts.stored < sent.length && answer.message !== countWords(counts).join(', ');
  const summary = isNews ? answer.message?.trim() : undefined;
  const reports = [
    ...batchFailures.map(each => failureReport(sent, each)),
    ...(summary ? [{ kind: 'summary', lines: linesOf(sent), message: summary } as const] : []),
  ];
  return { outcomes, counts, items, reports };
}

const isOf = (outcome: Outcome | undefined, status: string): boolean =>
  outcome?.failed === false && outcome.status === status;

/** The count; 0 if it is missing or not a positive whole number. */
const countOf = (value: number | null | undefined): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;

/** Derives the outcome of items that the service does not list from its counts. */
function othersOf(size: number, { uploaded, skipped }: { readonly uploaded: number; readonly skipped: number }) {
  const stored = Math.min(Math.max(0, uploaded), size);
  const left = Math.min(Math.max(0, skipped), size - stored);
  const none = { stored: 0, skipped: 0 };
  if (stored === 0 && left === 0) return { ...none, status: undefined };
  if (stored === size) return { ...none, status: 'uploaded' };
  return left === size ? { ...none, status: 'skipped' } : { stored, skipped: left, status: 'counted' };
}
