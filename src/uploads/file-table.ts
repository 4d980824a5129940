/** The progress of each file of an upload. A change takes constant time. */
import type { LocalFile } from './benchmark-plan.ts';

export interface FileState {
  readonly file: LocalFile;
  /** Bytes. */
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'sent' | 'failed';
  readonly error?: string | undefined;
}

export class FileTable {
  #rows: FileState[] = [];
  readonly #places = new Map<string, number>();
  #shown: readonly FileState[] | undefined;
  #bytes = 0;
  #sent = 0;

  constructor(files: readonly LocalFile[]) {
    this.reset(files, () => false);
  }

  /** Sets a new list of files; `isSent` tells which are already sent. */
  reset(files: readonly LocalFile[], isSent: (file: LocalFile) => boolean): void {
    this.#rows = [];
    this.#places.clear();
    this.#shown = undefined;
    this.#bytes = 0;
    this.#sent = 0;
    for (const [index, file] of files.entries()) {
      this.#places.set(file.path, index);
      const sent = isSent(file);
      this.#rows.push({ file, sent: sent ? file.size : 0, state: sent ? 'sent' : 'waiting' });
      if (!sent) continue;
      this.#bytes += file.size;
      this.#sent += 1;
    }
  }

  change(path: string, change: Omit<FileState, 'file'>): void {
    const place = this.#places.get(path);
    const row = place === undefined ? undefined : this.#rows[place];
    if (place === undefined || !row) return;
    this.#bytes += change.sent - row.sent;
    this.#sent += Number(change.state === 'sent') - Number(row.state === 'sent');
    this.#rows[place] = { file: row.file, ...change };
    this.#shown = undefined;
  }

  has(path: string): boolean {
    return this.#places.has(path);
  }

  /** The files in order. The same array until something changes. */
  get rows(): readonly FileState[] {
    this.#shown ??= [...this.#rows];
    return this.#shown;
  }

  /** Bytes sent in all files. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Files sent completely. */
  get sent(): number {
    return this.#sent;
  }
}
