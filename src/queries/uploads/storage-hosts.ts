/** The hosts where a service stores uploads: the user is told of each the first time that files go there. */
import type { RememberedStore } from '../remembered/store.ts';

const setting = 'storageHosts';
/** A service with a host per upload would fill the file. */
const mostKept = 50;

export class StorageHosts {
  readonly #memory: Pick<RememberedStore, 'setting' | 'setSetting'>;
  readonly #named = new Set<string>();

  constructor(memory: Pick<RememberedStore, 'setting' | 'setSetting'>) {
    this.#memory = memory;
  }

  get #known(): readonly unknown[] {
    const stored = this.#memory.setting(setting);
    return Array.isArray(stored) ? stored : [];
  }

  /** Whether the user has not been told of a host, with its port; from now on he has. */
  isNew(host: string): boolean {
    if (this.#named.has(host)) return false;
    this.#named.add(host);
    return !this.#known.includes(host);
  }

  /** Remembers a host that has taken a file. */
  remember(host: string): void {
    const known = this.#known;
    if (!known.includes(host)) this.#memory.setSetting(setting, [...known, host].slice(-mostKept));
  }
}
