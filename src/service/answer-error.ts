/** Errors from responses: refusals, and responses that violate the contract. */

import type * as z from 'zod/mini';
import { deepestJson, isTooDeep } from '../base/json-depth.ts';
import { leftOut } from '../base/json-rows.ts';
import { isRecord, own } from '../base/own-property.ts';
import { retryAfter } from '../base/retry-waits.ts';
import { type Redact, redactDeep } from '../config/redaction.ts';
import { describeCapability } from '../contract/capabilities.ts';
import type { Auth } from '../contract/common.ts';
import { errorCodes, errorEnvelope, type Failure, failure, inferenceErrorEnvelope } from '../contract/errors.ts';
import { describeIssues } from '../contract/issues.ts';
import { statusText } from '../net/status-text.ts';
import { clean } from '../text/sanitise.ts';
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  type ErrorDetails,
  isUnsupported,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ResponseError,
  ServerError,
  ValidationError,
} from './errors.ts';
import { type CallFacts, inSeconds, isOutcomeUnknown, outcomeAdvice, sentence } from './wire-error.ts';

type AnsweredClass = new (message: string, details: ErrorDetails) => ApiError;

/** The fields of either envelope. */
export interface Envelope {
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly param: string | undefined;
  readonly docUrl: string | undefined;
  readonly context: Record<string, unknown> | undefined;
}

/** Reads either envelope; undefined if the value is neither. */
export function readEnvelope(body: unknown, redact: Redact): Envelope | undefined {
  const shown = redactDeep(body, redact);
  const own = errorEnvelope.safeParse(shown);
  const read = own.success ? own : inferenceErrorEnvelope.safeParse(shown);
  if (!read.success) return undefined;
  const { type, code, message, param, doc_url, context } = read.data.error;
  return {
    type: type ?? undefined,
    code: code == null ? undefined : String(code),
    message: message ?? undefined,
    param: param ?? undefined,
    docUrl: typeof doc_url === 'string' ? doc_url : undefined,
    context: isRecord(context) ? context : undefined,
  };
}

const classOfType: Readonly<Record<string, AnsweredClass>> = {
  authentication_error: AuthenticationError,
  permission_error: PermissionError,
  not_found_error: NotFoundError,
  conflict_error: ConflictError,
  rate_limit_error: RateLimitError,
  dependency_error: ServerError,
  api_error: ServerError,
  overloaded_error: ServerError,
  invalid_request_error: ValidationError,
};

const classOfStatus: Readonly<Record<number, AnsweredClass>> = {
  400: ValidationError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  408: ServerError,
  409: ConflictError,
  413: ValidationError,
  415: ValidationError,
  422: ValidationError,
  429: RateLimitError,
};

function classOf(envelope: Envelope | undefined, status: number): AnsweredClass {
  const { code = '', type = '' } = envelope ?? {};
  if (code === 'invalid_api_key') return AuthenticationError;
  if (/(^|_)not_found$/.test(code)) return NotFoundError;
  const named = own<string>(errorCodes, code) ?? type;
  // Some services send `api_error` for everything: with a 4xx, a retry would fail too.
  const byType = named === 'api_error' && status >= 400 && status < 500 ? undefined : own(classOfType, named);
  return byType ?? classOfStatus[status] ?? (status >= 500 ? ServerError : ApiError);
}

const authAdvice: Readonly<Record<Auth, string>> = {
  apiKey: 'Check the API key of this profile.',
  shownWithout: 'Check the API key of this profile.',
  inferenceToken: 'Check the inference token of this profile; without one, the API key is sent.',
  trajectoryToken: 'Trajectory tokens are short-lived and valid for one trajectory: get a new one.',
};

const agentAdvice = 'This service requires an agent for uploads: set it with --agent, or as agent in the profile.';

/** When to try again; empty for a poll, which retries on its own. */
function waitAdvice({ retryAfterMs, outcomeUnknown }: ErrorDetails, isPolled: boolean): string | undefined {
  // The user must check the outcome before a retry.
  if (isPolled || outcomeUnknown) return '';
  return retryAfterMs === undefined ? undefined : `Try again in ${inSeconds(retryAfterMs)}.`;
}

/** Advice on a 404 from the service itself. */
function notFoundAdvice({ method, path, subject }: CallFacts, { mayLackPath, operation }: ErrorDetails): string {
  if (mayLackPath && operation !== undefined)
    return `It may have been deleted, it may belong to another organization, or this service does not ${describeCapability(operation)}.`;
  const call = `${method} ${path}`;
  if (subject === 'path') return `This service does not offer ${call}.`;
  if (subject === 'input')
    return `A resource that the request names may not exist, or this service does not offer ${call}.`;
  return 'It may have been deleted, or belong to another organization.';
}

/** Mentions that the service may lack the operation, unless the other advice already does. */
function lackingAdvice(Answered: AnsweredClass, { operation }: ErrorDetails): string {
  const isSaid = Answered === NotFoundError || Answered === PermissionError;
  return isSaid || operation === undefined ? '' : `This service may not ${describeCapability(operation)}.`;
}

function advice(Answered: AnsweredClass, facts: CallFacts, isEnvelope: boolean, details: ErrorDetails): string {
  const { auth, fieldAdvice, isPolled = false } = facts;
  const wait = waitAdvice(details, isPolled);
  if (isUnsupported(details.status)) return `This service does not offer ${facts.method} ${facts.path}.`;
  switch (Answered) {
    case AuthenticationError:
      return authAdvice[auth];
    case PermissionError:
      // The local service's message has advice on its upstream server's key.
      if (details.code === 'upstream_refused') return '';
      if (isEnvelope && !details.mayLackPath) return 'This key lacks the permission: use another one.';
      return `This key may lack the permission, or this service may not offer ${facts.method} ${facts.path}.`;
    case NotFoundError:
      if (isEnvelope || details.mayLackPath) return notFoundAdvice(facts, details);
      return 'Check the base URL of this profile.';
    case ConflictError:
      return isEnvelope ? '' : 'Its current state does not allow this.';
    case ValidationError:
      if (/^agent(_id|_name)?$/.test(details.param ?? '')) return agentAdvice;
      if (fieldAdvice !== undefined) return fieldAdvice;
      if (details.param) {
        const isNamed = details.words?.split(/\W+/).includes(details.param);
        return clean`Fix ${isNamed ? 'it' : details.param} and try again.`;
      }
      return details.operation === undefined
        ? 'Fix the request and try again.'
        : `Check the request to ${facts.method} ${facts.path}, and try again.`;
    case RateLimitError:
      return wait ?? 'Try again later.';
    case ServerError:
      return isPolled || details.outcomeUnknown
        ? 'The service failed.'
        : (wait ?? 'The service failed: try again later.');
    default:
      return wait ?? '';
  }
}

export interface ErrorAnswer {
  readonly status: number;
  /** The status of an error sent inside a successful response. */
  readonly impliedStatus?: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body, or undefined if it is not JSON. */
  readonly body: unknown;
}

/** The error for an unsuccessful response. Its message is sanitised; its details are not. */
export function errorOfAnswer(
  answer: ErrorAnswer,
  facts: CallFacts,
  now: number,
  envelope = readEnvelope(answer.body, facts.redact),
): ApiError {
  const { status, headers } = answer;
  const failures = readFailures(envelope?.context?.['failures']);
  const Answered = classOf(envelope, answer.impliedStatus ?? status);
  const refused = envelope !== undefined && Answered !== ServerError && Answered !== ApiError;
  const outcomeUnknown = isOutcomeUnknown(facts, { kind: 'answer', status, refused });
  const detail = envelope ? undefined : validationDetail(answer.body);
  const details: ErrorDetails = {
    ...facts.details,
    type: envelope?.type,
    code: envelope?.code,
    param: envelope?.param ?? (detail?.param && facts.redact(detail.param)),
    docUrl: envelope?.docUrl,
    context: envelope?.context,
    words: sentence(messageOf(answer, envelope, facts.redact)),
    failures,
    status,
    requestId: requestIdOf(headers, facts.redact),
    retryAfterMs: retryAfter(headers, now),
    outcomeUnknown,
  };
  const words = [
    details.words,
    firstFailure(failures, envelope?.message),
    advice(Answered, facts, envelope !== undefined, details),
    details.mayLackPath ? lackingAdvice(Answered, details) : '',
    outcomeUnknown ? outcomeAdvice(facts) : '',
  ];
  return new Answered(words.filter(Boolean).join(' '), details);
}

/** A refusal's message, not yet sanitised. */
export const messageOf = (answer: ErrorAnswer, envelope: Envelope | undefined, redact: Redact): string =>
  envelope?.message ?? plainMessage(answer, redact);

/** The request id from the service, if it is valid. */
export function requestIdOf(headers: Readonly<Record<string, string>>, redact: Redact): string | undefined {
  const id = headers['x-request-id'];
  return id !== undefined && /^[\x21-\x7e]{1,128}$/.test(id) ? redact(id) : undefined;
}

function readFailures(value: unknown): Failure[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap(item => {
    const read = failure.safeParse(item);
    return read.success ? [read.data] : [];
  });
}

/** @param known the message of the whole, which is not repeated */
function firstFailure(failures: readonly Failure[], known: string | undefined): string {
  const [first] = failures;
  if (!first || (first.message && first.message === known)) return '';
  const which = first.item_index == null ? '' : `item ${first.item_index}: `;
  const count = failures.length === 1 ? 'The error' : `The first of ${failures.length} errors`;
  return `${count} is ${which}${sentence(first.message ?? first.code ?? 'not described')}`;
}

interface ValidationDetail {
  /** `path`, `query` or `body`. */
  readonly place: unknown;
  readonly param: string | undefined;
  readonly words: string;
}

/** Reads the error details that FastAPI and others send: `{"detail": [{"loc": ["query", "agent_id"], "msg": "…"}]}`. */
export function validationDetail(body: unknown): ValidationDetail | undefined {
  const detail = isRecord(body) ? body['detail'] : undefined;
  const [first] = Array.isArray(detail) ? detail.filter(isRecord) : [];
  const place = first?.['loc'];
  if (!Array.isArray(place) || typeof first?.['msg'] !== 'string') return undefined;
  const param = place.slice(1).join('.');
  return {
    place: place[0],
    param: param || undefined,
    words: param === '' ? first['msg'] : clean`${param}: ${first['msg']}`,
  };
}

/**
 * The message for a body without an envelope: from another framework's format, a page's title, or just the status.
 */
function plainMessage({ status, text, body }: ErrorAnswer, redact: Redact): string {
  const fallback = `The service answered ${status} ${statusText(status)}`.trim();
  const candidate = isRecord(body) ? (body['detail'] ?? body['message'] ?? body['error']) : undefined;
  const title = /<title[^<>]*>([^<]{1,200})/i.exec(text)?.[1]?.replaceAll(/\s+/g, ' ').trim();
  const message = typeof candidate === 'string' ? candidate : (validationDetail(body)?.words ?? title);
  return message ? `${fallback}: ${redact(message)}` : fallback;
}

type Head = Pick<ErrorAnswer, 'status' | 'headers'>;

function responseError({ status, headers }: Head, facts: CallFacts, code: string, message: string): ResponseError {
  const accepted = status >= 200 && status < 300;
  const outcomeUnknown = isOutcomeUnknown(facts, accepted ? { kind: 'not_understood' } : { kind: 'answer', status });
  return new ResponseError(outcomeUnknown ? `${message} ${outcomeAdvice(facts)}` : message, {
    ...facts.details,
    code,
    status,
    requestId: requestIdOf(headers, facts.redact),
    outcomeUnknown,
  });
}

/** A redirect's target, without user and password; undefined if there is none. */
export function targetOf({ location }: Head['headers'], from: URL): URL | undefined {
  const target = (location && URL.parse(location, from.href)) || undefined;
  if (target) Object.assign(target, { username: '', password: '' });
  return target;
}

/** The error for a redirect to another path on the same origin that was not followed. */
export function movedTo(answer: Head, facts: CallFacts, { pathname }: URL, advice: string): ResponseError {
  const words = clean`${facts.host} redirects ${facts.method} ${facts.path} to ${facts.redact(pathname)}.`;
  return responseError(answer, facts, 'redirected', `${words} ${advice}`);
}

/**
 * The error for a redirect to another origin, which is never followed because the credential would go there. Names only
 * the origin: a path may be a secret.
 */
export function redirectError(
  answer: Head,
  facts: CallFacts,
  from: URL,
  advice = 'If it is the right address, set it as the base URL.',
): ResponseError {
  const to = targetOf(answer.headers, from);
  const words = to
    ? `${facts.host} redirects to ${facts.redact(siteOf(to))}. benchtop did not follow it, so no credential went there. ${advice}`
    : `${facts.host} answered ${answer.status} to ${facts.method} ${facts.path} without a valid address to go to.`;
  return responseError(answer, facts, 'redirected', words);
}

/** An address's origin, or its scheme if it has none (`file:`). */
function siteOf({ origin, protocol }: URL): string {
  return origin === 'null' ? `an address that begins with ${protocol}` : origin;
}

export function tooLarge(answer: Head, facts: CallFacts, maxBytes: number): ResponseError {
  return responseError(
    answer,
    facts,
    'answer_too_large',
    `The response to ${facts.method} ${facts.path} is larger than ${Math.round(maxBytes / 1024)} KiB and was not read. Request less data.`,
  );
}

export interface WrongId {
  readonly requested: string;
  readonly received: string;
}

/** The error for a record with the wrong id, which must not pass for the requested one. */
export function wrongRecord(answer: Head, facts: CallFacts, { requested, received }: WrongId): ResponseError {
  const words = clean`The service sent the record ${facts.redact(received)} instead of ${requested}. It was not used.`;
  return responseError(answer, facts, 'answer_of_another', words);
}

/**
 * The first NaN or Infinity outside the strings in JSON text, with its field (`NaN as reward`) or its position, if
 * known.
 */
function notFiniteIn(json: string): string | undefined {
  let name = '';
  let end = 0;
  let isWhole = true;
  for (const { 0: token, index } of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"?|NaN|-?Infinity|…/gs)) {
    if (token === leftOut) {
      isWhole = false;
      continue;
    }
    const isField = /^\s*:\s*$/.test(json.slice(end, index));
    if (!token.startsWith('"')) {
      if (isField && name !== '') return `${token} as ${name}`;
      return isWhole ? `${token} at character ${index + 1}` : token;
    }
    name = token.slice(1, -1);
    end = index + token.length;
  }
  return undefined;
}

/** The error for a successful response with an unusable body. */
export function unusableAnswer(
  answer: ErrorAnswer,
  facts: CallFacts,
  issues: readonly z.core.$ZodIssue[],
): ResponseError {
  const error = (code: string, words: string): ResponseError =>
    responseError(answer, facts, code, `The response to ${facts.method} ${facts.path} ${words}`);
  if (answer.body !== undefined) {
    const found = describeIssues(issues, answer.body);
    const words = `is not what benchtop expects: ${found}. The service may be a different version.`;
    return error('answer_unexpected', words);
  }
  if (answer.text.trim() === '') return error('answer_empty', 'is empty.');
  if (isTooDeep(answer.text)) {
    const words = `is nested deeper than ${deepestJson} levels and was not used. Correct the program that wrote this record.`;
    return error('answer_too_deep', words);
  }
  if (/^\s*</.test(answer.text)) {
    const words =
      'is a web page, not JSON: a proxy or a sign-in page may have answered. Check the network and the base URL.';
    return error('answer_not_json', words);
  }
  const named = notFiniteIn(answer.text);
  if (named !== undefined) {
    const words = clean`is not JSON: it has ${named}, which Python writes but JSON does not allow. The service must send null instead.`;
    return error('answer_not_json', words);
  }
  return error('answer_not_json', 'is incomplete JSON: it was cut off or damaged on the way. Try again.');
}
