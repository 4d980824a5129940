import type { Shares } from './proxy.ts';

/**
 * The purpose of a session: anything; a read-only program, pressed to write; or secrets that are typed and must not be
 * found anywhere afterwards.
 */
export type Purpose = 'anything' | 'read-only' | 'secrets';

/** How bad the answers of a session are: mostly wrong JSON, mostly broken below JSON, or rarely wrong. */
export const shares: readonly Shares[] = [
  { json: 0.5, http: 0.08, tcp: 0.04 },
  { json: 0.9, http: 0, tcp: 0 },
  { json: 0.25, http: 0.3, tcp: 0.15 },
  { json: 0.1, http: 0.02, tcp: 0.01 },
];
