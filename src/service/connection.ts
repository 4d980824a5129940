/** Where a service is at the moment. One that is supervised may end or move while it is in use. */

import type { Auth } from '../contract/common.ts';
import { errorMessage } from '../text/errors.ts';
import { parseBase } from './address.ts';
import { NetworkError, ServiceError } from './errors.ts';
import type { ServiceOptions, Supervisor, Target } from './options.ts';

/** Where an attempt goes. */
export interface Place {
  readonly base: URL;
  /** The same as the supervisor knows it; undefined where the address does not move. */
  readonly target: Target | undefined;
}

export class Connection {
  /** What the service is called; where it is supervised, requests go elsewhere. */
  readonly base: URL;
  readonly #inferenceBase: URL | undefined;
  readonly #supervisor: Supervisor | undefined;
  readonly #allowInsecureHttp: boolean;
  #last: URL;
  /** Every origin at which the service has been. */
  readonly #origins = new Set<string>();

  readonly #onOther: () => void;

  /**
   * @param onOther called when another instance of the service than before may answer
   * @throws RequestError where an address of the profile is wrong
   */
  constructor({ baseUrl, inferenceUrl, allowInsecureHttp = false, supervisor }: ServiceOptions, onOther: () => void) {
    this.#onOther = onOther;
    this.base = parseBase(baseUrl, 'baseUrl', allowInsecureHttp);
    this.#inferenceBase = inferenceUrl ? parseBase(inferenceUrl, 'inferenceUrl', allowInsecureHttp) : undefined;
    this.#supervisor = supervisor;
    this.#last = this.base;
    this.#allowInsecureHttp = allowInsecureHttp;
  }

  /** Host and port at which the service was last. */
  get host(): string {
    return this.#last.host;
  }

  /**
   * Where the next attempt goes, asked before each.
   *
   * @throws ServiceError where the supervisor does not find the service
   */
  async locate(auth: Auth, signal: AbortSignal): Promise<Place> {
    if (auth === 'inferenceToken' && this.#inferenceBase) return { base: this.#inferenceBase, target: undefined };
    if (!this.#supervisor) return { base: this.base, target: undefined };
    let target: Target;
    try {
      target = await this.#supervisor.locate(signal);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      const why = errorMessage(error);
      throw new NetworkError(why, { code: 'service_not_found' });
    }
    const base = parseBase(target.baseUrl, 'baseUrl', this.#allowInsecureHttp);
    if (base.origin !== this.#last.origin) this.#onOther();
    this.#origins.add(base.origin);
    this.#last = base;
    return { base, target };
  }

  /** Whether an address was given by this service itself, which may have moved since. */
  isOwn(url: URL): boolean {
    return this.#origins.has(url.origin);
  }

  /** An attempt was answered, whatever the answer says. */
  answered({ target }: Place): void {
    if (target) this.#supervisor?.answered?.(target);
  }

  /** After an attempt was lost: whether the service has been found or started again. */
  async recover({ target }: Place, signal: AbortSignal): Promise<boolean> {
    if (!target || !this.#supervisor || signal.aborted) return false;
    try {
      const recovered = await this.#supervisor.recover(target, signal);
      if (recovered) this.#onOther();
      return recovered;
    } catch {
      // The attempt has an error of its own, and the next `locate` says why the service cannot be had.
      return false;
    }
  }
}
