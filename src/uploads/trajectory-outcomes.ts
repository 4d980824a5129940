/** The outcome for each trajectory in a request, as the service reports it. */
import type { Failure } from '../contract/errors.ts';
import type { UploadTrajectoriesResult } from '../contract/trajectories.ts';
import { type ItemOutcome, readAnswer, refusedItems, saysWhy } from '../contract/upload-answer.ts';
import { ServiceError } from '../service/errors.ts';
import type { Other, SentItems, SentRequest, UploadCounts } from '../store/sent-record.ts';
import { bytes } from '../text/numbers.ts';
import { clean, safeJson } from '../text/sanitise.ts';
import { clockOrDay } from '../text/time.ts';
import type { Item } from './trajectory-file.ts';

/** The service's message, with a failure's code and context. */
export interface Reason {
  readonly message: string | undefined;
  readonly code?: string | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
}

export interface Outcome extends Reason {
  /** Its line in the file, or its index in the array, from 1. */
  readonly line: number;
  /** Its place in the file in words. */
  readonly place: string;
  /** `uploaded`, `skipped`, `counted`, `unknown`, or the service's word for a failure. */
  readonly status: string;
  /** Certainly not stored: the next run sends it again. */
  readonly failed: boolean;
  /** Whether the response reports that it failed, or contradicts itself, regardless of the status. */
  readonly isReported?: boolean;
  readonly trajectoryId: string | undefined;
  readonly traceId: string | undefined;
}

/** The service's report on a request as a whole. */
export interface BatchReport extends Reason {
  /** A failure of the batch, the summary in a response that did not store every item, or the request's error. */
  readonly kind: 'failure' | 'summary' | 'error';
  /** The request's first and last line. */
  readonly lines: readonly [first: number, last: number];
  /** The index in a failure, unless it certainly refers to a line. */
  readonly itemIndex?: number | undefined;
  readonly docUrl?: string | undefined;
  readonly requestId?: string | undefined;
}

/** `it is too long (too_long) {"field":"steps"}`; empty without details. */
export function describeReason({ message, code, context }: Reason): string {
  const named = message === undefined || code === undefined || message.includes(code) ? '' : ` (${code})`;
  return clean`${message ?? code ?? ''}${named}${context ? `  ${safeJson(context)}` : ''}`;
}

/** E.g. `lines 1 to 2: the service reports: 1 of 2 stored`. */
export function describeReport({
  kind,
  lines: [first, last],
  itemIndex,
  docUrl,
  requestId,
  ...reason
}: BatchReport): string {
  const place = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  const title = { failure: 'a failure of the batch', summary: 'the service reports', error: 'the request failed' }[
    kind
  ];
  const more = [requestId && `request ${requestId}`, docUrl].filter(Boolean).join('  ');
  const index = itemIndex === undefined ? '' : `item_index ${itemIndex}: `;
  return clean`${place}: ${title}: ${index}${describeReason(reason)}${more && `  ${more}`}`;
}

export const noCounts: UploadCounts = { stored: 0, skipped: 0, failed: 0, unknown: 0 };

/** How many items were sent before, but only for another agent or with another key. */
type OtherCounts = Readonly<Partial<Record<Other, number>>>;

export const totalOf = (others: OtherCounts): number => Object.values(others).reduce((total, each) => total + each, 0);

/** ` for another agent or with another API key`, or empty: completes `sent before`. */
export const howSent = (others: Partial<Record<Other, unknown>>): string =>
  Object.keys(others)
    .map((how, index) => ` ${index > 0 ? 'or ' : ''}${how}`)
    .join('');

const maybeNotes: Readonly<Record<Other, string>> = {
  'for another agent': 'maybe the same agent under another name',
  'with another API key': 'maybe to another organization',
};

/** `1 sent before with another API key, maybe to another organization`. */
export const otherWarnings = (others: OtherCounts): string[] =>
  Object.entries(others).map(([how, count]) => `${count} sent before ${how}, ${maybeNotes[how as Other]}.`);

/**
 * E.g. `1 stored`, `2 skipped`…
 *
 * @param before how many more items an earlier run sent
 * @param others how many more items were sent for another agent or with another key
 */
export function describeCounts(
  { stored, skipped, failed, unknown }: UploadCounts,
  before = 0,
  others: OtherCounts = {},
): string[] {
  const more = [
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
    ...(before > 0 ? [`${before} sent before`] : []),
    ...Object.entries(others).map(([how, count]) => `${count} sent before ${how}`),
  ];
  return [`${stored} stored`, `${skipped} skipped`, `${failed} failed`, ...more];
}

/** Items that an earlier run sent. */
export interface SentBefore {
  readonly count: number;
  /** When the first and the last of them were sent, in epoch milliseconds. */
  readonly first: number;
  readonly last: number;
  /** How many of them were sent only for another agent or with another key. */
  readonly others: OtherCounts;
}

/** `10:04:05`, or `2026-03-04 10:04 to 2026-03-05 09:00`. */
export const sentTimes = ({ first, last }: Pick<SentBefore, 'first' | 'last'>): string =>
  [...new Set([clockOrDay(first), clockOrDay(last)])].join(' to ');

/** The number of items whose outcome is known. */
export const handledItems = ({ stored, skipped, failed }: UploadCounts): number => stored + skipped + failed;

export function sumOf(left: UploadCounts, right: UploadCounts): UploadCounts {
  return {
    stored: left.stored + right.stored,
    skipped: left.skipped + right.skipped,
    failed: left.failed + right.failed,
    unknown: left.unknown + right.unknown,
  };
}

export function differenceOf(from: UploadCounts, counts: UploadCounts): UploadCounts {
  const { stored, skipped, failed, unknown } = counts;
  return sumOf(from, { stored: -stored, skipped: -skipped, failed: -failed, unknown: -unknown });
}

/** The counts of items that the service reported only in total. */
export const unknownCountsOf = ({ unknown, counted }: SentRequest): UploadCounts => ({
  ...noCounts,
  ...counted,
  unknown: unknown.length - counted.stored - counted.skipped,
});

export function failedOutcome({ line, place }: Item, message: string): Outcome {
  return { line, place, status: 'failed', failed: true, trajectoryId: undefined, traceId: undefined, message };
}

function unknownOutcome({ line, place }: Item, message: string): Outcome {
  return { line, place, status: 'unknown', failed: false, trajectoryId: undefined, traceId: undefined, message };
}

/** An item with its id in the record. */
interface NamedItem extends Item {
  readonly id: string;
}

/** The outcome of a request: per item, as counts, for the record, and as reports on the whole request. */
export interface RequestOutcome {
  readonly outcomes: readonly Outcome[];
  readonly counts: UploadCounts;
  readonly items: SentItems;
  readonly reports?: readonly BatchReport[];
}

const noneCounted = { stored: 0, skipped: 0 };

/** No item was sent, or all were rejected. */
export const nothingSent: SentItems = { stored: [], skipped: [], unknown: [], counted: noneCounted };

/** The outcome is unknown for all items. */
export function lostOutcome(sent: readonly NamedItem[], message: string): RequestOutcome {
  return {
    outcomes: sent.map(item => unknownOutcome(item, message)),
    counts: { ...noCounts, unknown: sent.length },
    items: { ...nothingSent, unknown: sent.map(({ id }) => id) },
  };
}

/**
 * The items of an earlier request whose outcome is still unknown. If the service counted items of the request as stored
 * or skipped, at least that many of these are, minus items that are no longer in the file.
 */
export function heldOutcome(
  sent: readonly NamedItem[],
  { unknown, counted }: Pick<SentRequest, 'unknown' | 'counted'>,
  message: string,
): Pick<RequestOutcome, 'outcomes' | 'counts'> {
  const others = unknown.length - sent.length;
  const stored = Math.max(0, counted.stored - others);
  const skipped = Math.max(0, counted.skipped - others);
  const isCounted = stored + skipped > 0;
  return {
    outcomes: sent.map(item => ({
      ...unknownOutcome(item, message),
      ...(isCounted && { status: statuses.counted }),
    })),
    counts: { ...noCounts, stored, skipped, unknown: sent.length - stored - skipped },
  };
}

/**
 * The outcome after an earlier request's items were sent again, unless the service recognised the repeat: a rejected
 * item may have been stored by the earlier request.
 *
 * @param message why it may be stored
 */
export function sentAgain(sent: readonly NamedItem[], outcome: RequestOutcome, message: string): RequestOutcome {
  const { outcomes, counts, items } = outcome;
  const open = sent.filter((_, index) => outcomes[index]?.failed === true).map(({ id }) => id);
  const words = ({ message: why }: Outcome): string =>
    `${message} Sent again, it was rejected${why ? `: ${why}` : '.'}`;
  return {
    ...outcome,
    outcomes: outcomes.map(each =>
      each.failed ? { ...each, status: statuses.unknown, failed: false, message: words(each) } : each,
    ),
    counts: { ...counts, failed: 0, unknown: counts.unknown + counts.failed },
    items: { ...items, unknown: [...items.unknown, ...open] },
  };
}

/** The outcome if all items were rejected, or none was sent. */
function rejectedOutcome(
  sent: readonly NamedItem[],
  reasonOf: (item: Item, index: number) => Reason,
): Pick<RequestOutcome, 'outcomes' | 'counts' | 'items'> {
  return {
    outcomes: sent.map((item, index) => ({ ...failedOutcome(item, ''), ...reasonOf(item, index) })),
    counts: { ...noCounts, failed: sent.length },
    items: nothingSent,
  };
}

/** Whether the service refuses a request of this size. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ServiceError && error.status === 413;
}

/** The outcome if all items were refused, with a reason for each item if the service gives one. */
export function refusedOutcome(sent: readonly NamedItem[], error: ServiceError): RequestOutcome {
  if (isTooLarge(error)) {
    const most = error.context?.['max_bytes'];
    const limit = typeof most === 'number' ? `takes trajectories of up to ${bytes(most)}` : 'takes none that large';
    return rejectedOutcome(sent, ({ size }) => ({
      message: `This trajectory has ${bytes(size)}; the service ${limit}.`,
    }));
  }
  const { byItem, ofBatch } = refusedItems(error.failures, valuesOf(sent));
  const outcome = rejectedOutcome(sent, (_, index) => {
    const own = byItem.get(index)?.[0];
    return saysWhy(own) ? reasonOf(own) : { message: error.message };
  });
  return { ...outcome, reports: [...ofBatch.map(each => failureReport(sent, each)), errorReport(sent, error)] };
}

/** A request's error, without the failures of individual items. */
export function errorReport(sent: readonly Item[], error: ServiceError): BatchReport {
  const { failures: _, ...context } = error.context ?? {};
  const { message, code, docUrl, requestId } = error;
  return { kind: 'error', lines: linesOf(sent), message, code, context: filledContext(context), docUrl, requestId };
}

const failureReport = (sent: readonly Item[], failure: Failure): BatchReport => ({
  kind: 'failure',
  lines: linesOf(sent),
  ...reasonOf(failure),
  itemIndex: failure.item_index ?? undefined,
});

const valuesOf = (sent: readonly Item[]) => sent.map(({ value }) => value);

const linesOf = (sent: readonly Item[]): readonly [number, number] => [
  sent[0]?.line ?? 0,
  sent[sent.length - 1]?.line ?? 0,
];

/** Drops an empty context. */
const filledContext = (context: Reason['context'] | null): Reason['context'] =>
  context && Object.keys(context).length > 0 ? context : undefined;

const reasonOf = ({ message, code, context }: Failure): Reason => ({
  message: message ?? code ?? undefined,
  code: code ?? undefined,
  context: filledContext(context),
});

const statuses = { stored: 'uploaded', skipped: 'skipped', counted: 'counted', unknown: 'unknown' } as const;

/** Reads the outcomes from a response. */
export function answered(sent: readonly NamedItem[], answer: UploadTrajectoriesResult): RequestOutcome {
  const { items, counted, unknown, batchFailures } = readAnswer(answer, valuesOf(sent));
  const outcomes = items.map((item, index) => outcomeOf(sent[index], item));
  const named = (outcome: ItemOutcome['outcome']): string[] =>
    sent.flatMap(({ id }, index) => (items[index]?.outcome === outcome ? [id] : []));
  const [stored, skipped, only] = [named('stored'), named('skipped'), named('counted')];
  const counts = {
    stored: stored.length + counted.stored,
    skipped: skipped.length + counted.skipped,
    failed: named('failed').length,
    unknown,
  };
  // Unless every counted item was stored or skipped, it is unknown which ones were.
  const isWhole = only.length === counted.stored + counted.skipped;
  const settled = {
    stored: [...stored, ...(isWhole ? only.slice(0, counted.stored) : [])],
    skipped: [...skipped, ...(isWhole ? only.slice(counted.stored) : [])],
    unknown: [...named('unknown'), ...(isWhole ? [] : only)],
    counted: isWhole ? noneCounted : counted,
  };
  // The local service's message only repeats the counts.
  const isNews = counts.stored < sent.length && answer.message !== describeCounts(counts).join(', ');
  const summary = isNews ? answer.message?.trim() : undefined;
  const reports = [
    ...batchFailures.map(each => failureReport(sent, each)),
    ...(summary ? [{ kind: 'summary', lines: linesOf(sent), message: summary } as const] : []),
  ];
  return { outcomes, counts, items: settled, reports };
}

function outcomeOf(
  { line, place }: Pick<Item, 'line' | 'place'> = { line: 0, place: '' },
  { outcome, row, failure, doubt }: ItemOutcome,
): Outcome {
  const reason = failure && reasonOf(failure);
  const known = {
    ...{ line, place, failed: outcome === 'failed', isReported: (failure ?? doubt) !== undefined },
    ...{ trajectoryId: row?.trajectory_id ?? undefined, traceId: row?.trace_id ?? undefined },
  };
  if (outcome === 'failed') return { ...known, status: row?.status ?? 'failed', message: undefined, ...reason };
  const status = statuses[outcome];
  if (outcome !== 'unknown') return { ...known, status, message: doubt && `${doubt}.`, ...reason };
  const report = row?.status
    ? `The service reports the status ${row.status} for it`
    : 'The service reported no outcome for it';
  const words = [doubt ?? report, reason?.message].filter(each => each !== undefined).join(': ');
  return { ...known, status, ...reason, message: reason?.message === undefined ? `${words}.` : words };
}
