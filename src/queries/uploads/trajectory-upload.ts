/**
 * The upload of trajectories from a file. They are read and sent batch by batch; each has its outcome, and those that
 * failed can be saved to a file of their own.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { UploadedTrajectory } from '../../contract/trajectories.ts';
import type { Service } from '../../service/index.ts';
import { type Fault, failsAll, faultOf } from '../fault.ts';
import { Job, type JobState } from './job.ts';
import { bytesOf, type Item, lineAt, readItems } from './trajectory-file.ts';

export interface Outcome {
  /** Line of the file, or place in the array; from 1. */
  readonly line: number;
  readonly status: string;
  readonly trajectoryId: string | undefined;
  readonly traceId: string | undefined;
  readonly message: string | undefined;
}

export interface TrajectoryUploadState extends JobState {
  readonly phase: 'waiting' | 'uploading' | 'done' | 'failed' | 'cancelled';
  /** Bytes of the file, and how many of them have their outcome. */
  readonly size: number;
  readonly handled: number;
  /** How many there are of each status. */
  readonly counts: ReadonlyMap<string, number>;
  readonly fault: Fault | undefined;
}

const batchItems = 100;
const batchBytes = 8 * 1024 * 1024;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** By this a file is known to be the one that was read. */
async function markOf(file: FileHandle): Promise<{ size: number; mark: string }> {
  const { size, mtimeMs } = await file.stat();
  return { size, mark: `${size} ${mtimeMs}` };
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
  #outcomes: Outcome[] = [];
  #shown: readonly Outcome[] | undefined;
  #counts = new Map<string, number>();
  /** Where in the file those stand that failed. */
  #failed: Pick<Item, 'start' | 'end'>[] = [];
  #mark = '';

  constructor(id: string, path: string, dataset: string) {
    super(id, `the upload of trajectories into ${dataset}`, {
      phase: 'waiting',
      size: 0,
      handled: 0,
      counts: new Map(),
      fault: undefined,
    });
    this.path = path;
    this.dataset = dataset;
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
    this.#counts = new Map();
    this.#failed = [];
    return { phase: 'uploading', handled: 0, counts: new Map(), fault: undefined };
  }

  protected override end(cancelled: boolean, fault: Fault): Partial<TrajectoryUploadState> {
    return { phase: cancelled ? 'cancelled' : 'failed', fault: cancelled ? undefined : fault };
  }

  protected override async work(service: Service): Promise<void> {
    const file = await open(this.path);
    try {
      const { size, mark } = await markOf(file);
      this.#mark = mark;
      this.set({ size });
      for await (const batch of batchesOf(readItems(bytesOf(file)))) {
        this.signal.throwIfAborted();
        const readable = batch.filter(({ value }) => value !== undefined);
        const answered = new Map((await this.#send(service, readable)).map(each => [each.line, each]));
        this.#add(batch, item => answered.get(item.line) ?? outcome(item.line, 'failed', item.fault ?? 'not sent'));
      }
      this.set({ phase: 'done', handled: size });
    } finally {
      await file.close();
    }
  }

  #add(batch: readonly Item[], outcomeOf: (item: Item) => Outcome): void {
    for (const item of batch) {
      const result = outcomeOf(item);
      this.#outcomes.push(result);
      this.#counts.set(result.status, (this.#counts.get(result.status) ?? 0) + 1);
      if (result.status === 'failed') this.#failed.push({ start: item.start, end: item.end });
    }
    this.#shown = undefined;
    this.set({ handled: batch.at(-1)?.end ?? this.state.handled, counts: new Map(this.#counts) });
  }

  /** @throws ServiceError where the other batches would fail in the same way */
  async #send(service: Service, batch: readonly Item[]): Promise<Outcome[]> {
    if (batch.length === 0) return [];
    const trajectories = batch.flatMap(({ value }) => (value ? [value] : []));
    const content = JSON.stringify([this.dataset, trajectories]);
    // The same batch again is the same batch, also at the next start.
    const idempotencyKey = createHash('sha256').update(content).digest('hex');
    try {
      const answer = await service.trajectories.upload(
        { dataset: this.dataset, trajectories },
        { signal: this.signal, idempotencyKey },
      );
      const byIndex = new Map((answer.trajectories ?? []).map((item, index) => [item.request_index ?? index, item]));
      return batch.map(({ line }, index) => outcomeOf(line, byIndex.get(index)));
    } catch (error) {
      const fault = faultOf(error);
      if (this.signal.aborted || failsAll(error)) throw error;
      const failures = fault.context?.['failures'];
      const known = Array.isArray(failures) ? failures.filter(isRecord) : [];
      return batch.map(({ line }, index) => {
        const own = known.find(each => each['item_index'] === index)?.['message'];
        return outcome(line, 'failed', typeof own === 'string' ? own : fault.message);
      });
    }
  }

  /**
   * Saves those that failed to a new file, one a line, to be corrected and sent again. Gives its whole path.
   *
   * @throws Error where the file that was uploaded has changed since, or the new one cannot be written or is there
   */
  async saveFailures(name: string): Promise<string> {
    const path = resolve(name);
    const source = await open(this.path);
    try {
      if ((await markOf(source)).mark !== this.#mark) throw new Error(`${this.path} has changed since it was uploaded`);
      const read = bytesOf(source);
      const ranges = this.#failed;
      const lines = async function* (): AsyncGenerator<Uint8Array | string> {
        for (const range of ranges) {
          yield await lineAt(read, range);
          yield '\n';
        }
      };
      await writeNew(path, lines());
    } finally {
      await source.close();
    }
    return path;
  }
}

/** Writes a file that is not there yet: the whole of it, or none. */
async function writeNew(path: string, content: AsyncIterable<Uint8Array | string>): Promise<void> {
  const target = await open(path, 'wx', 0o600);
  try {
    await target.writeFile(content);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await target.close();
  }
}

function outcome(line: number, status: string, message: string): Outcome {
  return { line, status, trajectoryId: undefined, traceId: undefined, message };
}

function outcomeOf(line: number, item: UploadedTrajectory | undefined): Outcome {
  if (!item) return outcome(line, 'unknown', 'The service said nothing of this one.');
  return {
    line,
    status: item.status ?? (item.failure ? 'failed' : 'unknown'),
    trajectoryId: item.trajectory_id ?? undefined,
    traceId: item.trace_id ?? undefined,
    message: item.failure?.message ?? undefined,
  };
}
