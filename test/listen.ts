/** Ports for servers of tests. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

const used = new Set<number>();

/**
 * Listens on a port of loopback that no earlier server of this process had: the program waits with a host and port that
 * has refused requests, and the system soon gives a port to another server.
 */
export async function listenOnNewPort(server: Server): Promise<number> {
  for (;;) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if (!used.has(port)) {
      used.add(port);
      return port;
    }
    server.close();
    await once(server, 'close');
  }
}
