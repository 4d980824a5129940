/** Calls endpoints of the contract: checked input, the right credential, retries, a checked answer. */
import type * as z from 'zod/mini';
import { redactor } from '../config/redaction.ts';
import type { Endpoint } from '../contract/common.ts';
import { parseBase } from './address.ts';
import { Agents } from './agents.ts';
import { type ErrorAnswer, errorOfAnswer, readEnvelope, requestIdOf } from './answer-error.ts';
import { Assumptions } from './assumptions.ts';
import { type AttemptResult, limitTime, sleep, type TimeLimit, withRetries } from './attempts.ts';
import { BodyTooLarge, parseJson, readBody, readErrorBody } from './body.ts';
import { Capabilities } from './capabilities.ts';
import { credentialFor } from './credentials.ts';
import { RequestError, ServiceError } from './errors.ts';
import type { CallFacts } from './facts.ts';
import { exchange, type WireAnswer, WireFailure, type WireRequest } from './http.ts';
import {
  type CallOptions,
  type Clock,
  defaultMaxBytes,
  type ServiceOptions,
  type Timeouts,
  timeoutsOf,
} from './options.ts';

import { type CallInput, prepareRequest } from './request.ts';
import { misunderstood, redirected, tooLarge } from './response-error.ts';
import { mayHaveWorked, type Outcome, RetryBudget } from './retry.ts';
import { errorOfFailure, outcomeOfFailure } from './wire-error.ts';

export interface CallExtras extends CallOptions {
  readonly idempotencyKey?: string | undefined;
  /** Access token of the trajectory that the call is about. */
  readonly token?: string | undefined;
}

/** A prepared call: everything that its attempts have in common. */
interface Call {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
  readonly pattern: string;
  readonly namesThing: boolean;
  readonly wire: Omit<WireRequest, 'signal'>;
  readonly timeouts: Timeouts;
  readonly facts: Omit<CallFacts, 'details' | 'mayHaveHappened'>;
  readonly idempotencyKey: string | undefined;
}

/** An answer whose head says success. */
export interface OpenAnswer {
  readonly answer: WireAnswer;
  /** What errors found in the body need. */
  readonly facts: CallFacts;
  /** Makes an error of a connection that failed while the body was read. */
  readonly failed: (failure: WireFailure, facts: CallFacts) => ServiceError;
  /** Closes the connection and lets go of the caller's signal. */
  readonly end: () => void;
}

export class Caller {
  readonly base: URL;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly budget: RetryBudget;
  readonly assumptions: Assumptions;
  readonly capabilities = new Capabilities();
  readonly #inferenceBase: URL;
  readonly #options: ServiceOptions;
  /** Credentials sent in this session: a service may repeat one in its answer to another call. */
  readonly #credentials = new Set<string>();

  /** @throws RequestError where an address or an assumption of the profile is wrong */
  constructor(options: ServiceOptions) {
    const { baseUrl, inferenceUrl, allowInsecureHttp = false } = options;
    this.#options = options;
    this.base = parseBase(baseUrl, 'baseUrl', allowInsecureHttp);
    this.#inferenceBase = inferenceUrl ? parseBase(inferenceUrl, 'inferenceUrl', allowInsecureHttp) : this.base;
    this.agents = new Agents(options.caFile);
    this.assumptions = new Assumptions(options.assumptions);
    this.clock = options.clock ?? { now: Date.now, random: Math.random, sleep };
    this.budget = options.retryBudget ?? new RetryBudget();
  }

  /** @throws ServiceError */
  async call<Query extends z.ZodMiniType, Body extends z.ZodMiniType, Response extends z.ZodMiniType>(
    endpoint: Endpoint<Query, Body, Response>,
    input: CallInput<z.input<Query>, z.input<Body>>,
    options: CallExtras = {},
  ): Promise<z.output<Response>> {
    const call = await this.#prepare(endpoint, input, options);
    const time = limitTime(options.signal, call.timeouts.deadlineMs, this.clock.now());
    const maxBytes = options.maxBytes ?? defaultMaxBytes;
    try {
      return await this.#attempts(call, time, false, async (answer, facts) => {
        const text = await readBody(answer, maxBytes).catch((error: unknown) => {
          throw error instanceof BodyTooLarge ? tooLarge(answer, facts, maxBytes) : error;
        });
        // An empty answer says as much as the ids of the request do.
        const body = text.trim() === '' ? call.params : parseJson(text);
        const read = endpoint.response.safeParse(body);
        if (!read.success) throw misunderstood({ ...answer, text, body }, facts, read.error.issues);
        return read.data;
      });
    } finally {
      time.end();
    }
  }

  /**
   * Opens an answer that is read as it comes. Until its head has come it is retried like any other; the deadline ends
   * there as well. Whoever opens it calls `end`.
   *
   * @throws ServiceError
   */
  async open<Query extends z.ZodMiniType, Body extends z.ZodMiniType, Response extends z.ZodMiniType>(
    endpoint: Endpoint<Query, Body, Response>,
    input: CallInput<z.input<Query>, z.input<Body>>,
    options: CallExtras = {},
  ): Promise<OpenAnswer> {
    const call = await this.#prepare(endpoint, input, options);
    const time = limitTime(options.signal, call.timeouts.deadlineMs, this.clock.now());
    try {
      return await this.#attempts(call, time, true, async (answer, facts) => {
        time.lift();
        const head = { status: answer.status, requestId: requestIdOf(answer.headers, facts.redact) };
        return {
          answer,
          facts,
          failed: (failure, now) => errorOfFailure(failure, now, call.timeouts, head),
          end: () => {
            answer.close();
            time.end();
          },
        };
      });
    } catch (error) {
      time.end();
      throw error;
    }
  }

  async #prepare(endpoint: Endpoint, input: CallInput<unknown, unknown>, options: CallExtras): Promise<Call> {
    this.capabilities.require(endpoint);
    const { auth, method, operation } = endpoint;
    const { idempotencyKey, token } = options;
    if (auth === 'trajectoryToken' && token === undefined && !this.assumptions.is('rewardsWithApiKey')) {
      throw new RequestError('Nothing was sent: this service takes rewards only with the token of the trajectory.', {
        code: 'credential_missing',
        operation,
      });
    }
    const base = auth === 'inferenceToken' ? this.#inferenceBase : this.base;
    const { url, pattern, body, namesThing } = prepareRequest(base, endpoint, input, this.assumptions);
    const credential = await credentialFor(auth, this.#options, token);
    const timeouts = timeoutsOf(this.#options.timeouts, options);
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
      ...credential.headers,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(idempotencyKey === undefined ? {} : { [this.assumptions.idempotencyHeader.toLowerCase()]: idempotencyKey }),
    };
    for (const value of credential.values) this.#credentials.add(value);
    const redact = redactor([...this.#credentials, ...sensitiveValues(endpoint, input.body)]);
    const agent = await this.agents.get(url, auth === 'inferenceToken' ? 'long' : 'call');
    return {
      endpoint,
      params: input.params ?? {},
      pattern,
      namesThing,
      wire: { method, url, headers, body, agent, ...timeouts },
      timeouts,
      // A completion changes nothing: asked for twice, it is merely answered twice.
      facts: {
        method,
        isWrite: method !== 'GET' && auth !== 'inferenceToken',
        path: url.pathname,
        host: url.host,
        auth,
        redact,
      },
      idempotencyKey,
    };
  }

  #attempts<Value>(
    call: Call,
    time: TimeLimit,
    uncompressed: boolean,
    read: (answer: WireAnswer, facts: CallFacts) => Promise<Value>,
  ): Promise<Value> {
    const { endpoint, facts, idempotencyKey } = call;
    let mayHaveHappened = false;
    const run = async (attempt: number): Promise<AttemptResult<Value>> => {
      const details = { operation: endpoint.operation, attempts: attempt, idempotencyKey };
      const result = await this.#attempt(
        call,
        { ...facts, details, mayHaveHappened },
        { ...call.wire, uncompressed, signal: time.signal },
        read,
      );
      if (!result.ok && facts.isWrite) mayHaveHappened ||= mayHaveWorked(result.outcome);
      return result;
    };
    return withRetries({
      ...facts,
      operation: endpoint.operation,
      repeatable: endpoint.repeatable === true || (endpoint.idempotencyKey === true && idempotencyKey !== undefined),
      time,
      budget: this.budget,
      clock: this.clock,
      logger: this.#options.logger,
      run,
    });
  }

  async #attempt<Value>(
    call: Call,
    facts: CallFacts,
    request: WireRequest,
    read: (answer: WireAnswer, facts: CallFacts) => Promise<Value>,
  ): Promise<AttemptResult<Value>> {
    let head: { readonly status: number; readonly requestId: string | undefined } | undefined;
    try {
      const answer = await exchange(request);
      const { status, headers } = answer;
      head = { status, requestId: requestIdOf(headers, facts.redact) };
      if (status >= 200 && status < 300) return { ...head, ok: true, value: await read(answer, facts) };
      const outcome: Outcome = { kind: 'answer', status };
      if (status < 400) {
        answer.close();
        return { ...head, ok: false, outcome, headers: {}, error: redirected(answer, facts, request.url) };
      }
      const text = await readErrorBody(answer);
      const body = parseJson(text);
      // A deletion that had been carried out before its answer was lost.
      if (status === 404 && facts.method === 'DELETE' && facts.mayHaveHappened) {
        const gone = call.endpoint.response.safeParse(call.params);
        if (gone.success) return { ...head, ok: true, value: gone.data as Value };
      }
      return {
        ...head,
        ok: false,
        outcome,
        headers,
        error: this.#refusal(call, facts, { status, headers, text, body }),
      };
    } catch (error) {
      if (error instanceof ServiceError) {
        return { ...head, ok: false, outcome: { kind: 'not_understood' }, headers: {}, error };
      }
      if (!(error instanceof WireFailure)) throw error;
      const failure = errorOfFailure(error, facts, call.timeouts, head);
      return { ...head, ok: false, outcome: outcomeOfFailure(error), headers: {}, error: failure };
    }
  }

  #refusal(call: Call, facts: CallFacts, answer: ErrorAnswer) {
    const { pattern, namesThing, endpoint } = call;
    const envelope = readEnvelope(answer.body, facts.redact);
    const error = errorOfAnswer(answer, facts, this.clock.now());
    const refused = { path: pattern, namesThing, envelope, status: answer.status, text: answer.text };
    return this.capabilities.learn(endpoint, refused, facts.details) ?? error;
  }
}

/** What of a body no error may repeat. */
function sensitiveValues({ sensitive = [] }: Endpoint, body: unknown): string[] {
  const fields = (body ?? {}) as Readonly<Record<string, unknown>>;
  return sensitive.flatMap(name => (typeof fields[name] === 'string' ? [fields[name]] : []));
}
