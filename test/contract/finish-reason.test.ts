/** Which finish reasons mean that an answer is missing or incomplete. */
import { expect, it } from 'vitest';
import { earlyEndOf } from '../../src/contract/finish-reason.ts';

it.each([
  ['length', 'token limit'],
  ['max_tokens', 'token limit'],
  ['MAX_TOKENS', 'token limit'],
  ['content_filter', 'content filter'],
  ['refusal', 'refusal'],
  ['error', 'error'],
  ...['stop', 'end_turn', 'stop_sequence', 'tool_calls', 'tool_use', 'constructor', '', null, undefined].map(
    reason => [reason, undefined] as const,
  ),
] as const)('the finish reason %j means an early end: %s', (reason, end) => {
  expect(earlyEndOf(reason)).toBe(end);
});
