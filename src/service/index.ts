/**
 * The service: calls every operation of the contract by name, and keeps what this session has learned about the
 * service.
 */

import type * as z from 'zod/mini';
import { type Endpoint, isWrite, readWith } from '../contract/common.ts';
import { type AnswerOf, endpoints, type InputOf, type Operation } from '../contract/endpoints.ts';
import { Agents } from './agents.ts';
import { requestIdOf, tooLarge, unusableAnswer } from './answer-error.ts';
import { Assumptions } from './assumptions.ts';
import { limitTime } from './attempts.ts';
import { CallPlan, idsOf, type OpenAnswer, type PreparedCall, type Sender } from './call-plan.ts';
import { Capabilities } from './capabilities.ts';
import { Chat } from './chat.ts';
import { type Clock, systemClock } from './clock.ts';
import { Connection, Credentials } from './connection.ts';
import { ReadOnlyError, RequestError, ServiceError } from './errors.ts';
import { type GateMonitor, Gates } from './gate.ts';
import { keptGeneration, ServiceGeneration } from './generation.ts';
import { BodyTooLarge, parseJson, readBody, type WireAnswer } from './http.ts';
import { type CallOptions, defaultMaxBytes, type ServiceOptions, timeoutsOf } from './options.ts';
import { rawSender, type SendRaw } from './raw.ts';
import { writtenTooFarInside } from './reach.ts';
import {
  type CallInput,
  chatAddress,
  describeRequest,
  type PreparedRequest,
  parseBase,
  pathUrl,
  prepareRequest,
  type RequestPreview,
  withAgent,
  withPayload,
  withPlaces,
} from './request.ts';
import { type PutUpload, uploader } from './uploads.ts';
import { type CallFacts, errorOfFailure } from './wire-error.ts';

export { keptGeneration };

/** The input may be omitted if the operation takes none, or only a query. */
type CallArguments<Name extends Operation> =
  Record<string, never> extends InputOf<Name>
    ? [input?: InputOf<Name>, options?: CallOptions]
    : [input: InputOf<Name>, options?: CallOptions];

/** Sends an operation of the contract and reads its answer. */
export type Call = <Name extends Operation>(operation: Name, ...rest: CallArguments<Name>) => Promise<AnswerOf<Name>>;

/** A call whose operation is chosen at run time: the input is still validated against the contract. */
export type UntypedCall = (
  operation: Operation,
  input?: CallInput<unknown, unknown>,
  options?: CallOptions,
) => Promise<unknown>;

export const untypedCall = ({ call }: Pick<Service, 'call'>): UntypedCall => call as UntypedCall;

export interface Service {
  /** The address of the service, without credentials. */
  readonly baseUrl: string;
  /** The same service for polls: they are not retried, and queue behind the user's requests. */
  readonly background: Service;
  /** Whether its host currently limits the request rate. */
  readonly gate: GateMonitor;
  readonly chat: Chat;
  readonly putUpload: PutUpload;
  /** Sends any operation of the contract by name. For streaming answers use `chat`. @throws ServiceError */
  readonly call: Call;
  readonly sendRaw: SendRaw;
  /**
   * For work that takes long before its first write. Each write is refused as well, before anything is sent.
   *
   * @throws ReadOnlyError if the service is read-only
   */
  readonly requireWrites: () => void;
  /** The request that an operation would send with this input, which may be incomplete; without credentials. */
  readonly preview: (operation: Operation, input: CallInput<unknown, unknown>) => RequestPreview;
  /**
   * The first requests that some work would send. The work runs on a service that records calls, sends nothing and
   * never answers, so a preview comes from the same call that later sends the request. Not for chat.
   */
  readonly describe: (work: (service: Service) => unknown) => readonly RequestPreview[];
  /** To whom uploads belong, as the profile says: the id of an agent, or `name:` and its name. */
  readonly agent: string | undefined;
  /** The detected generation of the service, and why. */
  readonly generation: ServiceGeneration;
  /** The optional endpoints that this service lacks. */
  readonly capabilities: Capabilities;
  /**
   * Closes every connection. Requests in flight fail, or are repeated if that is harmless. The service stays usable:
   * the next call connects again.
   */
  readonly close: () => Promise<void>;
}

/**
 * Creates a service from options. Sends nothing yet.
 *
 * @throws RequestError if an address or an assumption is invalid
 */
export function createService(options: ServiceOptions): Service {
  const caller = new Caller(options);
  const endpointOf = (operation: Operation): Endpoint => endpoints[operation] as Endpoint;
  const send =
    (defaults: CallOptions): UntypedCall =>
    (operation, input = {}, own = {}) =>
      caller.call(endpointOf(operation), input, { ...defaults, ...own });
  const preview: Service['preview'] = (operation, input) =>
    describeRequest(
      endpointOf(operation),
      caller.withAgent(endpointOf(operation), input),
      caller.assumptions,
      caller.connection.base,
    );
  const shared = {
    baseUrl: caller.connection.base.href,
    gate: caller.gates.monitor(() => caller.connection.host),
    chat: new Chat(caller),
    sendRaw: rawSender(caller),
    requireWrites: () => caller.requireWrites(),
    preview,
    describe: work => {
      const requests: RequestPreview[] = [];
      const noting = serviceOf((operation, input = {}) => {
        requests.push(preview(operation, input));
        return noAnswer();
      }, noAnswer);
      runForRequests(() => work(noting));
      return requests;
    },
    agent: options.agent,
    generation: caller.generation,
    capabilities: caller.capabilities,
    close: () => caller.close(),
  } satisfies Partial<Service>;
  const serviceOf = (call: UntypedCall, putUpload: PutUpload, background?: Service): Service => {
    const service: Service = {
      ...shared,
      call: call as Call,
      putUpload,
      get background() {
        return background ?? service;
      },
    };
    return service;
  };
  const putUpload = uploader(caller, options);
  return serviceOf(send({}), putUpload, serviceOf(send({ background: true }), putUpload));
}

const noAnswer = (): Promise<never> => new Promise(() => {});

/** Incomplete input may make the work fail: it would send nothing more then. */
function runForRequests(work: () => unknown): void {
  try {
    Promise.resolve(work()).catch(() => {});
  } catch {
    // What it would have sent before is recorded.
  }
}

class Caller implements Sender {
  readonly connection: Connection;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly gates: Gates;
  readonly assumptions: Assumptions;
  readonly capabilities: Capabilities;
  readonly generation: ServiceGeneration;
  readonly credentials: Credentials;
  readonly options: ServiceOptions;
  readonly replays = { seen: false };
  closings = 0;

  /** @throws RequestError if an address or an assumption of the profile is wrong */
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
    // A generated key, reused if the request is repeated.
    const keyed = { ...options, idempotencyKey: options.idempotencyKey ?? keyFor(endpoint) };
    const asked = assumptions.generationOf(endpoint);
    try {
      const answer = await this.#send(endpoint, input, keyed, assumptions);
      generation.hasWorked(endpoint, asked);
      return answer;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const isCertain = generation.stated !== undefined || assumptions.settingOf(endpoint) !== undefined;
      if (!endpoint.newest || isCertain || !mayBeElsewhere(error, generation))
        throw withPlaces(error, endpoint, assumptions, generation.stated);
      // The service has refused it without doing anything: try the other generation's path.
      const other = asked === 'newest' ? 'document' : 'newest';
      const answer = await this.#send(endpoint, input, keyed, assumptions.of(other)).catch((second: unknown) => {
        const isNeither = second instanceof ServiceError && isNoAnswer(second, endpoint);
        throw isNeither ? withPlaces(error, endpoint, assumptions, generation.stated) : second;
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
        // An empty answer confirms the ids in the request.
        const body = text.trim() === '' ? call.params : parseJson(text);
        const read = readWith(endpoint.response, body);
        if (!read.success) throw unusableAnswer({ ...answer, text, body }, facts, read.error.issues);
        this.generation.learnFrom(endpoint.operation, body);
        this.capabilities.hasWorked(endpoint, read.data, idsOf(call));
        return read.data;
      });
      return await plan.send();
    } finally {
      time.end();
    }
  }

  /**
   * Opens a streaming answer. Retried like any other call until the response headers arrive; the deadline ends there as
   * well. The caller must call `end`.
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
      return await new CallPlan(call, this, time, read, { uncompressed: true }).send();
    } catch (error) {
      time.end();
      throw error;
    }
  }

  /** @throws ReadOnlyError if the service is read-only */
  requireWrites(operation?: string): void {
    if (this.options.readOnly) throw new ReadOnlyError(operation);
  }

  /** Closes every connection without making one. */
  async close(): Promise<void> {
    this.closings += 1;
    await this.agents.close();
  }

  /** The input with the profile's additions. */
  withAgent(endpoint: Endpoint, input: CallInput<unknown, unknown>): CallInput<unknown, unknown> {
    return withAgent(endpoint, input, this.options.agent);
  }

  /** @throws RequestError if the address is unusable */
  #placed(made: PreparedRequest, { at, payload }: CallOptions): PreparedRequest {
    const request = payload ? withPayload(made, payload) : made;
    if (at === undefined) return request;
    if (at.startsWith('/')) return { ...request, urlAt: base => pathUrl(base, at) };
    const url = chatAddress(parseBase(at, 'playground_endpoint_url', this.options.allowInsecureHttp ?? false));
    const reach = writtenTooFarInside(url, this.connection.base);
    if (reach) {
      throw new RequestError(
        `The address that the service gave for this model leads to ${url.host} (${reach}), where the service itself is not. Nothing was sent.`,
        { code: 'address_invalid', param: 'playground_endpoint_url' },
      );
    }
    // The local service may have moved since it sent the address.
    return { ...request, urlAt: base => (this.connection.isOwn(url) ? new URL(url.pathname, base) : url) };
  }

  #prepare(
    endpoint: Endpoint,
    input: CallInput<unknown, unknown>,
    options: CallOptions,
    assumptions: Assumptions,
  ): PreparedCall {
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
      request: this.#placed(prepareRequest(endpoint, this.withAgent(endpoint, input), assumptions), options),
      timeouts: timeoutsOf(this.options.timeouts, options, pace),
      body: input.body,
      idempotencyKey: options.idempotencyKey ?? keyFor(endpoint),
      headers: options.headers,
      token,
      background: options.background ?? false,
      onAnswer: options.onAnswer,
    };
  }
}

function keyFor({ idempotencyKey }: Endpoint): string | undefined {
  return idempotencyKey ? crypto.randomUUID() : undefined;
}

/** Whether a refusal at the other generation's path is only that of an unknown path. */
function isNoAnswer({ noSuchPath, kind, status }: ServiceError, { body }: Endpoint): boolean {
  return noSuchPath || kind === 'not_found' || (status === 422 && body === undefined);
}

/** Whether the service's own refusal may mean that another generation has the operation elsewhere. */
function mayBeElsewhere(
  { noSuchPath, kind, code, outcomeUnknown }: ServiceError,
  { found }: ServiceGeneration,
): boolean {
  return !outcomeUnknown && (noSuchPath || (kind === 'not_found' && code !== undefined && found === undefined));
}
