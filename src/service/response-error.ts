/** Errors of answers that are neither what the contract says nor an error of the service. */
import type * as z from 'zod/mini';
import { type ErrorAnswer, requestIdOf } from './answer-error.ts';
import { ResponseError } from './errors.ts';
import { type CallFacts, outcomeAdvice } from './facts.ts';
import { describeIssues } from './issues.ts';

type Head = Pick<ErrorAnswer, 'status' | 'headers'>;

function responseError({ status, headers }: Head, facts: CallFacts, code: string, message: string): ResponseError {
  const accepted = status >= 200 && status < 300;
  const outcomeUnknown = (facts.isWrite && accepted) || facts.mayHaveHappened;
  return new ResponseError(outcomeUnknown ? `${message} ${outcomeAdvice}` : message, {
    ...facts.details,
    code,
    status,
    requestId: requestIdOf(headers, facts.redact),
    outcomeUnknown,
  });
}

/** A redirect is not followed: the credential would go along. Only the origin is named, for an address may be a key. */
export function redirected(
  answer: Head,
  facts: CallFacts,
  from: URL,
  advice = 'If it is the right address, set it as the base URL.',
): ResponseError {
  const location = answer.headers['location'] ?? '';
  const target = URL.canParse(location, from.href) ? facts.redact(new URL(location, from.href).origin) : 'nowhere';
  return responseError(
    answer,
    facts,
    'redirected',
    `${facts.host} sends elsewhere, to ${target}. That was not followed, so that no credential goes there. ${advice}`,
  );
}

export function tooLarge(answer: Head, facts: CallFacts, maxBytes: number): ResponseError {
  return responseError(
    answer,
    facts,
    'answer_too_large',
    `The answer to ${facts.method} ${facts.path} is larger than ${Math.round(maxBytes / 1024)} KiB and was not read. Ask for less of it.`,
  );
}

/** An answer that says success, and whose body cannot be used. */
export function misunderstood(
  answer: ErrorAnswer,
  facts: CallFacts,
  issues: readonly z.core.$ZodIssue[],
): ResponseError {
  const what = `The answer to ${facts.method} ${facts.path}`;
  if (answer.body !== undefined) {
    return responseError(
      answer,
      facts,
      'answer_unexpected',
      `${what} is not what this program knows: ${describeIssues(issues)}. The service may be of another version.`,
    );
  }
  if (/^\s*</.test(answer.text)) {
    return responseError(
      answer,
      facts,
      'answer_not_json',
      `${what} is a web page, not JSON: a proxy or a sign-in page may have answered. Check the network and the base URL.`,
    );
  }
  return responseError(
    answer,
    facts,
    'answer_not_json',
    `${what} is not whole JSON: it was cut off or damaged on the way. Try again.`,
  );
}
