/** What is known about a call while it is made, and the words that its errors share. */
import type { Auth, Method } from '../contract/common.ts';
import type { ErrorDetails } from './errors.ts';
import type { Redact } from './redaction.ts';

export interface CallFacts {
  readonly method: Method;
  /** Whether the call changes something at the service. */
  readonly isWrite: boolean;
  /** What is said where the answer was lost and the call changes nothing. */
  readonly lostAdvice?: string;
  /** Path without the query. */
  readonly path: string;
  /** Host and port. */
  readonly host: string;
  readonly auth: Auth;
  readonly redact: Redact;
  /** An earlier attempt of this write may have reached the service. */
  readonly mayHaveHappened: boolean;
  /** What every error of this attempt holds. */
  readonly details: Pick<ErrorDetails, 'operation' | 'attempts' | 'idempotencyKey' | 'partial'>;
}

export const outcomeAdvice = 'It may have happened all the same: look before doing it again.';

const longestMessage = 2_000;

/** The text as one sentence of a message, of bearable length. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  const clipped = trimmed.length > longestMessage ? `${trimmed.slice(0, longestMessage)}…` : trimmed;
  return clipped === '' || /[.!?…:]$/.test(clipped) ? clipped : `${clipped}.`;
}

/** A wait in words, rounded up so that trying again then is not too early. */
export function inSeconds(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const seconds = Math.ceil(ms / 1_000);
  return seconds <= 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
