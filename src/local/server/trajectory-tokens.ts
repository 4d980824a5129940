/** Short-lived tokens that can log rewards to one trajectory and end it, and nothing else. */
import type { Keyring } from '../store/keyring.ts';

export const tokenLifetimeMs = 15 * 60_000;
const prefix = 'tt_';

export function isTrajectoryToken(token: string): boolean {
  return token.startsWith(prefix);
}

interface TokenScope {
  readonly organizationId: string;
  readonly trajectoryId: string;
}

export class TrajectoryTokens {
  readonly #keyring: Keyring;
  readonly #now: () => number;

  constructor(keyring: Keyring, now: () => number = Date.now) {
    this.#keyring = keyring;
    this.#now = now;
  }

  create({ organizationId, trajectoryId }: TokenScope): { token: string; expires_at: string } {
    const expires = this.#now() + tokenLifetimeMs;
    const signature = this.#keyring.sign('trajectory', [organizationId, trajectoryId, expires]);
    const token = `${prefix}${expires}.${organizationId}.${trajectoryId}.${signature}`;
    return { token, expires_at: new Date(expires).toISOString() };
  }

  /** The scope of a token; undefined if it was not issued here, or has expired. */
  read(token: string): TokenScope | undefined {
    const [expires = '', organizationId = '', trajectoryId = '', signature = ''] = token
      .slice(prefix.length)
      .split('.');
    const parts = [organizationId, trajectoryId, Number(expires)];
    if (!this.#keyring.verify('trajectory', parts, signature) || Number(expires) <= this.#now()) return undefined;
    return { organizationId, trajectoryId };
  }
}
