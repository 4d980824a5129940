/** The meaning of finish reasons. Pure. */

/** Why an answer is missing or incomplete. */
export type EarlyEnd = 'token limit' | 'content filter' | 'refusal' | 'error';

/** A Map, because a reason is text from the service and must not reach a prototype. */
const earlyEnds: ReadonlyMap<string, EarlyEnd> = new Map<string, EarlyEnd>([
  ['length', 'token limit'],
  ['max_tokens', 'token limit'],
  ['content_filter', 'content filter'],
  ['refusal', 'refusal'],
  ['error', 'error'],
]);

/**
 * Why an answer with this finish reason is missing or incomplete; undefined if the model ended it, or if the reason is
 * unknown. Covers OpenAI's `finish_reason` (`length`, `content_filter`), Anthropic's `stop_reason` (`max_tokens`,
 * `refusal`), Gemini's `MAX_TOKENS` and OpenRouter's addition (`error`).
 */
export const earlyEndOf = (reason: string | null | undefined): EarlyEnd | undefined =>
  earlyEnds.get((reason ?? '').toLowerCase());
