/**
 * Uploads trajectories from a file in batches. Each trajectory gets an outcome, and the failed ones can be saved to a
 * file.
 */

import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { AgentFields } from '../../contract/generation.ts';
import { occurrencesHeader, type UploadTrajectoriesResult } from '../../contract/trajectories.ts';
import { affectsAllRequests, ServiceError } from '../../service/errors.ts';
import type { Service } from '../../service/index.ts';
import type { CallOptions } from '../../service/options.ts';
import { errorMessage } from '../../text/errors.ts';
import { writeNewFile } from '../../text/new-file.ts';
import { bytes } from '../../text/numbers.ts';
import { isRecord } from '../../text/own.ts';
import { namedAgent } from '../agents.ts';
import { datasetKeys } from '../datasets.ts';
import type { TrajectoryRecords, UploadCounts } from '../remembered/trajectory-records.ts';
import { trajectoryKeys } from '../trajectories.ts';
import { Job, type JobState } from './job.ts';
import { fingerprintOfFile } from './local-files.ts';
import { Occurrences } from './occurrences.ts';
import { bytesOf, type Item, lineAt, readItems } from './trajectory-file.ts';

export interface Outcome {
  /** Line of the file, or index in the array, from 1. */
  readonly line: number;
  /** The service's status; `failed` if it sent none, `counted` if it only counts without details. */
  readonly status: string;
  /** Any status other than `uploaded`, `skipped` and `counted`, and any item with its own failure. */
  readonly failed: boolean;
  readonly trajectoryId: string | undefined;
  readonly traceId: string | undefined;
  readonly message: string | undefined;
}

/** How many have their outcome. */
export const handledItems = ({ stored, skipped, failed }: UploadCounts): number => stored + skipped + failed;

const noCounts: UploadCounts = { stored: 0, skipped: 0, failed: 0 };

export interface TrajectoryUploadState extends JobState {
  readonly phase: 'waiting' | 'uploading' | 'done' | 'failed' | 'cancelled';
  /** Bytes of the file, and how many of them have their outcome. */
  readonly size: number;
  readonly handled: number;
  readonly counts: UploadCounts;
  /** Whether the service has, or may have, something of it, also of an earlier run that this one continues. */
  readonly hasSent: boolean;
  readonly error: Error | undefined;
}

export interface TrajectoryUploadOptions {
  /** The agent they belong to, if not the profile's: an id, a name, or `name:` and a name. */
  readonly agent?: string | undefined;
  /** Records the progress; without it the upload cannot be resumed. */
  readonly records?: TrajectoryRecords | undefined;
}

const batchItems = 100;
const batchBytes = 8 * 1024 * 1024;

/** The fingerprint of a file, and its size. */
async function openFileMark(file: FileHandle): Promise<{ size: number; mark: string }> {
  const facts = await file.stat();
  return { size: facts.size, mark: fingerprintOfFile(facts) };
}

/** An item of the file, and which of the equal ones it is, from 1. */
type NumberedItem = Item & { readonly occurrence: number };

/** Items without an outcome yet. Those before are counted too. */
async function* itemsAfter(items: AsyncIterable<Item>, place: number): AsyncGenerator<NumberedItem> {
  const occurrences = new Occurrences();
  for await (const item of items) {
    const occurrence = item.value ? occurrences.next(item.value) : 1;
    if (item.end > place) yield { ...item, occurrence };
  }
}

/** Batches limited by item count and bytes. */
async function* batchesOf(items: AsyncIterable<NumberedItem>): AsyncGenerator<NumberedItem[]> {
  let batch: NumberedItem[] = [];
  let total = 0;
  for await (const item of items) {
    const size = item.end - item.start;
    if (batch.length > 0 && (batch.length >= batchItems || total + size > batchBytes)) {
      yield batch;
      batch = [];
      total = 0;
    }
    batch.push(item);
    total += size;
  }
  if (batch.length > 0) yield batch;
}

/** A batch of trajectories as it is sent. */
export interface TrajectoryBatch {
  readonly dataset: string;
  readonly trajectories: readonly Record<string, unknown>[];
  /** To whom they belong; the profile says it if it is missing. */
  readonly agent: AgentFields | undefined;
}

/** @throws ServiceError */
export function sendTrajectories(
  service: Service,
  { dataset, trajectories, agent }: TrajectoryBatch,
  options?: CallOptions,
): Promise<UploadTrajectoriesResult> {
  const body = { dataset, trajectories: [...trajectories], ...agent };
  return service.call('uploadTrajectories', { body }, options);
}

export class TrajectoryUpload extends Job<TrajectoryUploadState> {
  readonly path: string;
  declare readonly dataset: string;
  readonly #agent: string | undefined;
  #namedAgent: AgentFields | undefined;
  #outcomes: Outcome[] = [];
  #shown: readonly Outcome[] | undefined;
  /** Byte ranges of the failed items. */
  #failed: Pick<Item, 'start' | 'end'>[] = [];
  #mark = '';
  readonly #records: TrajectoryRecords | undefined;
  /** Part of the idempotency keys: uploading the same file again is another upload, in which everything is skipped. */
  #key = '';

  constructor(id: string, path: string, dataset: string, { agent, records }: TrajectoryUploadOptions = {}) {
    super(
      id,
      { label: `trajectories into ${dataset}`, dataset, touches: [datasetKeys.all, trajectoryKeys.all] },
      {
        phase: 'waiting',
        size: 0,
        handled: 0,
        counts: noCounts,
        hasSent: false,
        error: undefined,
      },
    );
    this.path = path;
    this.#agent = agent;
    this.#records = records;
  }

  get #ref() {
    return { path: resolve(this.path), dataset: this.dataset, agent: this.#agent };
  }

  override get hasStarted(): boolean {
    return this.#records?.get(this.#ref) !== undefined;
  }

  override get share(): number {
    const { size, handled, phase } = this.state;
    return size === 0 ? Number(phase === 'done') : handled / size;
  }

  override get outcome(): string {
    const { stored, skipped, failed } = this.state.counts;
    return `is done: ${stored} stored, ${skipped} skipped, ${failed} failed`;
  }

  /** Forgets the progress: the next run sends the whole file. */
  startOver(): void {
    if (!this.busy) this.#records?.forget(this.#ref);
  }

  /** The outcomes so far, in file order. The same array until one is added. */
  get outcomes(): readonly Outcome[] {
    this.#shown ??= [...this.#outcomes];
    return this.#shown;
  }

  get failures(): number {
    return this.#failed.length;
  }

  protected override begin(): Partial<TrajectoryUploadState> {
    this.#outcomes = [];
    this.#shown = undefined;
    this.#failed = [];
    const hasSent = (this.#records?.get(this.#ref)?.handled ?? 0) > 0;
    return { phase: 'uploading', handled: 0, counts: noCounts, hasSent, error: undefined };
  }

  protected override end(cancelled: boolean, error: Error): Partial<TrajectoryUploadState> {
    return { phase: cancelled ? 'cancelled' : 'failed', error: cancelled ? undefined : error };
  }

  protected override async work(service: Service): Promise<void> {
    const file = await open(this.path);
    try {
      const { size, mark } = await openFileMark(file);
      this.#mark = mark;
      const record = this.#records?.get(this.#ref);
      const last = record?.mark === mark ? record : undefined;
      // After failures the whole file is sent again with the same keys: each failure gets its reason, and stored items
      // are skipped.
      const { handled, counts } = last?.counts.failed === 0 ? last : { handled: 0, counts: noCounts };
      this.set({ size, handled, counts });
      this.#namedAgent = await namedAgent(service, this.#agent, this.signal);
      this.#key = last?.key ?? randomUUID();
      if (!last) this.#records?.begin(this.#ref, { mark, key: this.#key, size });
      for await (const batch of batchesOf(itemsAfter(readItems(bytesOf(file)), handled))) {
        this.signal.throwIfAborted();
        const readable = batch.filter(({ value }) => value !== undefined);
        const { outcomes, counts } = await this.#send(service, readable);
        const answered = new Map(outcomes.map(each => [each.line, each]));
        const add = (item: Item) => answered.get(item.line) ?? failedOutcome(item.line, item.error ?? 'not sent');
        this.#add(batch, add, counts);
      }
      this.#records?.forget(this.#ref, this.#key);
      this.set({ phase: 'done', handled: size });
    } finally {
      await file.close();
    }
  }

  /** Sends a batch that the service finds too large in two halves; says of a single trajectory how large it is. */
  async #sendSmaller(
    service: Service,
    batch: readonly NumberedItem[],
    { context }: ServiceError,
  ): Promise<BatchOutcome> {
    const half = Math.ceil(batch.length / 2);
    if (half < batch.length) {
      const [first, second] = [
        await this.#send(service, batch.slice(0, half)),
        await this.#send(service, batch.slice(half)),
      ];
      return { outcomes: [...first.outcomes, ...second.outcomes], counts: sumOf(first.counts, second.counts) };
    }
    const most = context?.['max_bytes'];
    const limit = typeof most === 'number' ? `takes trajectories of up to ${bytes(most)}` : 'takes none that large';
    const outcomes = batch.map(({ line, start, end }) =>
      failedOutcome(line, `This trajectory has ${bytes(end - start)}; the service ${limit}.`),
    );
    return { outcomes, counts: noCounts };
  }

  /** @param counted the outcome of items that are only counted */
  #add(batch: readonly Item[], outcomeOf: (item: Item) => Outcome, counted: UploadCounts): void {
    const counts = sumOf(this.state.counts, counted);
    let { handled } = this.state;
    for (const item of batch) {
      const result = outcomeOf(item);
      this.#outcomes.push(result);
      if (result.failed) counts.failed += 1;
      else if (result.status !== 'counted') counts[result.status === 'skipped' ? 'skipped' : 'stored'] += 1;
      if (result.failed) this.#failed.push({ start: item.start, end: item.end });
      handled = item.end;
    }
    this.#shown = undefined;
    const hasSent = this.state.hasSent || batch.some(({ value }) => value !== undefined);
    this.set({ handled, counts, hasSent });
    this.#records?.note(this.#ref, this.#key, handled, counts);
  }

  /** @throws ServiceError if the other batches would fail in the same way */
  async #send(service: Service, batch: readonly NumberedItem[]): Promise<BatchOutcome> {
    const [first] = batch;
    if (!first) return { outcomes: [], counts: noCounts };
    const trajectories = batch.flatMap(({ value }) => (value ? [value] : []));
    // The same batch has the same key, even if the next start resumes this upload and finds its agent by another id. An
    // equal batch elsewhere in the file has another.
    const content = JSON.stringify([this.#key, this.dataset, first.start, trajectories, this.#agent ?? service.agent]);
    const idempotencyKey = createHash('sha256').update(content).digest('hex');
    const headers = batch.some(({ occurrence }) => occurrence > 1)
      ? { [occurrencesHeader]: batch.map(({ occurrence }) => occurrence).join() }
      : undefined;
    try {
      const sent = { dataset: this.dataset, trajectories, agent: this.#namedAgent };
      const answer = await sendTrajectories(service, sent, { signal: this.signal, idempotencyKey, headers });
      return outcomesOf(batch, answer);
    } catch (error) {
      if (this.signal.aborted || (error instanceof ServiceError && error.outcomeUnknown)) this.set({ hasSent: true });
      if (this.signal.aborted || affectsAllRequests(error)) throw error;
      if (isTooLarge(error)) return this.#sendSmaller(service, batch, error);
      const failures = error instanceof ServiceError ? error.context?.['failures'] : undefined;
      const known = Array.isArray(failures) ? failures.filter(isRecord) : [];
      const outcomes = batch.map(({ line }, index) => {
        const own = known.find(each => each['item_index'] === index)?.['message'];
        return failedOutcome(line, typeof own === 'string' ? own : errorMessage(error));
      });
      return { outcomes, counts: noCounts };
    }
  }

  /**
   * Saves the failed items to a new file, one per line, to be corrected and sent again. Returns its absolute path.
   *
   * @throws Error if the uploaded file has changed since; NewFileError
   */
  async saveFailures(name: string): Promise<string> {
    const source = await open(this.path);
    try {
      if ((await openFileMark(source)).mark !== this.#mark)
        throw new Error(`${this.path} has changed since it was uploaded`);
      const read = bytesOf(source);
      const ranges = this.#failed;
      const lines = async function* (): AsyncGenerator<Uint8Array | string> {
        for (const range of ranges) {
          yield await lineAt(read, range);
          yield '\n';
        }
      };
      return await writeNewFile(name, lines());
    } finally {
      await source.close();
    }
  }
}

function sumOf(left: UploadCounts, right: UploadCounts) {
  return {
    stored: left.stored + right.stored,
    skipped: left.skipped + right.skipped,
    failed: left.failed + right.failed,
  };
}

function isTooLarge(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 413;
}

function failedOutcome(line: number, message: string, status = 'failed'): Outcome {
  return { line, status, failed: true, trajectoryId: undefined, traceId: undefined, message };
}

/** The outcome of a batch. */
interface BatchOutcome {
  readonly outcomes: readonly Outcome[];
  /** The outcome of items that are only counted. */
  readonly counts: UploadCounts;
}

/** The outcome of each item of a batch. Unmentioned items count as not stored. */
function outcomesOf(batch: readonly Item[], answer: UploadTrajectoriesResult): BatchOutcome {
  const { trajectories, failures } = answer;
  const listed = new Map((trajectories ?? []).map((item, index) => [item.request_index ?? index, item]));
  const failed = new Map((failures ?? []).map((failure, index) => [failure.item_index ?? index, failure]));
  const failedIn = [...failed.keys()].filter(index => index < batch.length).length;
  const counts = trajectories ? noCounts : countsOf(batch.length - failedIn, answer);
  const others = statusOfOthers(counts);
  const outcomes = batch.map(({ line }, index) => {
    const item = listed.get(index);
    const said = item?.failure ?? failed.get(index);
    // An object of nulls counts as missing.
    const failure = said?.code == null && said?.message == null && item ? undefined : said;
    const status = item?.status ?? (failure ? 'failed' : others);
    if (status === undefined)
      return failedOutcome(line, 'The service did not report what happened to this one.', 'unknown');
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
  return { outcomes, counts: others === 'counted' ? counts : noCounts };
}

/** The outcome of items without a failure of their own, if the service only counts them. */
function countsOf(size: number, { uploaded, skipped }: UploadTrajectoriesResult): UploadCounts {
  const stored = Math.min(uploaded ?? 0, size);
  const left = Math.min(skipped ?? 0, size - stored);
  return { stored, skipped: left, failed: size - stored - left };
}

/** The status of those items: `counted` if several are possible, undefined if nothing is said. */
function statusOfOthers({ stored, skipped, failed }: UploadCounts): string | undefined {
  if (stored === 0 && skipped === 0) return undefined;
  if (skipped === 0 && failed === 0) return 'uploaded';
  return stored === 0 && failed === 0 ? 'skipped' : 'counted';
}
