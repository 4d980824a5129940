/** The progress of each file in an upload. A change takes constant time. */
import type { LocalFile } from './benchmark-plan.ts';

export interface FileState {
  readonly file: LocalFile;
  /** In bytes. */
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'sent' | 'failed';
  readonly error?: string | undefined;
}

export class FileTable {
  readonly #files = new Map<string, FileState>();
  #rows: readonly FileState[] | undefined;
  #bytes = 0;
  #sent = 0;

  /** Replaces the files. @param isSent whether a file has already been sent */
  reset(files: readonly LocalFile[], isSent: (file: LocalFile) => boolean): void {
    this.#files.clear();
    this.#rows = undefined;
    this.#bytes = 0;
    this.#sent = 0;
    for (const file of files) {
      this.#files.set(file.path, { file, sent: 0, state: 'waiting' });
      if (isSent(file)) this.change(file.path, { sent: file.size, state: 'sent' });
    }
  }

  change(path: string, change: Omit<FileState, 'file'>): void {
    const row = this.#files.get(path);
    if (!row) return;
    this.#bytes += change.sent - row.sent;
    this.#sent += Number(change.state === 'sent') - Number(row.state === 'sent');
    this.#files.set(path, { file: row.file, ...change });
    this.#rows = undefined;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  /** The files in order. The same array until something changes. */
  get rows(): readonly FileState[] {
    this.#rows ??= [...this.#files.values()];
    return this.#rows;
  }

  /** Bytes sent, over all files. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many files have been sent completely. */
  get sent(): number {
    return this.#sent;
  }
}
