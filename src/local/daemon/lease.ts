/** A lease: an open request that keeps the local service awake while a screen is using it. Either side can end it. */
import { Agents } from '../../net/agents.ts';
import { exchange } from '../../net/wire.ts';

/** Why a lease ended: the service was stopped or replaced, or the connection was lost. */
export type LeaseEnd = 'stopped' | 'replaced' | 'lost';

const leasePath = '/local/lease';

/** Sent as a lease's last line. */
const leaseEndLine = (endReason: LeaseEnd): string => `:${endReason}\n`;

/** Service side: the open leases. */
export class Leases {
  readonly #open = new Set<ReadableStreamDefaultController<Uint8Array>>();

  get count(): number {
    return this.#open.size;
  }

  /** The response body, which lasts until either side ends it. */
  open(): ReadableStream<Uint8Array> {
    let lease: ReadableStreamDefaultController<Uint8Array> | undefined;
    return new ReadableStream({
      start: controller => {
        lease = controller;
        this.#open.add(controller);
        // Forces the response headers to be flushed immediately.
        controller.enqueue(Buffer.from(':held\n'));
      },
      cancel: () => {
        if (lease) this.#open.delete(lease);
      },
    });
  }

  end(endReason: LeaseEnd): void {
    for (const lease of this.#open) {
      lease.enqueue(Buffer.from(leaseEndLine(endReason)));
      lease.close();
    }
    this.#open.clear();
  }
}

/** Timeout for connecting, in milliseconds. */
const connectMs = 5_000;
const agents = new Agents(undefined);

/**
 * Client side. `onEnd` is called once when the service ends, but not after a release. The connection does not keep the
 * process alive.
 */
export function holdLease(
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
  onEnd: (endReason: LeaseEnd) => void,
): () => void {
  const release = new AbortController();
  let received = '';
  const hold = async (): Promise<void> => {
    const url = new URL(`${baseUrl}${leasePath}`);
    const answer = await exchange({
      method: 'GET',
      url,
      headers: { 'x-api-key': apiKey },
      agent: await agents.get(url, 'long'),
      connectMs,
      // A lease may be silent for hours.
      silenceMs: Number.POSITIVE_INFINITY,
      background: true,
      signal: release.signal,
    });
    for await (const part of answer.chunks()) received = `${received}${Buffer.from(part)}`.slice(-64);
  };
  const end = (): void => {
    if (release.signal.aborted) return;
    const endReason = (['stopped', 'replaced'] as const).find(word => received.endsWith(leaseEndLine(word)));
    onEnd(endReason ?? 'lost');
  };
  hold().then(end, end);
  return () => release.abort();
}
