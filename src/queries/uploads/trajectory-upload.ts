/**
 * The upload of trajectories from a file. They are read and sent batch by batch; each has its outcome, and those that
 * failed can be saved to a file of their own.
 */

import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { AgentFields } from '../../contract/generation.ts';
import type { UploadTrajectoriesResult } from '../../contract/trajectories.ts';
import { affectsAllRequests, ServiceError } from '../../service/errors.ts';
import type { Service } from '../../service/index.ts';
import { errorMessage } from '../../text/errors.ts';
import { writeNewFile } from '../../text/new-file.ts';
import { isRecord } from '../../text/own.ts';
import { namedAgent } from '../agents.ts';
import type { TrajectoryRecords, UploadCounts } from '../remembered/trajectory-records.ts';
import { Job, type JobState } from './job.ts';
import { fingerprintOfFile } from './local-files.ts';
import { bytesOf, type Item, lineAt, readItems } from './trajectory-file.ts';

export interface Outcome {
  /** Line of the file, or place in the array; from 1. */
  readonly line: number;
  /** As the service gave it; `failed` where it gave none, `counted` where it counts without saying which is which. */
  readonly status: string;
  /** Whatever is neither `uploaded`, `skipped` nor `counted`, and whatever has a failure of its own. */
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
  readonly error: Error | undefined;
}

export interface TrajectoryUploadOptions {
  /** Whose trajectories they are, if that is not the agent of the profile: an id, a name, or `name:` and a name. */
  readonly agent?: string | undefined;
  /** Where it is noted how far it came; it cannot be continued without. */
  readonly records?: TrajectoryRecords | undefined;
}

const batchItems = 100;
const batchBytes = 8 * 1024 * 1024;

/** By this a file is known to be the one that was read, and its size. */
async function openFileMark(file: FileHandle): Promise<{ size: number; mark: string }> {
  const facts = await file.stat();
  return { size: facts.size, mark: fingerprintOfFile(facts) };
}

/** Those that have no outcome yet. */
async function* itemsAfter(items: AsyncIterable<Item>, place: number): AsyncGenerator<Item> {
  for await (const item of items) if (item.end > place) yield item;
}

/** Batches that are neither too many items nor too many bytes. */
async function* batchesOf(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = [];
  let bytes = 0;
  for await (const item of items) {
    const size = item.end - item.start;
    if (batch.length > 0 && (batch.length >= batchItems || bytes + size > batchBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

export class TrajectoryUpload extends Job<TrajectoryUploadState> {
  readonly path: string;
  readonly dataset: string;
  readonly #agent: string | undefined;
  #namedAgent: AgentFields | undefined;
  #outcomes: Outcome[] = [];
  #shown: readonly Outcome[] | undefined;
  /** Where in the file the failed ones are. */
  #failed: Pick<Item, 'start' | 'end'>[] = [];
  #mark = '';
  readonly #records: TrajectoryRecords | undefined;
  /** Part of the idempotency keys: the same file uploaded once more is another upload, of which all is skipped. */
  #key = '';

  constructor(id: string, path: string, dataset: string, { agent, records }: TrajectoryUploadOptions = {}) {
    super(id, `The upload of trajectories into ${dataset}`, {
      phase: 'waiting',
      size: 0,
      handled: 0,
      counts: noCounts,
      error: undefined,
    });
    this.path = path;
    this.#agent = agent;
    this.#records = records;
    this.dataset = dataset;
  }

  get #ref() {
    return { path: resolve(this.path), dataset: this.dataset, agent: this.#agent };
  }

  /** Whether it is recorded how far it came, for another run. */
  get hasStarted(): boolean {
    return this.#records?.get(this.#ref) !== undefined;
  }

  /** Forgets how far it came: the next run sends all of it. */
  startOver(): void {
    if (!this.busy) this.#records?.forget(this.#ref);
  }

  /** Those that have one, in the order of the file. The same array until one is added. */
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
    return { phase: 'uploading', handled: 0, counts: noCounts, error: undefined };
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
      this.#key = last?.key ?? randomUUID();
      if (!last) this.#records?.begin(this.#ref, { mark, key: this.#key, size });
      // If some failed all of it is sent again, with the same keys: each has its reason, and what is stored is skipped.
      const { handled, counts } = last?.counts.failed === 0 ? last : { handled: 0, counts: noCounts };
      this.set({ size, handled, counts });
      this.#namedAgent = await namedAgent(service, this.#agent, this.signal);
      for await (const batch of batchesOf(itemsAfter(readItems(bytesOf(file)), handled))) {
        this.signal.throwIfAborted();
        const readable = batch.filter(({ value }) => value !== undefined);
        const { outcomes, counts } = await this.#send(service, readable);
        const answered = new Map(outcomes.map(each => [each.line, each]));
        const add = (item: Item) => answered.get(item.line) ?? failedOutcome(item.line, item.error ?? 'not sent');
        this.#add(batch, add, counts);
      }
      this.#records?.forget(this.#ref);
      this.set({ phase: 'done', handled: size });
    } finally {
      await file.close();
    }
  }

  /** @param counted what came of those that are only counted */
  #add(batch: readonly Item[], outcomeOf: (item: Item) => Outcome, counted: UploadCounts): void {
    const { stored, skipped, failed } = this.state.counts;
    const counts = {
      stored: stored + counted.stored,
      skipped: skipped + counted.skipped,
      failed: failed + counted.failed,
    };
    for (const item of batch) {
      const result = outcomeOf(item);
      this.#outcomes.push(result);
      if (result.failed) counts.failed += 1;
      else if (result.status !== 'counted') counts[result.status === 'skipped' ? 'skipped' : 'stored'] += 1;
      if (result.failed) this.#failed.push({ start: item.start, end: item.end });
    }
    this.#shown = undefined;
    const handled = batch.at(-1)?.end ?? this.state.handled;
    this.set({ handled, counts });
    this.#records?.note(this.#ref, handled, counts);
  }

  /** @throws ServiceError if the other batches would fail in the same way */
  async #send(service: Service, batch: readonly Item[]): Promise<BatchOutcome> {
    if (batch.length === 0) return { outcomes: [], counts: noCounts };
    const trajectories = batch.flatMap(({ value }) => (value ? [value] : []));
    const agent = this.#namedAgent ?? {};
    const content = JSON.stringify([this.#key, this.dataset, trajectories, ...Object.entries(agent)]);
    // The same batch again is the same batch, also where the next start continues this upload.
    const idempotencyKey = createHash('sha256').update(content).digest('hex');
    try {
      const answer = await service.call(
        'uploadTrajectories',
        { body: { dataset: this.dataset, trajectories, ...agent } },
        { signal: this.signal, idempotencyKey },
      );
      return outcomesOf(batch, answer);
    } catch (error) {
      if (this.signal.aborted || affectsAllRequests(error)) throw error;
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
   * Saves those that failed to a new file, one a line, to be corrected and sent again. Returns its whole path.
   *
   * @throws Error if the file that was uploaded has changed since; NewFileError
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

function failedOutcome(line: number, message: string, status = 'failed'): Outcome {
  return { line, status, failed: true, trajectoryId: undefined, traceId: undefined, message };
}

/** What came of a batch. */
interface BatchOutcome {
  readonly outcomes: readonly Outcome[];
  /** Of those that are only counted. */
  readonly counts: UploadCounts;
}

/** What an answer says of each item of its batch. What it does not mention has not been stored, as far as is known. */
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
    // An object of nulls is none.
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

/** What came of the items that have no failure of their own, if the service only counts them. */
function countsOf(size: number, { uploaded, skipped }: UploadTrajectoriesResult): UploadCounts {
  const stored = Math.min(uploaded ?? 0, size);
  const left = Math.min(skipped ?? 0, size - stored);
  return { stored, skipped: left, failed: size - stored - left };
}

/** The status of each of those: `counted` where they have several, undefined if nothing is said of them. */
function statusOfOthers({ stored, skipped, failed }: UploadCounts): string | undefined {
  if (stored === 0 && skipped === 0) return undefined;
  if (skipped === 0 && failed === 0) return 'uploaded';
  return stored === 0 && failed === 0 ? 'skipped' : 'counted';
}
