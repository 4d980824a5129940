/**
 * Waits for what others wait for as well, or cannot be stopped.
 *
 * @param reason gives what is thrown once the signal aborts; its own reason, if it is missing
 * @throws what `reason` gives, once the signal aborts
 */
export async function unlessAborted<Value>(
  shared: Promise<Value>,
  signal: AbortSignal,
  reason: () => unknown = () => signal.reason,
): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(reason());
  // Raced also where it is over: a failure of what is shared must not be left without a handler, which ends the program.
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted, shared]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
