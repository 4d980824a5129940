/**
 * Servers of this process send no `Date`, which Node takes from the real clock: where time is virtual, benchtop would take
 * the difference for a wrong clock of the service.
 */
import { ServerResponse } from 'node:http';

Object.defineProperty(ServerResponse.prototype, 'sendDate', { get: () => false, set: () => {}, configurable: true });
