/** The writes that users trigger. An action is a function that sends a request, plus a declaration of its effects. */

import { unlessAborted } from '../base/abort.ts';
import { asError } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import { isRecord } from '../base/own-property.ts';
import { statusMeaning } from '../contract/status.ts';
import {
  affectsAllRequests,
  CapabilityMissingError,
  isGone,
  isUnanswered,
  mayHaveHappened,
  mayLackPath,
  ResponseError,
  ServiceError,
} from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { CallOptions } from '../service/options.ts';
import type { EarlierStart, StartKeys } from '../store/start-keys.ts';
import { describeUnrecorded, UnrecordedError } from '../store/unrecorded.ts';
import { clean } from '../text/sanitise.ts';
import type { Observation } from './statuses/known-resource.ts';

/** A resource that an action removed. */
export interface RemovedResource {
  /** Missing for resources without a status, which are not remembered. */
  readonly kind?: string;
  readonly id: string;
}

interface Removal<Input, Result> {
  /** The resource that a success deletes; undefined if the response shows that it was kept. */
  resource(input: Input, answer?: Result): RemovedResource | undefined;
  /** Reads the resource again. Resolves to undefined if it is no longer listed. @throws ServiceError */
  reread(service: Service, input: Input, options: CallOptions): Promise<unknown>;
  /** The response to a deletion that keeps only this record; undefined if more than the record was kept. */
  kept?(record: unknown, input: Input): Result | undefined;
}

interface ActionEffects<Input, Result> {
  /** Prefixes of the query keys whose results change. */
  readonly touches: readonly (readonly unknown[])[];
  /**
   * Set if the action starts something: a retry with the same input reuses its idempotency key. Keys are stored under
   * this name, so it must not change.
   */
  readonly keyed?: string;
  /** Set if the key is the id of what is sent, which a service does not forget after a day. */
  readonly keyIsId?: true;
  /** The flag that sends it with a key from the user; by default `--idempotency-key KEY`. */
  readonly keyFlag?: string;
  /** Set if the action keeps its own record of what it has sent, and refuses what it cannot record. */
  readonly isRecorded?: true;
  starts?(result: Result, input: Input): Observation;
  /**
   * Set if the action deletes a resource. After a 404, the resource is read again. If that also fails with 404, it
   * counts as deleted, and there is no response.
   */
  readonly removes?: Removal<Input, Result>;
}

/** @throws ServiceError */
export interface Action<Input, Result = unknown> extends ActionEffects<Input, Result> {
  (service: Service, input: Input, options?: CallOptions): Promise<Result>;
}

export function action<Input, Result>(
  send: (service: Service, input: Input, options?: CallOptions) => Promise<Result>,
  effects: ActionEffects<Input, Result>,
): Action<Input, Result> {
  return Object.assign(send.bind(undefined), effects);
}

/** An input that failed. `error` is missing if it was not sent because it would have failed like an earlier one. */
export interface FailedInput<Input> {
  readonly input: Input;
  readonly error: Error | undefined;
}

interface SendOptions {
  readonly signal: AbortSignal;
  /** The idempotency keys, for an action that starts something. */
  readonly keys?: StartKeys | undefined;
}

interface KeyedOptions extends SendOptions {
  /** An idempotency key from the user. */
  readonly idempotencyKey?: string | undefined;
  /** Called before sending if it may already have been started and the user gave no key. Throws to prevent sending. */
  readonly onEarlier?: ((earlier: EarlierStart) => void | Promise<void>) | undefined;
}

interface SendAllOptions<Input> extends SendOptions {
  /** Called after each success, with the number of successes so far and the response, if there is one. */
  readonly onSuccess?: ((input: Input, done: number, answer: unknown) => void) | undefined;
}

/** Whether a start request with an unknown outcome can safely be repeated: the service still honours its key. */
export const isHarmlessRepeat = ({ isExpired }: EarlierStart, { honoursKeys }: Pick<Service, 'honoursKeys'>): boolean =>
  honoursKeys && !isExpired;

/**
 * Runs an action. An input whose earlier outcome is unknown keeps its idempotency key.
 *
 * @throws ServiceError; UnrecordedError if its key cannot be written, so that a repeat could do it twice
 */
export async function sendKeyed<Input, Result>(
  service: Service,
  send: Action<Input, Result>,
  input: Input,
  { signal, keys, idempotencyKey, onEarlier }: KeyedOptions,
): Promise<Result> {
  const { keyed } = send;
  if (keyed === undefined || !keys) return send(service, input, { signal, idempotencyKey });
  const earlier = idempotencyKey === undefined ? keys.earlier(keyed, input) : undefined;
  if (earlier) await onEarlier?.(earlier);
  const key = keys.take(keyed, input, idempotencyKey ?? (send.keyIsId && earlier?.key));
  const why = keys.whyUnwritten(key);
  if (why !== undefined && idempotencyKey === undefined && !send.isRecorded && !service.honoursKeys) {
    keys.settle(keyed, input, key, 'refused');
    const { keyFlag = '--idempotency-key KEY' } = send;
    throw new UnrecordedError(
      describeUnrecorded(
        'it cannot be recorded, and a repeat could do it twice',
        why,
        `on the command line, ${keyFlag} sends it`,
      ),
    );
  }
  try {
    const result = await send(service, input, { signal, idempotencyKey: key });
    keys.settle(keyed, input, key, 'started');
    const { id } = send.starts?.(result, input) ?? {};
    if (id) keys.noteStart(keyed, input, key, id);
    return result;
  } catch (error) {
    keys.settle(keyed, input, key, mayHaveHappened(error) ? 'unknown' : 'refused');
    throw error;
  }
}

/** Whether the service reports that there is nothing to delete. */
const isNotFound = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.status === 404 || isGone(error));

/**
 * Runs an action for one input. A deletion's 404 may be about the path, or come from a gateway: only reading the
 * resource again shows whether it exists. If it does, tries the other generation's path once.
 *
 * @returns the response; undefined if the resource no longer exists
 * @throws ServiceError
 */
async function sendOne<Input, Result>(
  service: Service,
  send: Action<Input, Result>,
  input: Input,
  options: SendOptions,
): Promise<Result | undefined> {
  const { removes } = send;
  const { signal } = options;
  /**
   * Reads the resource again. Returns a response, undefined if the resource is gone, or an error if it still exists.
   */
  const readAgain = async (error: unknown): Promise<Result | ServiceError | undefined> => {
    if (!removes || !isNotFound(error)) throw error;
    const name = removes.resource(input)?.id ?? 'it';
    const record = await removes.reread(service, input, { signal }).catch((failure: unknown) => {
      if (isGone(failure) && !mayLackPath(failure)) return undefined;
      throw notReadAgain(name, error, asError(failure));
    });
    return record === undefined ? undefined : (removes.kept?.(record, input) ?? stillThere(name, record, error));
  };
  try {
    return await sendKeyed(service, send, input, options);
  } catch (error) {
    const refusal = await readAgain(error);
    if (!(refusal instanceof ServiceError)) return refusal;
    return await send(service, input, { signal, otherPath: true }).catch(async (other: unknown) => {
      // Any other refusal means that the service knows the path.
      if (!isNotFound(other)) throw isUnanswered(other) || !lacksPath(other) ? other : refusal;
      const found = await readAgain(other);
      if (found instanceof ServiceError) throw refusal;
      return found;
    });
  }
}

/** Whether a request was not sent, or its path may be unknown to the service. */
const lacksPath = (error: unknown): boolean =>
  error instanceof ServiceError && (error.noSuchPath || error.kind === 'request' || error.kind === 'validation');

/** The error for a deletion that failed with 404 although the resource can still be read. */
function stillThere(name: string, record: unknown, refusal: ServiceError): ServiceError {
  // The message already explains that the service does not delete these resources.
  if (refusal instanceof CapabilityMissingError) return refusal;
  const { operation, noSuchPath } = refusal;
  const status = isRecord(record) && typeof record['status'] === 'string' ? record['status'] : undefined;
  const statusText = status === undefined ? '' : clean` with the status ${status}`;
  const isStopping = status !== undefined && statusMeaning(status) === 'stopping';
  const outcome = isStopping ? ': it is not deleted yet.' : ', so it was not deleted.';
  const found = clean`But ${name} can still be read${statusText}${outcome}`;
  const advice = `If this service deletes it at another path, set assumptions.path.${operation} in the profile.`;
  return refusedWith(refusal, `${found}${noSuchPath || isStopping ? '' : ` ${advice}`}`, false);
}

/** The error for a deletion that failed with 404 when the resource could not be read again. */
function notReadAgain(name: string, refusal: ServiceError, failure: Error): ServiceError {
  const unknown = clean`It is not known whether ${name} was deleted, because it could not be read again.`;
  return refusedWith(refusal, `${unknown} ${failure.message}`, true);
}

/** A deletion's 404 with what reading the resource again has shown. */
const refusedWith = (refusal: ServiceError, shown: string, outcomeUnknown: boolean): ServiceError =>
  new ResponseError(`${refusal.words ?? refusal.message} ${shown}`, { ...refusal, mayLackPath: false, outcomeUnknown });

/** Runs an action for each input, a few in parallel. Never rejects: returns the failed inputs, in order. */
export async function sendAll<Input>(
  service: Service,
  send: Action<Input>,
  inputs: readonly Input[],
  { signal, keys, onSuccess }: SendAllOptions<Input>,
): Promise<readonly FailedInput<Input>[]> {
  const left = new Map(inputs.map(input => [input, undefined as Error | undefined]));
  let stopped = false;
  const trySend = async (input: Input): Promise<{ readonly answer: unknown } | undefined> => {
    try {
      return { answer: await sendOne(service, send, input, { signal, keys }) };
    } catch (error) {
      left.set(input, asError(error));
      stopped ||= affectsAllRequests(error);
      return undefined;
    }
  };
  await inParallel(inputs, async input => {
    const sent = stopped || signal.aborted ? undefined : await trySend(input);
    if (!sent) return;
    left.delete(input);
    onSuccess?.(input, inputs.length - left.size, sent.answer);
  });
  return [...left].map(([input, error]) => ({ input, error }));
}

/** The user stopped it before anything was sent. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';

  constructor() {
    super('Stopped. Nothing was sent.');
  }
}

/**
 * Waits for something that cannot be stopped, such as a shared connection.
 *
 * @throws StoppedError once the signal aborts
 */
export async function unlessStopped<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  try {
    return await unlessAborted(value, signal);
  } catch (error) {
    throw signal.aborted && error === signal.reason ? new StoppedError() : error;
  }
}
