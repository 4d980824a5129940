/** Calls endpoints of the contract: checked input, the right credential, retries, a checked answer. */

import type * as z from 'zod/mini';
import { redactor } from '../config/redaction.ts';
import { type Endpoint, isWrite } from '../contract/common.ts';
import { own } from '../text/own.ts';
import { Agents } from './agents.ts';
import { type ErrorAnswer, errorOfAnswer, readEnvelope, requestIdOf } from './answer-error.ts';
import { Assumptions } from './assumptions.ts';
import { type AttemptResult, type Destination, limitTime, type TimeLimit, withRetries } from './attempts.ts';
import { BodyTooLarge, parseJson, readBody, readErrorBody } from './body.ts';
import { Capabilities } from './capabilities.ts';
import { type Clock, systemClock } from './clock.ts';
import { Connection, type Place } from './connection.ts';
import { credentialFor } from './credentials.ts';
import { ReadOnlyError, RequestError, ServiceError } from './errors.ts';
import type { CallFacts } from './facts.ts';
import { Gates } from './gate.ts';
import { exchange, type WireAnswer, WireFailure, type WireRequest } from './http.ts';
import { type CallOptions, defaultMaxBytes, type ServiceOptions, type Timeouts, timeoutsOf } from './options.ts';
import { type CallInput, type PreparedRequest, prepareRequest } from './request.ts';
import { misunderstood, redirected, tooLarge } from './response-error.ts';
import { mayHaveWorked, type Outcome } from './retry.ts';
import { heldBack, unlocated } from './unsent-error.ts';
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
  readonly request: PreparedRequest;
  readonly timeouts: Timeouts;
  /** What no error may repeat of the body. */
  readonly sensitive: readonly string[];
  readonly idempotencyKey: string | undefined;
  /** Access token of the trajectory that the call is about. */
  readonly token: string | undefined;
  readonly background: boolean;
}

/** Where one attempt of a call goes. */
interface Route extends Destination {
  readonly place: Place;
  /** How often the connections had been closed before it. */
  readonly closings: number;
  readonly url: URL;
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

/** What the resources need of a caller. */
export type Calls = Pick<Caller, 'call'>;

export class Caller {
  readonly connection: Connection;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly assumptions: Assumptions;
  readonly capabilities = new Capabilities();
  readonly #options: ServiceOptions;
  /** Credentials sent in this session: a service may repeat one in its answer to another call. */
  readonly #credentials = new Set<string>();
  #closings = 0;

  /** @throws RequestError where an address or an assumption of the profile is wrong */
  constructor(options: ServiceOptions) {
    this.#options = options;
    this.connection = new Connection(options);
    this.agents = new Agents(options.caFile);
    this.assumptions = new Assumptions(options.assumptions);
    this.clock = options.clock ?? systemClock;
    this.gates = options.gates ?? new Gates(this.clock);
  }

  /** @throws ServiceError */
  async call<Query extends z.ZodMiniType, Body extends z.ZodMiniType, Response extends z.ZodMiniType>(
    endpoint: Endpoint<Query, Body, Response>,
    input: CallInput<z.input<Query>, z.input<Body>>,
    options: CallExtras = {},
  ): Promise<z.output<Response>> {
    const call = this.#prepare(endpoint, input, options);
    const time = limitTime(options.signal, call.timeouts.deadlineMs, this.clock.monotonic());
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
    const call = this.#prepare(endpoint, input, options);
    const time = limitTime(options.signal, call.timeouts.deadlineMs, this.clock.monotonic());
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

  /** @throws ReadOnlyError where the service may only be read */
  requireWrites(operation?: string): void {
    if (this.#options.readOnly) throw new ReadOnlyError(operation);
  }

  /** Closes every connection without making one. */
  async close(): Promise<void> {
    this.#closings += 1;
    await this.agents.close();
  }

  #prepare(endpoint: Endpoint, input: CallInput<unknown, unknown>, options: CallExtras): Call {
    const { auth, operation } = endpoint;
    if (isWrite(endpoint)) this.requireWrites(operation);
    this.capabilities.require(endpoint);
    const { idempotencyKey, token } = options;
    if (auth === 'trajectoryToken' && token === undefined && !this.assumptions.is('rewardsWithApiKey')) {
      throw new RequestError('Nothing was sent: this service takes rewards only with the token of the trajectory.', {
        code: 'credential_missing',
        operation,
      });
    }
    return {
      endpoint,
      params: input.params ?? {},
      request: prepareRequest(endpoint, input, this.assumptions),
      timeouts: timeoutsOf(this.#options.timeouts, options),
      sensitive: sensitiveValues(endpoint, input.body),
      idempotencyKey,
      token,
      background: options.background ?? false,
    };
  }

  #attempts<Value>(
    call: Call,
    time: TimeLimit,
    uncompressed: boolean,
    read: (answer: WireAnswer, facts: CallFacts) => Promise<Value>,
  ): Promise<Value> {
    const { endpoint, request, idempotencyKey } = call;
    const { auth, method, operation } = endpoint;
    const writes = isWrite(endpoint);
    const { clock, gates, connection } = this;
    let mayHaveHappened = false;
    const factsOf = (url: URL, attempts: number): CallFacts => ({
      method,
      isWrite: writes,
      path: url.pathname,
      host: url.host,
      auth,
      redact: redactor([...this.#credentials, ...call.sensitive]),
      details: { operation, attempts, idempotencyKey },
      mayHaveHappened,
    });
    let made = 0;
    const locate = async (): Promise<Route> => {
      try {
        const place = await connection.locate(auth, time.signal);
        const url = request.urlAt(place.base);
        return { place, url, path: url.pathname, host: url.host, closings: this.#closings };
      } catch (error) {
        throw unlocated(error, factsOf(request.urlAt(connection.base), made), time.signal, call.timeouts);
      }
    };
    const run = async (attempt: number, route: Route): Promise<AttemptResult<Value>> => {
      const headers = await this.#headers(call, route.place);
      made = attempt;
      const agent = await this.agents.get(route.url, auth === 'inferenceToken' ? 'long' : 'call');
      const wire = { method, url: route.url, headers, body: request.body, agent, ...call.timeouts };
      const facts = factsOf(route.url, attempt);
      const result = await this.#attempt(call, facts, { ...wire, uncompressed, signal: time.signal }, read);
      if (result.status !== undefined) connection.answered(route.place);
      if (!result.ok && writes) mayHaveHappened ||= mayHaveWorked(result.outcome);
      return result;
    };
    return withRetries({
      operation,
      method,
      isWrite: writes,
      repeatable: endpoint.repeatable === true || (endpoint.idempotencyKey === true && idempotencyKey !== undefined),
      time,
      background: call.background,
      gates,
      clock,
      logger: this.#options.logger,
      locate,
      run,
      // What was cut off by closing is not lost: starting the service again would keep a program that ends from ending.
      recover: async ({ place, closings }) =>
        closings === this.#closings && (await connection.recover(place, time.signal)),
      heldBack: ({ url }, gate) => heldBack(factsOf(url, made), gate, time.signal, call.timeouts),
    });
  }

  /** @throws RequestError where the credential cannot be read or sent */
  async #headers({ endpoint, request, idempotencyKey, token }: Call, { target }: Place) {
    const key = target && (async () => target.apiKey);
    const sources = key ? { apiKey: key, inferenceToken: key } : this.#options;
    const credential = await credentialFor(endpoint.auth, sources, token);
    for (const value of credential.values) this.#credentials.add(value);
    const keyHeader = this.assumptions.idempotencyHeader.toLowerCase();
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
      ...credential.headers,
      ...(request.body ? { 'content-type': 'application/json' } : {}),
      ...(idempotencyKey === undefined ? {} : { [keyHeader]: idempotencyKey }),
    };
    return headers;
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
      const error = this.#refusal(call, facts, { status, headers, text, body });
      return { ...head, ok: false, outcome, headers, error };
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
    const { endpoint, request } = call;
    const { pattern, namesThing } = request;
    const envelope = readEnvelope(answer.body, facts.redact);
    const error = errorOfAnswer(answer, facts, this.clock.now());
    const refused = { path: pattern, namesThing, envelope, status: answer.status, text: answer.text };
    return this.capabilities.learn(endpoint, refused, facts.details) ?? error;
  }
}

/** What of a body no error may repeat. */
function sensitiveValues({ sensitive = [] }: Endpoint, body: unknown): string[] {
  const fields = (body ?? {}) as Readonly<Record<string, unknown>>;
  return sensitive.map(name => own(fields, name)).filter(value => typeof value === 'string');
}
