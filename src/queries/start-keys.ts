/**
 * The idempotency keys of starts whose outcome is not known, by action and content: the same start again carries the
 * same key, whatever window it is sent from.
 */
import { mayHaveHappened } from '../service/errors.ts';

interface StartKey {
  readonly key: string;
  /** An earlier start with this key may have happened. */
  readonly isOpen?: boolean;
}

export class StartKeys {
  readonly #keys = new Map<object, Map<string, StartKey>>();

  /** The key for this input of an action, the same until it is settled. */
  of(action: object, input: unknown): string {
    const content = JSON.stringify(input);
    const keys = this.#keys.get(action) ?? new Map<string, StartKey>();
    this.#keys.set(action, keys);
    const known = keys.get(content) ?? { key: crypto.randomUUID() };
    keys.set(content, known);
    return known.key;
  }

  /**
   * Forgets the key once the outcome is known, so that the same input starts another one. A refusal says nothing about
   * an earlier attempt whose outcome is not known; only a success does.
   *
   * @param error why it failed; missing after a success
   */
  settle(action: object, input: unknown, error?: unknown): void {
    const keys = this.#keys.get(action);
    const content = JSON.stringify(input);
    const known = keys?.get(content);
    if (!keys || !known) return;
    const isOpen = error !== undefined && (known.isOpen || mayHaveHappened(error));
    if (isOpen) keys.set(content, { ...known, isOpen });
    else keys.delete(content);
  }
}
