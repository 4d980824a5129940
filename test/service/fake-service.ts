/** A service of a few functions that a test makes up, for screens that ask for no more. */
import { openGate } from '../../src/service/gate.ts';
import type { Service } from '../../src/service/index.ts';

/** The parts are used for polls as well. */
export function fakeService(parts: object = {}): Service {
  const service = {
    gate: openGate,
    requireWrites: () => {},
    ...parts,
    get background() {
      return service;
    },
  } as unknown as Service;
  return service;
}
