/** Tracks which of a folder's files have been sent, in memory and in the record on disk. */
import type { RecordPhase, UploadRecords } from '../store/upload-records.ts';
import { fileFingerprint, type LocalFile, manifestName, type UploadPlan } from './benchmark-plan.ts';

/**
 * Fingerprints are written in batches of this size, or after this long. A file whose fingerprint is lost is sent again.
 */
const flushFiles = 32;
const flushMs = 500;

type Records = Pick<UploadRecords, 'get' | 'files' | 'begin' | 'setPhase' | 'note' | 'forget'>;

export class SentFiles {
  readonly #records: Records;
  readonly #folder: string;
  #benchId: string | undefined;
  #phase: RecordPhase = 'sending';
  #manifest: string | undefined;
  /** Each declared file's fingerprint; undefined if the file may not have arrived. */
  #marks = new Map<string, string | undefined>();
  /** Files declared and sent since `load`. */
  #declaredNow = new Set<string>();
  #sentNow = new Set<string>();
  #unwritten: [path: string, mark: string][] = [];
  #flushedAt = 0;

  constructor(records: Records, folder: string) {
    this.#records = records;
    this.#folder = folder;
  }

  /** Reads the record when a run begins. */
  load(): void {
    const record = this.#records.get(this.#folder);
    this.#reset(record?.benchId);
    if (!record) return;
    this.#phase = record.phase;
    this.#manifest = record.manifest;
    this.#marks = this.#records.files(this.#folder, record.benchId);
  }

  #reset(benchId: string | undefined): void {
    this.#benchId = benchId;
    this.#phase = 'sending';
    this.#manifest = undefined;
    this.#marks = new Map();
    this.#declaredNow = new Set();
    this.#sentNow = new Set();
    this.#unwritten = [];
  }

  get benchId(): string | undefined {
    return this.#benchId;
  }

  /** Whether the service has ingested the benchmark. */
  isIngested(): boolean {
    return this.#phase === 'ingested';
  }

  /** Every declared path. */
  paths(): string[] {
    return [...this.#marks.keys()];
  }

  /** Whether the file has been sent in its current state. */
  holds(file: LocalFile): boolean {
    return this.#marks.get(file.path) === fileFingerprint(file);
  }

  /** Whether an ingest with this manifest and exactly these files has been tried. */
  isAllOf({ manifestFingerprint, files }: Pick<UploadPlan, 'manifestFingerprint' | 'files'>): boolean {
    const planned = new Set(files.map(({ path }) => path));
    // If the folder had no other files, the manifest was sent as one.
    const hasNoOther = this.paths().every(path => path === manifestName || planned.has(path));
    return this.#manifest === manifestFingerprint && hasNoOther && files.every(file => this.holds(file));
  }

  declaredNow(path: string): boolean {
    return this.#declaredNow.has(path);
  }

  sentNow(path: string): boolean {
    return this.#sentNow.has(path);
  }

  /** Records declared files. The `waiting` ones are about to be sent, and do not count as sent yet. */
  declare(benchId: string, files: readonly LocalFile[], waiting: readonly LocalFile[]): void {
    if (this.#benchId !== benchId) {
      this.#reset(benchId);
      this.#records.begin(this.#folder, benchId);
    }
    for (const { path } of files) this.#declaredNow.add(path);
    this.begin(waiting.map(({ path }) => path));
  }

  /** Marks files as about to be sent. This invalidates an earlier ingest, which contains older versions of them. */
  begin(paths: readonly string[]): void {
    if (paths.length === 0 || this.#benchId === undefined) return;
    if (this.#phase !== 'sending') this.setPhase('sending');
    for (const path of paths) this.#marks.set(path, undefined);
    this.#records.note(
      this.#folder,
      this.#benchId,
      paths.map(path => [path, undefined] as const),
    );
  }

  /** Records that a file has been sent completely. */
  add(path: string, mark: string): void {
    this.#marks.set(path, mark);
    this.#sentNow.add(path);
    this.#unwritten.push([path, mark]);
    if (this.#unwritten.length >= flushFiles || Date.now() - this.#flushedAt > flushMs) this.flush();
  }

  flush(): void {
    this.#flushedAt = Date.now();
    if (this.#benchId !== undefined) this.#records.note(this.#folder, this.#benchId, this.#unwritten);
    this.#unwritten = [];
  }

  /** @param manifest the fingerprint of the manifest that is being or has been sent */
  setPhase(phase: RecordPhase, manifest?: string): void {
    this.flush();
    this.#phase = phase;
    this.#manifest = manifest;
    if (this.#benchId !== undefined) this.#records.setPhase(this.#folder, this.#benchId, phase, manifest);
  }

  /** Deletes the folder's record, even if another process began it. */
  startOver(): void {
    this.#records.forget(this.#folder);
    this.#reset(undefined);
  }

  /** Forgets the id and all fingerprints. */
  forget(): void {
    this.#records.forget(this.#folder, this.#benchId);
    this.#reset(undefined);
  }
}
