/** The outcome of each trajectory of a request, as the service reports it. */
import type { UploadTrajectoriesResult } from '../contract/trajectories.ts';
import type { SentItems, UploadCounts } from '../store/trajectory-records.ts';
import type { Item } from './trajectory-file.ts';

export interface Outcome {
  /** Line of the file, or index in the array, from 1. */
  readonly line: number;
  /** The service's status; otherwise `failed`, `counted` if the service sends only counts, or `unknown`. */
  readonly status: string;
  /** Any status other than `uploaded`, `skipped`, `counted` and `unknown`, and any item with its own failure. */
  readonly failed: boolean;
  readonly trajectoryId: string | undefined;
  readonly traceId: string | undefined;
  readonly message: string | undefined;
}

export const noCounts: UploadCounts = { stored: 0, skipped: 0, failed: 0, unknown: 0 };

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

/** The outcome of a request: per item, as counts, and for the record. */
export interface RequestOutcome {
  readonly outcomes: readonly Outcome[];
  readonly counts: UploadCounts;
  readonly items: SentItems;
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
export function rejected(sent: readonly NamedItem[], messageOf: (item: Item, index: number) => string): RequestOutcome {
  return {
    outcomes: sent.map((item, index) => failedOutcome(item.line, messageOf(item, index))),
    counts: { ...noCounts, failed: sent.length },
    items: { stored: [], skipped: [], unknown: [] },
  };
}

/** Reads the outcomes from a response. */
export function answered(sent: readonly NamedItem[], answer: UploadTrajectoriesResult): RequestOutcome {
  const { trajectories, failures } = answer;
  const listed = new Map((trajectories ?? []).map((item, index) => [item.request_index ?? index, item]));
  const failed = new Map((failures ?? []).map((failure, index) => [failure.item_index ?? index, failure]));
  const failedIn = [...failed.keys()].filter(index => index < sent.length).length;
  const others = othersOf(trajectories ? 0 : sent.length - failedIn, answer);
  const outcomes = sent.map(({ line }, index): Outcome => {
    const item = listed.get(index);
    const reported = item?.failure ?? failed.get(index);
    // An object of nulls counts as missing.
    const failure = reported?.code == null && reported?.message == null && item ? undefined : reported;
    const status = item?.status ?? (failure ? 'failed' : others.status);
    if (status === undefined) return unknownOutcome(line, 'The service did not report what happened to this one.');
    const isGood = status === 'uploaded' || status === 'skipped' || (!item && status === 'counted');
    return {
      line,
      status,
      failed: failure !== undefined || !isGood,
      trajectoryId: item?.trajectory_id ?? undefined,
      traceId: item?.trace_id ?? undefined,
      message: failure?.message ?? failure?.code ?? undefined,
    };
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
  return { outcomes, counts, items };
}

const isOf = (outcome: Outcome | undefined, status: string): boolean =>
  outcome?.failed === false && outcome.status === status;

/** The count; 0 if it is missing or not a positive whole number. */
const countOf = (value: number | null | undefined): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;

/** Derives the outcome of items that the service does not list from its counts. */
function othersOf(size: number, { uploaded, skipped }: UploadTrajectoriesResult) {
  const stored = Math.min(countOf(uploaded), size);
  const left = Math.min(countOf(skipped), size - stored);
  const none = { stored: 0, skipped: 0 };
  if (stored === 0 && left === 0) return { ...none, status: undefined };
  if (stored === size) return { ...none, status: 'uploaded' };
  return left === size ? { ...none, status: 'skipped' } : { stored, skipped: left, status: 'counted' };
}
