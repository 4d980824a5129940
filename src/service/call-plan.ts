/** A call with its attempts: where each goes, what it sends, and how its answer is read. */
import type * as z from 'zod/mini';
import { redactor } from '../config/redaction.ts';
import { type Endpoint, isWrite } from '../contract/common.ts';
import { isRecord, own } from '../text/own.ts';
import type { Agents, AgentUse } from './agents.ts';
import {
  type ErrorAnswer,
  errorOfAnswer,
  readEnvelope,
  redirected,
  requestIdOf,
  validationDetail,
} from './answer-error.ts';
import type { Assumptions } from './assumptions.ts';
import { type AttemptResult, Attempts, type Destination, type TimeLimit } from './attempts.ts';
import { type Capabilities, isOfInput, type RefusedAnswer, saysNoSuchPath } from './capabilities.ts';
import type { Clock } from './clock.ts';
import type { Connection, Credential, Credentials, Place } from './connection.ts';
import { AuthenticationError, ServiceError } from './errors.ts';
import type { Gates } from './gate.ts';
import { exchange, parseDeepJson, readErrorBody, type WireAnswer, WireFailure, type WireRequest } from './http.ts';
import type { CallOptions, ServiceOptions, Timeouts } from './options.ts';
import type { CallInput, PreparedRequest } from './request.ts';
import type { Outcome } from './retry.ts';
import { shownHeaders, traceAnswer, traceRequest } from './trace.ts';
import { type CallFacts, errorOfFailure, heldBack, outcomeOfFailure, serviceNotFound } from './wire-error.ts';

/** A prepared call: everything its attempts have in common. */
export interface PreparedCall {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string | number>>;
  readonly request: PreparedRequest;
  readonly body: unknown;
  readonly timeouts: Timeouts;
  readonly idempotencyKey: string | undefined;
  readonly headers: CallOptions['headers'];
  /** Access token of the trajectory. */
  readonly token: string | undefined;
  readonly background: boolean;
  readonly onAnswer: CallOptions['onAnswer'];
}

/** The ids in the path of a call. */
export const idsOf = ({ params }: Pick<PreparedCall, 'params'>): string[] => Object.values(params).map(String);

function bodyIds(body: unknown): string[] {
  const fields = isRecord(body) ? Object.entries(body) : [];
  return fields.flatMap(([name, value]) => (name.endsWith('_id') && typeof value === 'string' ? [value] : []));
}

/** Shared by all calls of a service. */
export interface CallContext {
  readonly options: Pick<ServiceOptions, 'userAgent' | 'logger' | 'tracer'>;
  readonly connection: Connection;
  readonly credentials: Credentials;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly assumptions: Assumptions;
  readonly capabilities: Capabilities;
  /** Whether an answer has said that it repeats that of an earlier request with the same key. */
  readonly replays: { seen: boolean };
  /** How often the connections have been closed. */
  readonly closings: number;
}

/** A response whose status is a success. */
export interface OpenAnswer {
  readonly answer: WireAnswer;
  /** Facts for errors found in the body. */
  readonly facts: CallFacts;
  /** Makes the error for a connection lost while reading the body. */
  readonly failed: (failure: WireFailure, facts: CallFacts) => ServiceError;
  /** Closes the connection and releases the caller's signal. */
  readonly end: () => void;
}

/** Sends operations and returns whole or streaming answers, for chat and uploads. */
export interface Sender extends CallContext {
  readonly call: <Query extends z.ZodMiniType, Body extends z.ZodMiniType, Response extends z.ZodMiniType>(
    endpoint: Endpoint<Query, Body, Response>,
    input: CallInput<z.input<Query>, z.input<Body>>,
    options?: CallOptions,
  ) => Promise<z.output<Response>>;
  readonly open: <Query extends z.ZodMiniType, Body extends z.ZodMiniType, Response extends z.ZodMiniType>(
    endpoint: Endpoint<Query, Body, Response>,
    input: CallInput<z.input<Query>, z.input<Body>>,
    options?: CallOptions,
  ) => Promise<OpenAnswer>;
  readonly requireWrites: (operation?: string) => void;
}

/** The address of one attempt. */
interface Route extends Destination {
  readonly place: Place;
  readonly url: URL;
  readonly closings: number;
}

export class CallPlan<Value> {
  readonly #call: PreparedCall;
  readonly #context: CallContext;
  readonly #read: (answer: WireAnswer, facts: CallFacts) => Promise<Value>;
  readonly #uncompressed: boolean;
  readonly #time: TimeLimit;
  /** Requests made so far. */
  #made = 0;
  #mayHaveHappened = false;
  #credential: Credential | undefined;
  #isForeign: boolean | undefined;

  /** @param read reads a successful response */
  constructor(
    call: PreparedCall,
    context: CallContext,
    time: TimeLimit,
    read: (answer: WireAnswer, facts: CallFacts) => Promise<Value>,
    { uncompressed = false } = {},
  ) {
    this.#call = call;
    this.#context = context;
    this.#time = time;
    this.#read = read;
    this.#uncompressed = uncompressed;
  }

  /** Sends the call, again if that may be done, and gives what its answer is read as. @throws ServiceError */
  async send(): Promise<Value> {
    const { endpoint, body, idempotencyKey, background, timeouts } = this.#call;
    const { gates, clock, options } = this.#context;
    const attempts = new Attempts({
      operation: endpoint.operation,
      method: endpoint.method,
      isWrite: isWrite(endpoint),
      keyed: idempotencyKey !== undefined,
      repeatable: endpoint.repeatable?.(body) === true || (idempotencyKey !== undefined && this.#honoursKeys()),
      background,
      time: this.#time,
      gates,
      clock,
      logger: options.logger,
    });
    for (;;) {
      const route = await this.#locate();
      const isRepeated = await attempts.begin<Value>(route, gate =>
        heldBack(this.#facts(route.url), gate, this.#time.signal, timeouts),
      );
      const result = await this.#run(attempts.number, route);
      let refusal: ServiceError | undefined;
      const again = await isRepeated(result, {
        recover: () => this.#recover(route),
        renew: async refused => {
          refusal = await this.#renew(route, refused);
          return refusal === undefined;
        },
      });
      if (again) continue;
      if (result.ok) return result.value;
      throw refusal ?? result.error;
    }
  }

  /** Whether the service is known to carry out a request once, however often it gets the same key. */
  #honoursKeys(): boolean {
    const { connection, assumptions, replays } = this.#context;
    return connection.isSupervised || assumptions.is('honoursIdempotencyKey') || replays.seen;
  }

  async #locate(): Promise<Route> {
    const { connection, closings } = this.#context;
    const { request, endpoint, timeouts } = this.#call;
    try {
      const place = await connection.locate(endpoint.auth, this.#time.signal);
      const url = request.urlAt(place.base);
      return { place, url, path: url.pathname, host: url.host, closings };
    } catch (error) {
      throw serviceNotFound(error, this.#facts(request.urlAt(connection.base)), this.#time.signal, timeouts);
    }
  }

  /** Makes one attempt. */
  async #run(attempt: number, { place, url }: Route): Promise<AttemptResult<Value>> {
    const { endpoint, request, token, timeouts } = this.#call;
    const { credentials, agents, connection } = this.#context;
    const { auth } = endpoint;
    const { signal } = this.#time;
    try {
      // A key is only sent to the profile's own hosts, whatever address a service names.
      this.#isForeign = url.origin !== place.base.origin;
      this.#credential = this.#isForeign
        ? { headers: {}, value: '' }
        : await credentials.of(auth, { token, target: place.target, signal });
    } catch (error) {
      if (error instanceof WireFailure) return this.#failed(error, this.#facts(url));
      throw error;
    }
    this.#made = attempt;
    const wire: WireRequest = {
      method: endpoint.method,
      url,
      headers: this.#headers(this.#credential),
      body: request.body,
      agent: await agents.get(url, agentUse(endpoint)),
      ...timeouts,
      uncompressed: this.#uncompressed,
      signal,
    };
    const result = await this.#attempt(wire, this.#facts(url));
    if (result.status !== undefined) connection.answered(place);
    if (!result.ok) this.#mayHaveHappened ||= result.error.outcomeUnknown;
    return result;
  }

  /** Whether what was lost has been found again. */
  #recover({ place, closings }: Route): Promise<boolean> {
    // A request cut off by closing is not repeated: restarting the service would keep an exiting program alive.
    if (closings !== this.#context.closings) return Promise.resolve(false);
    return this.#context.connection.recover(place, this.#time.signal);
  }

  /** Reads the credential again. Returns undefined if it is another one now, otherwise the error to end with. */
  async #renew({ place }: Route, refusal: ServiceError): Promise<ServiceError | undefined> {
    const credential = this.#credential;
    try {
      if (place.target) {
        // The key of a supervised service comes with its address.
        const { target } = await this.#context.connection.locate(this.#call.endpoint.auth, this.#time.signal);
        return target?.apiKey === credential?.value ? refusal : undefined;
      }
      return (await credential?.renew?.(this.#time.signal)) ? undefined : refusal;
    } catch (error) {
      if (!(error instanceof ServiceError)) return refusal;
      const why = error.message.replace(
        /^Nothing was sent(, because .*? could not be read)?: /,
        'Reading it again failed: ',
      );
      return new AuthenticationError(`${refusal.message} ${why}`, refusal);
    }
  }

  /** Facts about the call so far, for its errors. */
  #facts(url: URL): CallFacts {
    const { endpoint, body, idempotencyKey } = this.#call;
    const { operation, method, auth } = endpoint;
    return {
      method,
      isWrite: isWrite(this.#call.endpoint),
      // Part of the answer may be on screen.
      ...(auth === 'inferenceToken' && { lostAdvice: 'Ask again for a whole answer.' }),
      path: url.pathname,
      host: url.host,
      auth,
      redact: redactor([...this.#context.credentials.sent, ...sensitiveValues(endpoint, body)]),
      details: { operation, attempts: this.#made, idempotencyKey },
      mayHaveHappened: this.#mayHaveHappened,
      isPolled: this.#call.background,
    };
  }

  #headers(credential: Credential): Readonly<Record<string, string>> {
    const { request, idempotencyKey, headers } = this.#call;
    const { options, assumptions } = this.#context;
    const keyHeader = assumptions.idempotencyHeader.toLowerCase();
    return {
      ...headers,
      accept: 'application/json',
      'user-agent': options.userAgent,
      ...credential.headers,
      ...(request.body ? { 'content-type': 'application/json' } : {}),
      ...(idempotencyKey === undefined ? {} : { [keyHeader]: idempotencyKey }),
    };
  }

  async #attempt(request: WireRequest, facts: CallFacts): Promise<AttemptResult<Value>> {
    let head: { readonly status: number; readonly requestId: string | undefined } | undefined;
    try {
      const { endpoint, request: prepared } = this.#call;
      const { tracer } = this.#context.options;
      const traced = { tracer, endpoint, body: prepared.shownBody, redact: facts.redact };
      traceRequest(request, traced);
      const answer = traceAnswer(await exchange(request), traced);
      const { status, headers } = answer;
      head = { status, requestId: requestIdOf(headers, facts.redact) };
      if (endpoint.idempotencyKey && isReplayed(headers)) this.#context.replays.seen = true;
      this.#call.onAnswer?.({
        status,
        headers: shownHeaders(headers, facts.redact),
        receivedMs: this.#context.clock.monotonic(),
      });
      if (status >= 200 && status < 300) return { ...head, ok: true, value: await this.#read(answer, facts) };
      const outcome: Outcome = { kind: 'answer', status };
      if (status < 400) {
        answer.close();
        return { ...head, ok: false, outcome, headers: {}, error: redirected(answer, facts, request.url) };
      }
      const text = await readErrorBody(answer);
      const body = parseDeepJson(text);
      // A deletion that was carried out before its answer was lost.
      if (status === 404 && facts.method === 'DELETE' && facts.mayHaveHappened) {
        const gone = this.#call.endpoint.response.safeParse(this.#call.params);
        if (gone.success) return { ...head, ok: true, value: gone.data as Value };
      }
      return {
        ...head,
        ok: false,
        outcome,
        headers,
        error: this.#refusal(facts, { status, headers, text, body }, request.url),
      };
    } catch (error) {
      if (error instanceof ServiceError) {
        return { ...head, ok: false, outcome: { kind: 'not_understood' }, headers: {}, error };
      }
      if (error instanceof WireFailure) return this.#failed(error, facts, head);
      throw error;
    }
  }

  #failed(
    failure: WireFailure,
    facts: CallFacts,
    head?: { readonly status: number; readonly requestId: string | undefined },
  ): AttemptResult<Value> {
    const error = errorOfFailure(failure, facts, this.#call.timeouts, head);
    return { ...head, ok: false, outcome: outcomeOfFailure(failure), headers: {}, error };
  }

  #refusal(facts: CallFacts, answer: ErrorAnswer, url: URL): ServiceError {
    const { endpoint, request } = this.#call;
    const { capabilities, assumptions, connection } = this.#context;
    const { pattern: path, namesResource } = request;
    const envelope = readEnvelope(answer.body, facts.redact);
    const detail = validationDetail(answer.body);
    const field = detail ?? { param: envelope?.param };
    const refused: RefusedAnswer = {
      path,
      namesResource,
      envelope,
      status: answer.status,
      text: answer.text,
      ids: [...idsOf(this.#call), ...bodyIds(this.#call.body)],
      concernsInput: isOfInput(field, { path, sent: url.searchParams, isWrite: facts.isWrite }),
    };
    const noSuchPath = saysNoSuchPath(refused);
    // A supervised service is of this version, and has all endpoints.
    const mayLackPath = !connection.isSupervised && capabilities.mayLack(endpoint, refused);
    const requestId = requestIdOf(answer.headers, facts.redact);
    const details = { ...facts.details, requestId, noSuchPath, mayLackPath };
    // If the profile sets the path, the setting is wrong, not the service.
    const isSet = assumptions.settingOf(endpoint) !== undefined;
    const missing = isSet && noSuchPath ? undefined : capabilities.learn(endpoint, refused, details);
    const fieldAdvice = assumptions.adviceOn(
      endpoint,
      { query: url.searchParams, body: this.#call.body },
      { param: envelope?.param ?? detail?.param, message: envelope?.message ?? detail?.words },
    );
    const refusedFacts = { ...facts, details, fieldAdvice };
    const error = missing ?? errorOfAnswer(answer, refusedFacts, this.#context.clock.now(), envelope);
    if (!this.#isForeign || !(error instanceof AuthenticationError)) return error;
    return new AuthenticationError(
      `${facts.host} requires a key, and none was sent, because it is not the address of this profile. If deployments answer there, set it as inferenceUrl of the profile, with a token.`,
      error,
    );
  }
}

/** E.g. `Idempotent-Replayed: true`, or the same of another brand. */
function isReplayed(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) => /idempoten\w*-replay(ed)?$/.test(name) && /^true$/i.test(value.trim()),
  );
}

/** Values of the body that no error may repeat. */
function sensitiveValues({ sensitive = [] }: Endpoint, body: unknown): string[] {
  const fields = (body ?? {}) as Readonly<Record<string, unknown>>;
  return sensitive.map(name => own(fields, name)).filter(value => typeof value === 'string');
}

function agentUse(endpoint: Endpoint): AgentUse {
  if (endpoint.auth === 'inferenceToken') return 'long';
  return isWrite(endpoint) ? 'write' : 'read';
}
