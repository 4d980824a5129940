/** Writes that users start. An action is a function that sends a request, with its effects. */
import { affectsAllRequests, isGone, mayLackPath } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { CallOptions } from '../service/options.ts';
import { unlessAborted } from '../text/abort.ts';
import { asError } from '../text/errors.ts';
import { inParallel } from '../text/in-parallel.ts';
import type { StartKeys } from './start-keys.ts';
import type { Observation } from './statuses/store.ts';

/** A resource that an action removed. */
export interface Removed {
  /** Missing for kinds that have no status and are not remembered. */
  readonly kind?: string;
  readonly id: string;
}

export interface ActionEffects<Input, Result> {
  /** Query keys whose answers change; each matches every key that begins with it. */
  readonly touches: readonly (readonly unknown[])[];
  /** It starts something: the same input again carries the same idempotency key. */
  readonly keyed?: boolean;
  /** What it started. */
  starts?(result: Result, input: Input): Observation;
  /** The resource that is gone after success. If the service no longer has it, that counts as success too. */
  removes?(input: Input): Removed;
}

/** @throws ServiceError */
export interface Action<Input, Result = unknown> extends ActionEffects<Input, Result> {
  (service: Service, input: Input, options?: CallOptions): Promise<Result>;
}

/** Declares an action. */
export function action<Input, Result>(
  send: (service: Service, input: Input, options?: CallOptions) => Promise<Result>,
  effects: ActionEffects<Input, Result>,
): Action<Input, Result> {
  return Object.assign(send.bind(undefined), effects);
}

/** A failed input. `error` is missing if it was not sent, because all would have failed like an earlier one. */
export interface FailedInput<Input> {
  readonly input: Input;
  readonly error: Error | undefined;
}

export interface SendAllOptions<Input> {
  readonly signal: AbortSignal;
  /** The idempotency keys of an action that starts something. */
  readonly keys?: StartKeys | undefined;
  /** Called after each success, with the number of successes so far, and the answer if there is one. */
  readonly onSuccess?: ((input: Input, done: number, answer: unknown) => void) | undefined;
}

/** Runs an action. An input whose earlier outcome is not known keeps its idempotency key. @throws ServiceError */
export async function sendKeyed<Input, Result>(
  service: Service,
  send: Action<Input, Result>,
  input: Input,
  { signal, keys }: Pick<SendAllOptions<Input>, 'signal' | 'keys'>,
): Promise<Result> {
  if (!send.keyed || !keys) return send(service, input, { signal });
  try {
    const result = await send(service, input, { signal, idempotencyKey: keys.of(send, input) });
    keys.settle(send, input);
    return result;
  } catch (error) {
    keys.settle(send, input, error);
    throw error;
  }
}

/** Runs an action for each input, a few in parallel. Never rejects: returns the failed inputs in order. */
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
      return { answer: await sendKeyed(service, send, input, { signal, keys }) };
    } catch (error) {
      // A 404 that may concern the path says nothing about the resource.
      if (send.removes && isGone(error) && !mayLackPath(error)) return { answer: undefined };
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
