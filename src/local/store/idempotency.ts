/** Answers to requests with an `Idempotency-Key`: a repeat gets the first answer and does nothing. */
import type { Database } from './database.ts';
import { now, sha256 } from './ids.ts';

export class IdempotencyConflict extends Error {}

/** Clients repeat a request within minutes. */
const keptMs = 7 * 24 * 60 * 60 * 1000;
/** Expired answers are removed once in this many new ones. */
const pruneEvery = 500;
let sincePruned = pruneEvery;

/** Removes expired answers. */
function prune(database: Database): void {
  sincePruned += 1;
  if (sincePruned < pruneEvery) return;
  sincePruned = 0;
  database.run('delete from idempotency_keys where created_at < ?', new Date(Date.now() - keptMs).toISOString());
}

/**
 * Returns the first answer to this key, or runs `work` and stores its answer in the same transaction.
 *
 * @throws IdempotencyConflict if the key came with another request
 */
export function once<Answer>(
  database: Database,
  organizationId: string,
  key: string | undefined,
  request: unknown,
  work: () => Answer,
): Answer {
  if (key === undefined) return database.transaction(work);
  const hash = sha256(JSON.stringify(request));
  return database.transaction(() => {
    const known = database.get<{ request_hash: string; answer: string }>(
      'select request_hash, answer from idempotency_keys where organization_id = ? and key = ?',
      organizationId,
      key,
    );
    if (known) {
      if (known.request_hash !== hash)
        throw new IdempotencyConflict('This Idempotency-Key was used for another request before.');
      return JSON.parse(known.answer) as Answer;
    }
    const answer = work();
    prune(database);
    database.insert('idempotency_keys', {
      organization_id: organizationId,
      key,
      request_hash: hash,
      answer: JSON.stringify(answer),
      created_at: now(),
    });
    return answer;
  });
}
