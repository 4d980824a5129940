/** The meaning of finish reasons. Pure. */

/** Why an answer is missing or incomplete. */
export type EarlyEnd = 'token limit' | 'content filter' | 'refusal' | 'error';

/** A Map, because a reason is text from the service and must not reach a prototype. */
const earlyEnds: ReadonlyMap<unknown, EarlyEnd> = new Map<unknown, EarlyEnd>([
  ['length', 'token limit'],
  ['max_tokens', 'token limit'],
  ['content_filter', 'content filter'],
  ['refusal', 'refusal'],
  ['error', 'error'],
]);

/**
 * Why an answer with this finish reason is missing or incomplete; undefined if the model ended it, or for a reason with
 * no known meaning. Covers `finish_reason` of OpenAI's chat completions (`length`, `content_filter`), `stop_reason` of
 * Anthropic's messages (`max_tokens`, `refusal`), and what OpenRouter adds (`error`).
 */
export const earlyEndOf = (reason: string | null | undefined): EarlyEnd | undefined => earlyEnds.get(reason);
