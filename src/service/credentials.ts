/** Which credential a call carries, in which header, and how it is read again once the service refuses it. */
import type { Auth } from '../contract/common.ts';
import { RequestError } from './errors.ts';
import { stopped } from './http.ts';
import type { ServiceOptions, Target } from './options.ts';

export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for none: nothing is sent then, and the service says what it thinks of that. */
  readonly value: string;
  /**
   * Reads it again after the service refused it. Gives whether there is another one now. Missing where it cannot be read
   * again.
   *
   * @throws RequestError where it cannot be read now, WireFailure once the signal aborts
   */
  readonly renew?: (signal: AbortSignal) => Promise<boolean>;
}

/** A value as it was read; another reading is another object, also of the same value. */
interface Reading {
  readonly value: string;
}

/**
 * A credential that is read when it is first needed, and again only once it was refused. However many calls are refused
 * with one reading, it is read again once.
 */
class HeldCredential {
  readonly #what: string;
  readonly #source: () => Promise<string>;
  #held: Reading | undefined;
  #reading: Promise<Reading> | undefined;

  constructor(what: string, source: () => Promise<string>) {
    this.#what = what;
    this.#source = source;
  }

  /** @param refused what is not to be given any more; where it cannot be read again, it is kept all the same */
  async read(refused?: Reading): Promise<Reading> {
    if (this.#held && this.#held !== refused) return this.#held;
    this.#reading ??= this.#fetch().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #fetch(): Promise<Reading> {
    let value: string;
    try {
      value = await this.#source();
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it could not be read';
      throw new RequestError(`Nothing was sent, because ${this.#what} could not be read: ${why}`, {
        code: 'credential_unavailable',
      });
    }
    this.#held = { value: checked(this.#what, value) };
    return this.#held;
  }
}

/** What an attempt may bring along. */
interface Attempt {
  /** Access token of one trajectory. */
  readonly token: string | undefined;
  /** Where a supervised service is, with the key that counts there. */
  readonly target: Target | undefined;
  readonly signal: AbortSignal;
}

export class Credentials {
  readonly #apiKey: HeldCredential;
  readonly #inferenceToken: HeldCredential;
  readonly #sent = new Set<string>();

  constructor({ apiKey, inferenceToken }: Pick<ServiceOptions, 'apiKey' | 'inferenceToken'>) {
    this.#apiKey = new HeldCredential('the API key', apiKey);
    // One source for both is read once for both.
    this.#inferenceToken =
      inferenceToken === apiKey ? this.#apiKey : new HeldCredential('the inference token', inferenceToken);
  }

  /** Everything sent in this session: a service may repeat one in its answer to another call, also an old one. */
  get sent(): Iterable<string> {
    return this.#sent;
  }

  /**
   * The credential of one attempt.
   *
   * @throws RequestError where it cannot be read or sent, WireFailure once the signal aborts
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
    const held = auth === 'inferenceToken' ? this.#inferenceToken : this.#apiKey;
    const reading = await abortable(held.read(), signal);
    const renew = async (until: AbortSignal): Promise<boolean> => {
      const { value } = await abortable(held.read(reading), until);
      if (value !== '') this.#sent.add(value);
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

/** A command may take its time; the call need not. */
async function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(stopped(signal));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** @throws RequestError */
function checked(what: string, value: string): string {
  const trimmed = value.trim();
  if (/^[\x21-\x7e]*$/.test(trimmed)) return trimmed;
  throw new RequestError(`Nothing was sent: ${what} holds characters that a header cannot carry. Enter it again.`, {
    code: 'credential_invalid',
  });
}
