/** The address of each attempt, and the credential it carries. */

import { createHmac } from 'node:crypto';
import { unlessAborted } from '../base/abort.ts';
import { errorMessage } from '../base/errors.ts';
import { originOf } from '../config/address.ts';
import type { Auth } from '../contract/common.ts';
import { stoppedFailure } from '../net/failure.ts';
import { NetworkError, RequestError, ServiceError } from './errors.ts';
import type { ServiceOptions, Supervisor, Target } from './options.ts';
import { parseBase } from './request.ts';

/** Where an attempt goes. */
export interface Place {
  readonly base: URL;
  /** The supervised service at that address; undefined if the address is fixed. */
  readonly target: Target | undefined;
}

/** The error code if the service had been found before: it may be found again. */
export const serviceLost = 'service_lost';

export class Connection {
  /** The configured base address; a supervised service may be elsewhere. */
  readonly base: URL;
  readonly #inferenceBase: URL | undefined;
  readonly #supervisor: Supervisor | undefined;
  readonly #allowInsecureHttp: boolean;
  #last: URL;
  /** Every origin the service has had. */
  readonly #origins = new Set<string>();

  readonly #onOther: () => void;

  /**
   * @param onOther called when another instance of the service may be answering
   * @throws RequestError if an address in the profile is invalid
   */
  constructor({ baseUrl, inferenceUrl, allowInsecureHttp = false, supervisor }: ServiceOptions, onOther: () => void) {
    this.#onOther = onOther;
    this.base = parseBase(baseUrl, 'baseUrl', allowInsecureHttp);
    this.#inferenceBase = inferenceUrl ? parseBase(inferenceUrl, 'inferenceUrl', allowInsecureHttp) : undefined;
    this.#supervisor = supervisor;
    this.#last = this.base;
    this.#allowInsecureHttp = allowInsecureHttp;
  }

  /** Whether a supervisor runs the service, which then has this program's version and every endpoint. */
  get isSupervised(): boolean {
    return this.#supervisor !== undefined;
  }

  /** The last known host and port of the service. */
  get host(): string {
    return this.#last.host;
  }

  /**
   * The address of the next attempt. Called before each attempt.
   *
   * @throws ServiceError if the supervisor does not find the service
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
      throw new NetworkError(why, { code: this.#origins.size === 0 ? 'service_not_found' : serviceLost });
    }
    const base = parseBase(target.baseUrl, 'baseUrl', this.#allowInsecureHttp);
    if (base.origin !== this.#last.origin) this.#onOther();
    this.#origins.add(originOf(base));
    this.#last = base;
    return { base, target };
  }

  /** Whether an address belongs to this service, or once did. */
  isOwn(url: URL): boolean {
    return this.#origins.has(originOf(url));
  }

  /** Reports any response to an attempt. */
  answered({ target }: Place): void {
    if (target) this.#supervisor?.answered?.(target);
  }

  /** Called after a lost connection. Returns whether the service was found or restarted. */
  async recover({ target }: Place, signal: AbortSignal): Promise<boolean> {
    if (!target || !this.#supervisor || signal.aborted) return false;
    try {
      const recovered = await this.#supervisor.recover(target, signal);
      if (recovered) this.#onOther();
      return recovered;
    } catch {
      // The attempt already has an error, and the next `locate` reports why the service is unavailable.
      return false;
    }
  }
}

export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** Empty if there is no credential: the request is sent without one, and the service decides. */
  readonly value: string;
  /**
   * Re-reads the credential after a refusal. Returns whether it has changed. Undefined if there is no source.
   *
   * @throws RequestError if it cannot be read now, WireFailure once the signal aborts
   */
  readonly renew?: (signal: AbortSignal) => Promise<boolean>;
}

/** The result of reading a source. Each reading is a new object, even if the value is the same. */
interface Reading {
  readonly value: string;
}

/** A pending reading, shared by several callers. */
interface SharedReading {
  readonly reading: Promise<Reading>;
  callers: number;
  readonly stop: AbortController;
}

/**
 * A credential, read on first use and cached. After a refusal it is re-read once, even if several calls were refused.
 */
class CachedCredential {
  readonly #what: string;
  readonly #source: ServiceOptions['apiKey'];
  #cached: Reading | undefined;
  #shared: SharedReading | undefined;

  constructor(what: string, source: ServiceOptions['apiKey']) {
    this.#what = what;
    this.#source = source;
  }

  /**
   * Reads the credential. A credential command may be slow: an aborted call stops waiting, and the last call to stop
   * kills the command.
   *
   * @param refused the reading to replace; it stays if the credential cannot be re-read
   * @throws RequestError if it cannot be read, WireFailure once the signal aborts
   */
  async read(signal: AbortSignal, refused?: Reading): Promise<Reading> {
    if (this.#cached && this.#cached !== refused) return this.#cached;
    this.#shared ??= this.#share();
    const shared = this.#shared;
    shared.callers += 1;
    try {
      return await unlessAborted(shared.reading, signal, () => stoppedFailure(signal));
    } finally {
      shared.callers -= 1;
      if (shared.callers === 0) {
        if (this.#shared === shared) this.#shared = undefined;
        shared.stop.abort();
      }
    }
  }

  #share(): SharedReading {
    const stop = new AbortController();
    return { reading: this.#fetch(stop.signal), callers: 0, stop };
  }

  async #fetch(signal: AbortSignal): Promise<Reading> {
    let value: string;
    try {
      value = await this.#source(signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it could not be read';
      throw new RequestError(`Nothing was sent, because ${this.#what} could not be read: ${why}`, {
        code: 'credential_unavailable',
      });
    }
    this.#cached = { value: checked(this.#what, value) };
    return this.#cached;
  }
}

/** The parts of an attempt that decide its credential. */
interface Attempt {
  /** Access token for one trajectory. */
  readonly token: string | undefined;
  /** The location of a supervised service, with its key. */
  readonly target: Target | undefined;
  readonly signal: AbortSignal;
}

export class Credentials {
  readonly #apiKey: CachedCredential;
  readonly #inferenceToken: CachedCredential;
  readonly #owner: ServiceOptions['apiKeyOwner'];
  readonly #sent = new Set<string>();

  constructor({
    apiKey,
    inferenceToken,
    apiKeyOwner,
  }: Pick<ServiceOptions, 'apiKey' | 'inferenceToken' | 'apiKeyOwner'>) {
    this.#owner = apiKeyOwner;
    this.#apiKey = new CachedCredential('the API key', apiKey);
    // A shared source is read once.
    this.#inferenceToken =
      inferenceToken === apiKey ? this.#apiKey : new CachedCredential('the inference token', inferenceToken);
  }

  /** Every credential sent in this session: a later response may repeat any of them. */
  get sent(): Iterable<string> {
    return this.#sent;
  }

  /** A hash of the organization's API key, or of the command that prints it, with this secret. @throws as `of` does */
  async apiKeyHash(secret: string, signal: AbortSignal): Promise<string> {
    const { value } = await this.#apiKey.read(signal);
    return createHmac('sha256', secret)
      .update(this.#owner?.() ?? value)
      .digest('base64url');
  }

  /**
   * The credential for an attempt.
   *
   * @throws RequestError if it cannot be read or sent, WireFailure once the signal aborts
   */
  async of(auth: Auth, { token, target, signal }: Attempt): Promise<Credential> {
    const credential = await this.#choose(auth, token, target, signal);
    if (credential.value !== '') this.#sent.add(credential.value);
    return credential;
  }

  async #choose(auth: Auth, token: string | undefined, target: Target | undefined, signal: AbortSignal) {
    if (auth === 'trajectoryToken' && token !== undefined) return bearer(checked('the trajectory token', token));
    const as = auth === 'inferenceToken' ? bearer : apiKey;
    if (target) return as(checked('the API key', target.apiKey));
    const cached = auth === 'inferenceToken' ? this.#inferenceToken : this.#apiKey;
    const reading = await cached.read(signal);
    const renew = async (until: AbortSignal): Promise<boolean> => {
      const { value } = await cached.read(until, reading);
      return value !== reading.value;
    };
    return { ...as(reading.value), renew };
  }
}

function apiKey(value: string): Credential {
  return { headers: value === '' ? {} : { 'x-api-key': value }, value };
}

function bearer(value: string): Credential {
  return { headers: value === '' ? {} : { authorization: `Bearer ${value}` }, value };
}

/** @throws RequestError */
function checked(what: string, value: string): string {
  const trimmed = value.trim();
  if (/^[\x21-\x7e]*$/.test(trimmed)) return trimmed;
  throw new RequestError(`Nothing was sent: ${what} contains characters that a header cannot carry. Enter it again.`, {
    code: 'credential_invalid',
  });
}
