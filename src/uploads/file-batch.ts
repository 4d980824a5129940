/** Sends a benchmark's files to their signed addresses, and requests new addresses when these expire. */
import { open } from 'node:fs/promises';
import type { UploadUrl } from '../contract/benchmarks.ts';
import { ServiceError, UploadUrlError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { AnswerHead } from '../service/options.ts';
import { uploadDeadline } from '../service/uploads.ts';
import { clean } from '../text/sanitise.ts';
import { fileFingerprint, type LocalFile } from './benchmark-plan.ts';

/** The addresses from one request, which expire together. */
interface Allocation {
  readonly benchId: string;
  readonly targets: ReadonlyMap<string, UploadUrl>;
  /** When they expire, according to `uploadDeadline`. */
  readonly untilMs: number | undefined;
}

const addressTries = 3;

/**
 * Declares files and gets their addresses. Without a `benchId` the service mints one.
 *
 * @throws ServiceError
 */
export async function allocate(
  service: Service,
  files: readonly LocalFile[],
  benchId: string | undefined,
  signal?: AbortSignal,
): Promise<Allocation> {
  const declared = files.map(({ path, size }) => ({
    path,
    content_type: 'application/octet-stream',
    size_bytes: size,
  }));
  const body = { files: declared, bench_id: benchId };
  let head: AnswerHead | undefined;
  const onAnswer = (received: AnswerHead): void => {
    head = received;
  };
  const answer = await service.call('createBenchmarkUpload', { body }, { signal, onAnswer });
  const targets = new Map(answer.urls.map(url => [url.path, url]));
  return { benchId: answer.bench_id, targets, untilMs: uploadDeadline(answer.expires_at, head) };
}

/** Whether a new address may help, because this one has expired or no longer responds. */
function isAddressError(error: unknown): boolean {
  if (error instanceof UploadUrlError) return true;
  return error instanceof ServiceError && (error.kind === 'network' || error.kind === 'timeout');
}

interface FileBatchOptions {
  readonly signal: AbortSignal;
  /** Called with a separate storage host's name while a file is being sent there, and again once it is stored. */
  readonly onSent: (host: string, isStored: boolean) => void;
}

export class FileBatch {
  readonly #service: Service;
  readonly #signal: AbortSignal;
  readonly #onSent: FileBatchOptions['onSent'];
  /** Files that still need an address. */
  readonly #left: Map<string, LocalFile>;
  #allocation: Promise<Allocation>;

  constructor(
    service: Service,
    files: readonly LocalFile[],
    allocation: Allocation,
    { signal, onSent }: FileBatchOptions,
  ) {
    this.#service = service;
    this.#signal = signal;
    this.#onSent = onSent;
    this.#left = new Map(files.map(file => [file.path, file]));
    this.#allocation = Promise.resolve(allocation);
  }

  /**
   * Sends one file. Returns its fingerprint; undefined if the file differs from the plan or changed while being read,
   * and must be sent again.
   *
   * @throws Error if it cannot be read, ServiceError if it cannot be sent
   */
  async send(file: LocalFile, onProgress: (sent: number) => void): Promise<string | undefined> {
    const handle = await open(file.absolute);
    try {
      const mark = async (): Promise<string> => fileFingerprint(await handle.stat());
      if ((await mark()) !== fileFingerprint(file)) return undefined;
      await this.#put(file, { handle, size: file.size }, onProgress);
      return (await mark()) === fileFingerprint(file) ? fileFingerprint(file) : undefined;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'file_changed') return undefined;
      throw error;
    } finally {
      this.#left.delete(file.path);
      await handle.close();
    }
  }

  async #put(
    file: LocalFile,
    source: Parameters<Service['putUpload']>[1],
    onProgress: (sent: number) => void,
  ): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const used = this.#allocation;
      const { targets, untilMs } = await used;
      const target = targets.get(file.path);
      if (!target) throw new Error(clean`The service returned no address for ${file.path}.`);
      const host = this.#service.storageOf(target.url);
      const progress = (sent: number): void => {
        if (host !== undefined && sent > 0) this.#onSent(host, false);
        onProgress(sent);
      };
      try {
        await this.#service.putUpload(target, source, { untilMs, onProgress: progress, signal: this.#signal });
        if (host !== undefined) this.#onSent(host, true);
        return;
      } catch (error) {
        if (attempt >= addressTries || this.#signal.aborted || !isAddressError(error)) throw error;
        // Renew the addresses of all remaining files: if this one has expired, so have theirs.
        if (used === this.#allocation) this.#allocation = this.#renew((await used).benchId);
      }
    }
  }

  #renew(benchId: string): Promise<Allocation> {
    return allocate(this.#service, [...this.#left.values()], benchId, this.#signal);
  }
}
