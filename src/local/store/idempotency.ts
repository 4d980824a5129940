/** Responses to requests with an `Idempotency-Key`: a retry gets the first response and does nothing. */
import { parseExactly } from '../../base/exact-json.ts';
import { orderedJson } from '../../base/ordered-json.ts';
import type { Database } from './database.ts';
import { now, sha256 } from './ids.ts';

export class IdempotencyConflict extends Error {}

const keptMs = 7 * 24 * 60 * 60 * 1000;
/** Expired responses are deleted after this many new ones. */
const pruneEvery = 500;

/** A request whose response is kept. */
interface KeyedRequest {
  readonly organizationId: string;
  /** The scope of the key. */
  readonly operation: string;
  /** Without a key, every request is executed. */
  readonly key: string | undefined;
  readonly body: unknown;
}

export class IdempotencyStore {
  readonly #database: Database;
  #sincePruned = pruneEvery;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Removes expired responses. */
  #prune(): void {
    this.#sincePruned += 1;
    if (this.#sincePruned < pruneEvery) return;
    this.#sincePruned = 0;
    const expired = new Date(Date.now() - keptMs).toISOString();
    this.#database.run('delete from idempotency_keys where created_at < ?', expired);
  }

  /**
   * The first response to this key; undefined if there is none.
   *
   * @throws IdempotencyConflict if the key was used for another request
   */
  answerTo<Answer>(request: KeyedRequest): Answer | undefined {
    return request.key === undefined ? undefined : this.#known<Answer>(request, bodyHash(request));
  }

  #known<Answer>({ organizationId, ...request }: KeyedRequest, hash: string): Answer | undefined {
    const known = this.#database.get<{ request_hash: string; answer: string }>(
      'select request_hash, answer from idempotency_keys where organization_id = ? and key = ?',
      organizationId,
      scopedKey(request),
    );
    if (known && known.request_hash !== hash)
      throw new IdempotencyConflict('This Idempotency-Key has already been used for another request.');
    return known && (parseExactly(known.answer) as Answer);
  }

  /**
   * Returns the first response to this key, or runs `work` and stores its result in the same transaction.
   *
   * @throws IdempotencyConflict if the key was used for another request
   */
  once<Answer>(request: KeyedRequest, work: () => Answer): Answer {
    if (request.key === undefined) return this.#database.transaction(work);
    const request_hash = bodyHash(request);
    return this.#database.transaction(() => {
      const known = this.#known<Answer>(request, request_hash);
      if (known !== undefined) return known;
      const answer = work();
      this.#prune();
      this.#database.insert('idempotency_keys', {
        organization_id: request.organizationId,
        key: scopedKey(request),
        request_hash,
        answer: JSON.stringify(answer),
        created_at: now(),
      });
      return answer;
    });
  }
}

/** Ignores the order of fields, which may differ when a client repeats a request. */
const bodyHash = ({ body }: KeyedRequest): string => sha256(orderedJson(body));

const scopedKey = ({ operation, key }: Pick<KeyedRequest, 'operation' | 'key'>): string => `${operation} ${key}`;
