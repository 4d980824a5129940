/** Work that the user stops: by a signal that every request of it gets, and that ends the wait for a connection. */
import { unlessAborted } from '../service/supervisor.ts';

/** The user stopped it before anything was sent. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';

  constructor() {
    super('Stopped. Nothing was sent.');
  }
}

/**
 * Waits for something that cannot be stopped itself, such as a connection that others wait for too.
 *
 * @throws StoppedError once the signal aborts
 */
export async function orStopped<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  try {
    return await unlessAborted(value, signal);
  } catch (error) {
    throw signal.aborted && error === signal.reason ? new StoppedError() : error;
  }
}
