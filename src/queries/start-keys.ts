/**
 * The idempotency keys of starts whose outcome is not known, by action and content: the same start again carries the
 * same key, whatever window it is sent from.
 */
import { ServiceError } from '../service/errors.ts';

export class StartKeys {
  readonly #keys = new Map<object, Map<string, string>>();

  /** The key for this input of an action, the same until it is settled. */
  of(action: object, input: unknown): string {
    const content = JSON.stringify(input);
    const keys = this.#keys.get(action) ?? new Map<string, string>();
    this.#keys.set(action, keys);
    const key = keys.get(content) ?? crypto.randomUUID();
    keys.set(content, key);
    return key;
  }

  /**
   * Forgets the key once the outcome is known: the same input starts another one then.
   *
   * @param error why it failed; missing after a success
   */
  settle(action: object, input: unknown, error?: unknown): void {
    if (error instanceof ServiceError && error.outcomeUnknown) return;
    this.#keys.get(action)?.delete(JSON.stringify(input));
  }
}
