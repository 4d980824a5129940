/** An open request that keeps the local service awake while a screen shows it. It ends with either side. */
// An `import` would load Node's fetch as well, which takes 20 ms.
const { request } = process.getBuiltinModule('node:http');

/** Why a lease ended: the service was stopped, replaced, or is gone without notice. */
export type LeaseEnd = 'stopped' | 'replaced' | 'lost';

const leasePath = '/local/lease';

/** Sent as the last line of a lease. */
const leaseEndLine = (farewell: LeaseEnd): string => `:${farewell}\n`;

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
        // Flushes the response headers immediately.
        controller.enqueue(Buffer.from(':held\n'));
      },
      cancel: () => {
        if (lease) this.#open.delete(lease);
      },
    });
  }

  end(farewell: LeaseEnd): void {
    for (const lease of this.#open) {
      lease.enqueue(Buffer.from(leaseEndLine(farewell)));
      lease.close();
    }
    this.#open.clear();
  }
}

/**
 * Client side. `onEnd` is called once, when the service is gone, and not after a release. The connection does not keep
 * the process alive.
 */
export function holdLease(
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
  onEnd: (farewell: LeaseEnd) => void,
): () => void {
  let open = true;
  let said = '';
  const end = (): void => {
    if (!open) return;
    open = false;
    const farewell = (['stopped', 'replaced'] as const).find(word => said.endsWith(leaseEndLine(word)));
    onEnd(farewell ?? 'lost');
  };
  // A separate connection without a timeout: it is silent for hours.
  const call = request(`${baseUrl}${leasePath}`, { agent: false, headers: { 'X-API-Key': apiKey } }, answer => {
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => {
      said = `${said}${text}`.slice(-64);
    });
    answer.on('close', end);
  });
  call.on('socket', socket => socket.unref());
  call.on('error', end);
  call.end();
  return () => {
    open = false;
    call.destroy();
  };
}
