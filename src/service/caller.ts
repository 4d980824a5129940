/** Calls endpoints of the contract: checked input, the right credential, retries, a checked answer. */
import type * as z from 'zod/mini';
import { type Endpoint, isWrite, readWith } from '../contract/common.ts';
import { Agents } from './agents.ts';
import { misunderstood, requestIdOf, tooLarge } from './answer-error.ts';
import { Assumptions } from './assumptions.ts';
import { limitTime, withRetries } from './attempts.ts';
import { type Call, type CallContext, CallPlan } from './call-plan.ts';
import { Capabilities } from './capabilities.ts';
import { type Clock, systemClock } from './clock.ts';
import { Connection, Credentials } from './connection.ts';
import { ApiError, ReadOnlyError, RequestError, ServiceError } from './errors.ts';
import { Gates } from './gate.ts';
import { ServiceGeneration } from './generation.ts';
import { BodyTooLarge, parseJson, readBody, type WireAnswer, type WireFailure } from './http.ts';
import { type CallOptions, defaultMaxBytes, type ServiceOptions, timeoutsOf } from './options.ts';
import { type CallInput, endpointUrl, type PreparedRequest, parseBase, prepareRequest, withAgent } from './request.ts';
import { type CallFacts, errorOfFailure } from './wire-error.ts';

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

export class Caller implements CallContext {
  readonly connection: Connection;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly assumptions: Assumptions;
  readonly capabilities: Capabilities;
  readonly generation: ServiceGeneration;
  readonly credentials: Credentials;
  readonly options: ServiceOptions;
  closings = 0;

  /** @throws RequestError where an address or an assumption of the profile is wrong */
  constructor(options: ServiceOptions) {
    this.options = options;
    this.credentials = new Credentials(options);
    this.agents = new Agents(options.caFile);
    this.clock = options.clock ?? systemClock;
    this.generation = new ServiceGeneration(options.generation, options.generationMemory, this.clock.now);
    this.assumptions = new Assumptions(options.assumptions, () => this.generation.current);
    this.capabilities = new Capabilities(this.clock);
    this.connection = new Connection(options, () => this.capabilities.forget());
    this.gates = options.gates ?? new Gates(this.clock);
  }

  /** @throws ServiceError */
  async call<Query extends z.ZodMiniType, Body extends z.ZodMiniType, Response extends z.ZodMiniType>(
    endpoint: Endpoint<Query, Body, Response>,
    input: CallInput<z.input<Query>, z.input<Body>>,
    options: CallOptions = {},
  ): Promise<z.output<Response>> {
    const { assumptions, generation } = this;
    // The same key, should it be sent twice.
    const keyed = { ...options, idempotencyKey: options.idempotencyKey ?? keyFor(endpoint) };
    const asked = assumptions.generationOf(endpoint);
    try {
      const answer = await this.#send(endpoint, input, keyed, assumptions);
      generation.hasWorked(endpoint, asked);
      return answer;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const isCertain = generation.stated !== undefined || assumptions.settingOf(endpoint) !== undefined;
      if (!endpoint.newest || isCertain || !mayBeElsewhere(error, generation)) throw placed(error, endpoint, this);
      // The service has refused it without doing anything: it may have it where the other generation does.
      const other = asked === 'newest' ? 'document' : 'newest';
      const answer = await this.#send(endpoint, input, keyed, assumptions.of(other)).catch((second: unknown) => {
        const isNeither = second instanceof ServiceError && (second.noSuchPath || second.kind === 'not_found');
        throw isNeither ? placed(error, endpoint, this) : second;
      });
      generation.hasWorked(endpoint, other);
      return answer;
    }
  }

  async #send<Query extends z.ZodMiniType, Body extends z.ZodMiniType, Response extends z.ZodMiniType>(
    endpoint: Endpoint<Query, Body, Response>,
    input: CallInput<z.input<Query>, z.input<Body>>,
    options: CallOptions,
    assumptions: Assumptions,
  ): Promise<z.output<Response>> {
    const call = this.#prepare(endpoint, input, options, assumptions);
    const time = limitTime(options.signal, call.timeouts.deadlineMs, this.clock.monotonic());
    const maxBytes = options.maxBytes ?? defaultMaxBytes;
    try {
      const plan = new CallPlan(call, this, time, async (answer, facts) => {
        const text = await readBody(answer, maxBytes).catch((error: unknown) => {
          throw error instanceof BodyTooLarge ? tooLarge(answer, facts, maxBytes) : error;
        });
        // An empty answer says as much as the ids of the request do.
        const body = text.trim() === '' ? call.params : parseJson(text);
        const read = readWith(endpoint.response, body);
        if (!read.success) throw misunderstood({ ...answer, text, body }, facts, read.error.issues);
        this.generation.learnFrom(endpoint.operation, body);
        return read.data;
      });
      return await withRetries(plan);
    } finally {
      time.end();
    }
  }

  /**
   * Opens an answer that is read as it comes. Until its head has come it is retried like any other; the deadline ends
   * there as well. The caller must call `end`.
   *
   * @throws ServiceError
   */
  async open<Query extends z.ZodMiniType, Body extends z.ZodMiniType, Response extends z.ZodMiniType>(
    endpoint: Endpoint<Query, Body, Response>,
    input: CallInput<z.input<Query>, z.input<Body>>,
    options: CallOptions = {},
  ): Promise<OpenAnswer> {
    const call = this.#prepare(endpoint, input, options, this.assumptions);
    const time = limitTime(options.signal, call.timeouts.deadlineMs, this.clock.monotonic());
    try {
      const read = async (answer: WireAnswer, facts: CallFacts): Promise<OpenAnswer> => {
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
      };
      return await withRetries(new CallPlan(call, this, time, read, { uncompressed: true }));
    } catch (error) {
      time.end();
      throw error;
    }
  }

  /** @throws ReadOnlyError where the service may only be read */
  requireWrites(operation?: string): void {
    if (this.options.readOnly) throw new ReadOnlyError(operation);
  }

  /** Closes every connection without making one. */
  async close(): Promise<void> {
    this.closings += 1;
    await this.agents.close();
  }

  /** The input with what the profile adds to it. */
  withAgent(endpoint: Endpoint, input: CallInput<unknown, unknown>): CallInput<unknown, unknown> {
    return withAgent(endpoint, input, this.options.agent);
  }

  /** @throws RequestError where the address cannot be used */
  #placed(request: PreparedRequest, at: string | undefined): PreparedRequest {
    if (at === undefined) return request;
    if (at.startsWith('/')) return { ...request, urlAt: base => endpointUrl(base, at) };
    const url = chatAddress(parseBase(at, 'playground_endpoint_url', this.options.allowInsecureHttp ?? false));
    // The local service may have moved since it said so.
    return { ...request, urlAt: base => (this.connection.isOwn(url) ? new URL(url.pathname, base) : url) };
  }

  #prepare(
    endpoint: Endpoint,
    input: CallInput<unknown, unknown>,
    options: CallOptions,
    assumptions: Assumptions,
  ): Call {
    const { auth, operation, pace } = endpoint;
    if (isWrite(endpoint)) this.requireWrites(operation);
    this.capabilities.require(endpoint);
    const { token } = options;
    if (auth === 'trajectoryToken' && token === undefined && !this.assumptions.is('rewardsWithApiKey')) {
      throw new RequestError('Nothing was sent: this service takes rewards only with the token of the trajectory.', {
        code: 'credential_missing',
        operation,
      });
    }
    return {
      endpoint,
      params: input.params ?? {},
      request: this.#placed(prepareRequest(endpoint, this.withAgent(endpoint, input), assumptions), options.at),
      timeouts: timeoutsOf(this.options.timeouts, options, pace),
      body: input.body,
      idempotencyKey: options.idempotencyKey ?? keyFor(endpoint),
      token,
      background: options.background ?? false,
    };
  }
}

function keyFor({ idempotencyKey }: Endpoint): string | undefined {
  return idempotencyKey && crypto.randomUUID();
}

/** Whether a refusal of the service itself may mean that another generation has the operation elsewhere. */
function mayBeElsewhere(
  { noSuchPath, kind, code, outcomeUnknown }: ServiceError,
  { found }: ServiceGeneration,
): boolean {
  return !outcomeUnknown && (noSuchPath || (kind === 'not_found' && code !== undefined && found === undefined));
}

/** An error that the path is not there, with words about who says that it should be. */
function placed(error: ServiceError, endpoint: Endpoint, { assumptions, generation }: Caller): ServiceError {
  if (!error.noSuchPath || error.kind === 'capability_missing') return error;
  const at = (way: Assumptions): string => `${endpoint.method} ${way.path(endpoint)}`;
  const setting = assumptions.settingOf(endpoint);
  const lacks = `This service does not have ${at(assumptions)}`;
  if (setting) return new ApiError(`${lacks}, which ${setting} of the profile says. Correct that setting.`, error);
  if (!endpoint.newest) return error;
  const { stated } = generation;
  const [own, other] = stated === 'newest' ? (['newest', 'document'] as const) : (['document', 'newest'] as const);
  const elsewhere = at(assumptions.of(other));
  const words = stated
    ? `${lacks}. The profile says that it is of generation ${own}; generation ${other} has ${elsewhere}. Correct generation in the profile.`
    : `This service has neither ${at(assumptions.of(own))} nor ${elsewhere}. Set assumptions.path.${endpoint.operation} in the profile to where it takes this.`;
  return new ApiError(words, error);
}

/** The address of chat completions below one that a service gives for a deployment. */
function chatAddress(url: URL): URL {
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith('/chat/completions')) return url;
  const chat = new URL(url);
  chat.pathname = `${path}${path.endsWith('/v1') ? '' : '/v1'}/chat/completions`;
  return chat;
}
