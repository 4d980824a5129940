/**
 * Waits for a shared or uncancellable promise, but only until the signal aborts.
 *
 * @param reason returns the error to throw once the signal aborts; by default the signal's own reason
 * @throws that error, or the promise's error
 */
export async function unlessAborted<Value>(
  shared: Promise<Value>,
  signal: AbortSignal,
  reason: () => unknown = () => signal.reason,
): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(reason());
  // Race even after the abort: an unhandled rejection of the shared promise would end the program.
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted, shared]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
