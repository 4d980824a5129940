/**
 * Uploads a benchmark: its files, then ingest, then the build of its images. Records progress on disk, so that a retry,
 * here or in another process, does only what is left.
 */

import { errorCode, errorMessage } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import type { FailedTask } from '../contract/benchmarks.ts';
import type { AgentFields } from '../contract/generation.ts';
import { namedAgent } from '../queries/agents.ts';
import { benchmarkKeys } from '../queries/benchmarks.ts';
import { hasNoRoom, isGone, isUnanswered, isUnreachable, mayHaveHappened, ServiceError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { RememberedStore } from '../store/store.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { Job, type JobState } from '../workbench/jobs.ts';
import { type LocalFile, manifestName, planUpload, type UploadPlan } from './benchmark-plan.ts';
import { allocate, FileBatch } from './file-batch.ts';
import { type FileState, FileTable } from './file-table.ts';
import { BuildsNotStarted, buildImages, ForgottenUpload, IngestedDifferently, ingest, isIngested } from './ingest.ts';
import { pathsNamedIn } from './local-files.ts';
import { SentFiles } from './sent-files.ts';
import { StorageHosts } from './storage-hosts.ts';

export type UploadPhase =
  | 'waiting'
  | 'reading'
  | 'uploading'
  | 'ingesting'
  | 'building'
  | 'done'
  | 'failed'
  | 'cancelled';

export interface UploadState extends JobState {
  readonly phase: UploadPhase;
  readonly benchId: string | undefined;
  /** The folder as last read. */
  readonly plan: UploadPlan;
  /** Bytes sent, over all files. */
  readonly sent: number;
  readonly sentFiles: number;
  /** When sending began, and how many bytes had been sent before; for the rate. */
  readonly began: { readonly at: number; readonly sent: number } | undefined;
  /** Notes for the user about a resumed upload, as sentences. */
  readonly notes: readonly string[];
  /** The agent that owns it, if not the profile's: an id, a name, or `name:` and a name. */
  readonly agent: string | undefined;
  /** The tasks that the service rejected. */
  readonly failedTasks: readonly FailedTask[];
  readonly error: Error | undefined;
}

/** Maximum files per request. The newest service accepts 64, others more. A service with a lower limit reports it. */
const defaultBatchSize = 64;
/** How many times the folder is read before the upload fails because it keeps changing. */
const maxRounds = 5;

export class BenchmarkUpload extends Job<UploadState> {
  readonly #sent: SentFiles;
  readonly #files = new FileTable();
  #batch = defaultBatchSize;
  #isTaken = false;
  #agent: AgentFields | undefined;

  readonly #storage: StorageHosts;

  constructor(
    id: string,
    plan: UploadPlan,
    memory: Pick<RememberedStore, 'uploads'> & ConstructorParameters<typeof StorageHosts>[0],
  ) {
    super(
      id,
      { label: plan.name, touches: [benchmarkKeys.all] },
      {
        phase: 'waiting',
        benchId: undefined,
        plan,
        sent: 0,
        sentFiles: 0,
        began: undefined,
        notes: [],
        failedTasks: [],
        agent: undefined,
        error: undefined,
      },
    );
    this.#sent = new SentFiles(memory.uploads, plan.folder);
    this.#storage = new StorageHosts(memory);
    this.#sent.load();
    this.#showFolder(plan);
  }

  /** Shows the folder's files, including those already sent. */
  #showFolder(plan: UploadPlan): void {
    this.#files.reset(plan.files, file => this.#sent.holds(file));
    this.set({ plan, sent: this.#files.bytes, sentFiles: this.#files.sent });
  }

  /** Each file's progress. The same array until something changes. */
  get files(): readonly FileState[] {
    return this.#files.rows;
  }

  /** Whether the id has been ingested with different content, so that the folder needs a new benchmark. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  override get hasStarted(): boolean {
    return this.#sent.benchId !== undefined;
  }

  override get share(): number {
    const { plan, sent } = this.state;
    return plan.bytes === 0 ? 1 : sent / plan.bytes;
  }

  override get outcome(): string {
    const { failedTasks } = this.state;
    return failedTasks.length === 0 ? 'is done' : `is done, without ${counted(failedTasks.length, 'task')}`;
  }

  /** Forgets the progress: the next run sends everything and creates a new benchmark. */
  startOver(): void {
    if (this.busy) return;
    this.#sent.startOver();
    this.#isTaken = false;
    this.#showFolder(this.state.plan);
    this.set({ phase: 'waiting', benchId: undefined, notes: [], error: undefined });
  }

  readonly setAgent = (agent: string | undefined): void => this.set({ agent });

  override cancel(): void {
    super.cancel();
    this.#sent.flush();
  }

  protected override begin(): Partial<UploadState> {
    this.#isTaken = false;
    return { phase: 'reading', error: undefined, notes: [], failedTasks: [], began: undefined };
  }

  protected override end(cancelled: boolean, error: Error): Partial<UploadState> {
    if (!cancelled) return { phase: 'failed', error };
    return { phase: 'cancelled', error: isUnanswered(error) ? error : undefined };
  }

  protected override async work(service: Service): Promise<Partial<UploadState>> {
    this.#batch = defaultBatchSize;
    this.#sent.load();
    this.set({ benchId: this.#sent.benchId });
    try {
      return await this.#finish(service);
    } catch (error) {
      this.#isTaken = error instanceof IngestedDifferently;
      if (!(error instanceof ForgottenUpload)) throw error;
      // A service may take a while to find an ingested benchmark. Starting over would create a duplicate.
      if (this.#sent.isIngested()) throw new BuildsNotStarted(this.#benchId);
      this.#note(clean`The service no longer knows ${this.#sent.benchId}. All files are sent again.`);
      this.#sent.forget();
      // Retry only once: a service may reject every id.
      return await this.#finish(service);
    }
  }

  async #finish(service: Service): Promise<Partial<UploadState>> {
    await this.#makeBenchmark(service);
    await this.#build(service);
    return { phase: 'done' };
  }

  /** Sends and ingests, unless already done. */
  async #makeBenchmark(service: Service): Promise<void> {
    if (this.#sent.isIngested()) {
      const plan = await this.#read().catch(() => undefined);
      if (!plan || !this.#sent.isAllOf(plan)) {
        this.#note('The folder has changed since it was ingested. Upload it again to create a new benchmark.');
      }
      return;
    }
    await this.#read();
    this.#agent = await namedAgent(service, this.state.agent, this.signal);
    for (;;) {
      const whole = await this.#sendFolder(service);
      if (this.#sent.isIngested()) return;
      try {
        await this.#ingest(service, whole);
        return;
      } catch (error) {
        const lost = this.#lostFiles(error, whole);
        if (lost.length === 0) throw error;
        this.#note(`The service has lost ${lost.length === 1 ? lost[0] : `${lost.length} files`}; sending again.`);
        this.#sent.begin(lost);
      }
    }
  }

  /** Reads the folder and its manifest again, as either may have changed since the last attempt. */
  async #read(): Promise<UploadPlan> {
    const plan = await planUpload(this.state.plan.folder);
    this.signal.throwIfAborted();
    this.#showFolder(plan);
    return plan;
  }

  /** Sends files until the service has the whole folder in its current state. Returns the folder as sent. */
  async #sendFolder(service: Service): Promise<UploadPlan> {
    for (let round = 1; ; round += 1) {
      let plan = round === 1 ? this.state.plan : await this.#read();
      const gone = this.#sent.paths().find(path => path !== manifestName && !this.#files.has(path));
      if (gone !== undefined) {
        this.#note(
          `${gone} is no longer in the folder. A service cannot drop a file, so a new benchmark will be created.`,
        );
        this.#sent.forget();
        plan = await this.#read();
      }
      // Declare an earlier run's files again, so that the service can report any that it has lost.
      const todo = plan.files.filter(file => !this.#sent.holds(file) || !this.#sent.declaredNow(file.path));
      if (todo.length === 0) return plan;
      const changed = todo.filter(file => !this.#sent.holds(file));
      if (round > maxRounds) {
        throw new Error(
          `${changed[0]?.path ?? 'The folder'} changed while it was being sent. Try again once nothing writes to it.`,
        );
      }
      this.set({ phase: 'uploading', began: this.state.began ?? { at: Date.now(), sent: this.#files.bytes } });
      try {
        await this.#sendFiles(service, todo);
      } catch (error) {
        if (!isIngested(error)) throw error;
        // This upload ingested it only if the last state sent equals the folder.
        if (!this.#sent.isAllOf(plan)) throw new IngestedDifferently(this.#benchId);
        this.#sent.setPhase('ingested', plan.manifestFingerprint);
        return plan;
      } finally {
        this.#sent.flush();
      }
    }
  }

  async #sendFiles(service: Service, todo: readonly LocalFile[]): Promise<void> {
    const failed: string[] = [];
    for (let next = 0; next < todo.length; ) {
      const files = todo.slice(next, next + this.#batch);
      const allocation = await this.#allocate(service, files);
      if (!allocation) continue;
      next += files.length;
      const waiting = files.filter(file => !this.#sent.holds(file));
      this.#sent.declare(allocation.benchId, files, waiting);
      this.set({ benchId: allocation.benchId });
      const batch = new FileBatch(service, waiting, allocation, { signal: this.signal, onSent: this.#nameStorage });
      const errors: unknown[] = [];
      // Waits for requests in flight, so that nothing is sent after this returns.
      await inParallel(waiting, async file => {
        if (errors.length > 0) return;
        try {
          if (!(await this.#send(batch, file))) failed.push(file.path);
        } catch (error) {
          errors.push(error);
        }
      });
      if (errors.length > 0) throw isGone(errors[0]) ? new ForgottenUpload() : errors[0];
    }
    if (failed.length === 0) return;
    const words = failed.length === 1 ? failed[0] : `${failed[0]} and ${failed.length - 1} more`;
    throw new Error(`Not sent: ${words}. The service keeps the files it has: try again to send the rest.`);
  }

  /** Tells the user about a storage host when the first file goes there. */
  readonly #nameStorage = (host: string, isStored: boolean): void => {
    if (this.#storage.isNew(host)) {
      this.#note(clean`The service stores uploads at ${host}: the files go there, without a key.`);
    }
    if (isStored) this.#storage.remember(host);
  };

  /** Undefined if the service accepts fewer files per request: the caller then tries a smaller batch. */
  async #allocate(service: Service, files: readonly LocalFile[]) {
    try {
      return await allocate(service, files, this.#sent.benchId, this.signal);
    } catch (error) {
      if (isGone(error) && this.#sent.benchId !== undefined) throw new ForgottenUpload();
      const tooMany = error instanceof ServiceError && (error.param === 'files' || error.status === 413);
      if (!tooMany || files.length === 1) throw error;
      const limit = error.context?.['limit'];
      const fits = typeof limit === 'number' && limit >= 1 && limit < files.length;
      this.#batch = fits ? Math.floor(limit) : Math.ceil(files.length / 2);
      return undefined;
    }
  }

  /** Returns false if only this file could not be sent. @throws Error if the other files would fail too */
  async #send(batch: FileBatch, file: LocalFile): Promise<boolean> {
    this.signal.throwIfAborted();
    this.#show(file, { state: 'sending', sent: 0 });
    try {
      const mark = await batch.send(file, sent => this.#show(file, { state: 'sending', sent }));
      if (mark !== undefined) this.#sent.add(file.path, mark);
      this.#show(file, mark === undefined ? { state: 'waiting', sent: 0 } : { state: 'sent', sent: file.size });
      return true;
    } catch (error) {
      this.#show(file, { state: 'failed', sent: 0, error: errorMessage(error) });
      // The file is gone, so the folder must be read again.
      if (errorCode(error) === 'ENOENT') return true;
      const concernsAll = error instanceof ServiceError && error.operation !== 'putUpload';
      if (concernsAll || isUnreachable(error) || hasNoRoom(error)) throw error;
      return false;
    }
  }

  #show(file: LocalFile, change: Omit<FileState, 'file'>): void {
    this.#files.change(file.path, change);
    this.set({ sent: this.#files.bytes, sentFiles: this.#files.sent });
  }

  #note(sentence: string): void {
    this.set({ notes: [...this.state.notes, sentence] });
  }

  /** The benchmark's id, once its files have been declared. */
  get #benchId(): string {
    const { benchId } = this.#sent;
    if (benchId === undefined) throw new Error('The service returned no id for the benchmark.');
    return benchId;
  }

  async #ingest(service: Service, plan: UploadPlan): Promise<void> {
    const benchId = this.#benchId;
    const wasSent = this.#sent.isAllOf(plan);
    this.set({ phase: 'ingesting' });
    this.#sent.setPhase('ingesting', plan.manifestFingerprint);
    try {
      const upload = { benchId, agent: this.#agent, plan };
      const { failedTasks, notes } = await ingest(service, upload, this.signal);
      this.set({ failedTasks, notes: [...this.state.notes, ...notes] });
    } catch (error) {
      const isDone = isIngested(error) && wasSent;
      if (!isDone) {
        if (!mayHaveHappened(error)) this.#sent.setPhase('sending');
        if (isIngested(error)) throw new IngestedDifferently(benchId);
        // The service does not know either the id or something in the manifest. Requesting addresses shows which.
        if (isGone(error)) await this.#allocate(service, plan.files.slice(0, 1));
        throw error;
      }
    }
    this.#sent.setPhase('ingested', plan.manifestFingerprint);
  }

  /** Files from an earlier run that the service has lost; when it refuses the ingest, it names them. */
  #lostFiles(error: unknown, plan: UploadPlan): string[] {
    if (!(error instanceof ServiceError) || (error.kind !== 'validation' && error.kind !== 'conflict')) return [];
    const earlier = plan.files.filter(({ path }) => !this.#sent.sentNow(path)).map(({ path }) => path);
    return pathsNamedIn([error.message, error.context], new Set(earlier));
  }

  /** Starts the image builds. A retry after a failure does nothing else. */
  async #build(service: Service): Promise<void> {
    this.set({ phase: 'building' });
    await buildImages(service, this.#benchId, this.signal);
    this.#sent.forget();
  }
}
