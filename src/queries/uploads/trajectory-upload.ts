/**
 * The upload of trajectories from a file: JSON Lines, one trajectory a line, or a JSON array of them. They go in batches;
 * what became of each is told, and those that failed can be kept in a file of their own.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { UploadedTrajectory } from '../../contract/trajectories.ts';
import type { Service } from '../../service/index.ts';
import { type Fault, faultOf } from '../fault.ts';
import { orStopped } from '../stopped.ts';
import { type Connect, Job } from './job.ts';

export interface Outcome {
  /** Line of the file, or place in the array; from 1. */
  readonly line: number;
  readonly status: string;
  readonly trajectoryId: string | undefined;
  readonly traceId: string | undefined;
  readonly message: string | undefined;
}

export interface TrajectoryUploadState {
  readonly phase: 'reading' | 'uploading' | 'done' | 'failed' | 'cancelled';
  readonly total: number;
  readonly outcomes: readonly Outcome[];
  readonly fault: Fault | undefined;
}

interface Item {
  readonly line: number;
  readonly text: string;
  readonly value: Record<string, unknown> | undefined;
  readonly fault: string | undefined;
}

const largestFile = 512 * 1024 * 1024;
const batchItems = 100;
const batchBytes = 8 * 1024 * 1024;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function itemOf(text: string, line: number): Item {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return { line, text, value, fault: undefined };
    return { line, text, value: undefined, fault: 'This is no object.' };
  } catch (error) {
    const fault = `This is no JSON: ${error instanceof Error ? error.message : String(error)}`;
    return { line, text, value: undefined, fault };
  }
}

/** The trajectories of a file. A line that cannot be read is one that failed, not the end. */
export function readItems(text: string): Item[] {
  const bare = text.replace(/^\uFEFF/, '');
  if (bare.trimStart().startsWith('[')) {
    const all: unknown = JSON.parse(bare);
    if (!Array.isArray(all)) throw new Error('The file holds no list of trajectories.');
    return all.map((value: unknown, index) => itemOf(JSON.stringify(value), index + 1));
  }
  return bare.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [itemOf(line, index + 1)]));
}

/** Batches that are neither too many items nor too many bytes. */
function* batchesOf(items: readonly Item[]): Generator<Item[]> {
  let batch: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (batch.length > 0 && (batch.length >= batchItems || bytes + item.text.length > batchBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += item.text.length;
  }
  if (batch.length > 0) yield batch;
}

export class TrajectoryUpload extends Job<TrajectoryUploadState> {
  readonly path: string;
  readonly dataset: string;
  readonly #texts = new Map<number, string>();

  constructor(id: string, path: string, dataset: string) {
    super(id, `the upload of trajectories into ${dataset}`, {
      phase: 'reading',
      total: 0,
      outcomes: [],
      fault: undefined,
    });
    this.path = path;
    this.dataset = dataset;
  }

  override get busy(): boolean {
    return this.state.phase === 'reading' || this.state.phase === 'uploading';
  }

  /** Never throws: what went wrong is in the state. */
  override async run(connect: Connect): Promise<void> {
    this.begin();
    try {
      const service = await orStopped(connect(), this.signal);
      const bytes = await readFile(this.path);
      if (bytes.length > largestFile) throw new Error('The file is too large to be read at once; split it.');
      const items = readItems(bytes.toString('utf8'));
      for (const { line, text } of items) this.#texts.set(line, text);
      this.set({ phase: 'uploading', total: items.length });
      this.#add(items.flatMap(({ line, fault }) => (fault === undefined ? [] : [outcome(line, 'failed', fault)])));
      const readable = items.filter(({ value }) => value !== undefined);
      for (const batch of batchesOf(readable)) {
        this.signal.throwIfAborted();
        this.#add(await this.#send(service, batch));
      }
      this.set({ phase: 'done' });
    } catch (error) {
      this.set({ phase: this.signal.aborted ? 'cancelled' : 'failed', fault: faultOf(error) });
    }
  }

  #add(outcomes: readonly Outcome[]): void {
    this.set({ outcomes: [...this.state.outcomes, ...outcomes].sort((left, right) => left.line - right.line) });
  }

  async #send(service: Service, batch: readonly Item[]): Promise<Outcome[]> {
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
      if (this.signal.aborted) throw error;
      const fault = faultOf(error);
      const failures = fault.context?.['failures'];
      const known = Array.isArray(failures) ? failures.filter(isRecord) : [];
      return batch.map(({ line }, index) => {
        const own = known.find(each => each['item_index'] === index)?.['message'];
        return outcome(line, 'failed', typeof own === 'string' ? own : fault.message);
      });
    }
  }

  /** The lines that failed, as they were, to be mended and sent again. */
  failedLines(): string {
    const failed = this.state.outcomes.filter(({ status }) => status === 'failed');
    return failed.map(({ line }) => `${this.#texts.get(line) ?? ''}\n`).join('');
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
