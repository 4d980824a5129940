/** The hosts where a service stores uploads. benchtop names each when the first file goes there. */
import type { RememberedStore } from '../store/store.ts';

const setting = 'storageHosts';
/** Limited, because a service may use a separate host for each upload. */
const maxKept = 50;

export class StorageHosts {
  readonly #memory: Pick<RememberedStore, 'setting' | 'setSetting'>;
  readonly #named = new Set<string>();

  constructor(memory: Pick<RememberedStore, 'setting' | 'setSetting'>) {
    this.#memory = memory;
  }

  get #saved(): readonly unknown[] {
    const stored = this.#memory.setting(setting);
    return Array.isArray(stored) ? stored : [];
  }

  /** Whether a host is new to the user. Marks it as known for this session. */
  isNew(host: string): boolean {
    if (this.#named.has(host)) return false;
    this.#named.add(host);
    return !this.#saved.includes(host);
  }

  /** Saves a host that has accepted a file. */
  remember(host: string): void {
    const saved = this.#saved;
    if (!saved.includes(host)) this.#memory.setSetting(setting, [...saved, host].slice(-maxKept));
  }
}
