/**
 * The upload of a benchmark: signed addresses in batches, files side by side, then ingest and the build of its images. What
 * has been sent is noted, so that a failure, or a new start of the program, goes on where it stopped.
 */
import { open } from 'node:fs/promises';
import type { UploadUrl } from '../../contract/benchmarks.ts';
import { ServiceError, UploadUrlError } from '../../service/errors.ts';
import type { Service } from '../../service/index.ts';
import { type Fault, faultOf } from '../fault.ts';
import type { RememberedStore } from '../remembered/store.ts';
import { orStopped } from '../stopped.ts';
import type { LocalFile, UploadPlan } from './benchmark-plan.ts';
import { type Connect, Job } from './job.ts';

export type UploadPhase = 'waiting' | 'uploading' | 'ingesting' | 'building' | 'done' | 'failed' | 'cancelled';

export interface FileState {
  readonly file: LocalFile;
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'sent' | 'failed';
  readonly fault?: string;
}

export interface UploadState {
  readonly phase: UploadPhase;
  readonly benchId: string | undefined;
  readonly files: readonly FileState[];
  /** Bytes that have been sent, of all files. */
  readonly sent: number;
  /** When the bytes began to go, and how many had been sent before; for the rate. */
  readonly began: { readonly at: number; readonly sent: number } | undefined;
  readonly fault: Fault | undefined;
}

/** What is noted of an upload that has not been ingested yet. */
interface Noted {
  readonly benchId: string;
  /** What each file was when it was sent: size and time of change. */
  readonly sent: Readonly<Record<string, string>>;
}

const usualBatch = 100;
const sideBySide = 3;
const addressTries = 3;

const markOf = ({ size, changed }: LocalFile): string => `${size} ${changed}`;

export class BenchmarkUpload extends Job<UploadState> {
  readonly plan: UploadPlan;
  readonly #memory: RememberedStore;
  readonly #states = new Map<string, FileState>();
  #batch = usualBatch;

  constructor(id: string, plan: UploadPlan, memory: RememberedStore) {
    super(id, `the upload of ${plan.name}`, {
      phase: 'waiting',
      benchId: undefined,
      files: plan.files.map(file => ({ file, sent: 0, state: 'waiting' })),
      sent: 0,
      began: undefined,
      fault: undefined,
    });
    this.plan = plan;
    this.#memory = memory;
    for (const state of this.state.files) this.#states.set(state.file.path, state);
  }

  override get busy(): boolean {
    return ['uploading', 'ingesting', 'building'].includes(this.state.phase);
  }

  get #noteName(): string {
    return `upload ${this.plan.folder}`;
  }

  /** Uploads what has not been sent, ingests and builds. Never throws: what went wrong is in the state. */
  override async run(connect: Connect): Promise<void> {
    if (this.busy) return;
    this.begin();
    this.set({ phase: 'uploading', fault: undefined });
    try {
      const service = await orStopped(connect(), this.signal);
      const benchId = await this.#upload(service);
      this.set({ phase: 'ingesting' });
      await this.#ingest(service, benchId);
      this.#memory.setSetting(this.#noteName, null);
      this.set({ phase: 'building' });
      await service.benchmarks.buildImages(benchId, { signal: this.signal });
      this.set({ phase: 'done' });
    } catch (error) {
      this.set({ phase: this.signal.aborted ? 'cancelled' : 'failed', fault: faultOf(error) });
    }
  }

  /** A lost answer to an ingest is no failure: then the benchmark is there. */
  async #ingest(service: Service, benchId: string): Promise<void> {
    try {
      await service.benchmarks.ingest(benchId, this.plan.manifest, { signal: this.signal });
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'benchmark_already_ingested')) throw error;
    }
  }

  #change(path: string, change: Partial<FileState>): void {
    const state = this.#states.get(path);
    if (!state) return;
    this.#states.set(path, { ...state, ...change });
    const files = [...this.#states.values()];
    this.set({ files, sent: files.reduce((sum, each) => sum + each.sent, 0) });
  }

  async #upload(service: Service): Promise<string> {
    const noted = this.#memory.setting(this.#noteName) as Noted | null | undefined;
    let benchId = noted?.benchId;
    const sent = new Map(Object.entries(noted?.sent ?? {}));
    for (const file of this.plan.files) {
      if (sent.get(file.path) === markOf(file)) this.#change(file.path, { sent: file.size, state: 'sent' });
    }
    this.set({ benchId, began: { at: Date.now(), sent: this.state.sent } });
    const waiting = this.plan.files.filter(file => this.#states.get(file.path)?.state !== 'sent');
    // A benchmark without files still needs an id.
    if (waiting.length === 0 && benchId === undefined) {
      throw new Error('The folder has no files besides the manifest; the service gives an id only with a file.');
    }
    const note = (): void => {
      if (benchId === undefined) return;
      this.#memory.setSetting(this.#noteName, { benchId, sent: Object.fromEntries(sent) } satisfies Noted);
    };
    const failed: string[] = [];
    while (waiting.length > 0) {
      const batch = waiting.splice(0, this.#batch);
      const allocated = await this.#allocate(service, batch, benchId).catch((error: unknown) => {
        const refused = error instanceof ServiceError ? error : undefined;
        const limit = refused?.context?.['limit'];
        if (refused?.param === 'files' && batch.length > 1) {
          this.#batch = typeof limit === 'number' && limit >= 1 ? limit : Math.ceil(batch.length / 2);
        } else if (benchId !== undefined && refused?.code === 'resource_not_found') {
          // What was begun is not known any more: all files are sent again.
          benchId = undefined;
          waiting.splice(0, waiting.length, ...this.plan.files);
          return undefined;
        } else throw error;
        waiting.unshift(...batch);
        return undefined;
      });
      if (!allocated) continue;
      benchId = allocated.benchId;
      this.set({ benchId });
      const queue = [...batch];
      const next = async (): Promise<void> => {
        for (let file = queue.shift(); file; file = queue.shift()) {
          this.signal.throwIfAborted();
          try {
            await this.#send(service, file, allocated);
            sent.set(file.path, markOf(file));
            note();
          } catch (error) {
            if (this.signal.aborted) throw error;
            failed.push(file.path);
            this.#change(file.path, { state: 'failed', sent: 0, fault: faultOf(error).message });
          }
        }
      };
      await Promise.all(Array.from({ length: sideBySide }, next));
    }
    if (failed.length > 0) {
      const words = failed.length === 1 ? failed[0] : `${failed[0]} and ${failed.length - 1} more`;
      throw new Error(`Not sent: ${words}. What was sent is kept; sending again goes on from there.`);
    }
    return benchId ?? '';
  }

  async #allocate(service: Service, files: readonly LocalFile[], bench_id: string | undefined) {
    const declared = files.map(({ path, size }) => ({
      path,
      content_type: 'application/octet-stream',
      size_bytes: size,
    }));
    const body = { files: declared, ...(bench_id === undefined ? {} : { bench_id }) };
    const answer = await service.benchmarks.createUpload(body, { signal: this.signal });
    const targets = new Map(answer.urls.map(url => [url.path, url]));
    return { benchId: answer.bench_id, targets, expiresAt: answer.expires_at };
  }

  /** Sends a file; an address that has had its time is asked for again. */
  async #send(
    service: Service,
    file: LocalFile,
    given: {
      readonly benchId: string;
      readonly targets: ReadonlyMap<string, UploadUrl>;
      readonly expiresAt?: string | null | undefined;
    },
  ): Promise<void> {
    let { targets, expiresAt } = given;
    this.#change(file.path, { state: 'sending', sent: 0 });
    for (let attempt = 1; ; attempt += 1) {
      const target = targets.get(file.path);
      if (!target) throw new Error(`The service gave no address for ${file.path}.`);
      const handle = await open(file.absolute);
      try {
        const { size } = await handle.stat();
        if (size !== file.size) throw new Error(`${file.path} has changed since the upload began. Begin again.`);
        const onProgress = (sent: number): void => this.#change(file.path, { sent });
        await service.putUpload(target, { handle, size }, { expiresAt, onProgress, signal: this.signal });
        this.#change(file.path, { state: 'sent', sent: file.size });
        return;
      } catch (error) {
        if (!(error instanceof UploadUrlError) || attempt >= addressTries) throw error;
        ({ targets, expiresAt } = await this.#allocate(service, [file], given.benchId));
      } finally {
        await handle.close();
      }
    }
  }
}
