/** The hosts where a service stores uploads: the user is told of each the first time that files go there. */
import type { UploadUrl } from '../../contract/benchmarks.ts';
import { otherHost } from '../../service/reach.ts';
import type { RememberedStore } from '../remembered/store.ts';

const setting = 'storageHosts';
/** A service with a host per upload would fill the file. */
const mostKept = 50;

export class StorageHosts {
  readonly #memory: Pick<RememberedStore, 'setting' | 'setSetting'>;

  constructor(memory: Pick<RememberedStore, 'setting' | 'setSetting'>) {
    this.#memory = memory;
  }

  /** The hosts of these addresses that are neither the service's own nor known, which they are from now on. */
  newIn(targets: Iterable<Pick<UploadUrl, 'url'>>, baseUrl: string): string[] {
    const hosts = [...targets].flatMap(({ url }) => otherHost(url, baseUrl) ?? []);
    const stored = this.#memory.setting(setting);
    const known = new Set<unknown>(Array.isArray(stored) ? stored : []);
    const added = [...new Set(hosts)].filter(host => !known.has(host));
    if (added.length > 0) this.#memory.setSetting(setting, [...known, ...added].slice(-mostKept));
    return added;
  }
}
