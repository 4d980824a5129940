/** Calls of the operations of the contract: what each sends, and what its answers mean. */
import type * as z from 'zod/mini';
import { redactor } from '../config/redaction.ts';
import { type Endpoint, isWrite, type Method, readWith } from '../contract/common.ts';
import type { AgentUse } from '../net/agents.ts';
import { BodyTooLarge, readBody, readErrorBody } from '../net/body.ts';
import type { WireFailure } from '../net/failure.ts';
import type { WireAnswer } from '../net/wire.ts';
import { parseDeepJson, parseJson } from '../text/json-depth.ts';
import { isRecord, own } from '../text/own.ts';
import {
  type ErrorAnswer,
  errorOfAnswer,
  readEnvelope,
  redirected,
  requestIdOf,
  tooLarge,
  unusableAnswer,
  validationDetail,
} from './answer-error.ts';
import type { Assumptions } from './assumptions.ts';
import { isOfInput, type RefusedAnswer, saysNoSuchPath } from './capabilities.ts';
import type { Client } from './client.ts';
import type { Credential, Place } from './connection.ts';
import { AuthenticationError, RequestError, ServiceError } from './errors.ts';
import { type CallOptions, defaultMaxBytes, type Timeouts, timeoutsOf } from './options.ts';
import { writtenTooFarInside } from './reach.ts';
import {
  type CallInput,
  chatAddress,
  type PreparedRequest,
  parseBase,
  pathUrl,
  prepareRequest,
  withAgent,
  withPayload,
  withPlaces,
} from './request.ts';
import type { Tries } from './retry.ts';
import { type AttemptRequest, type Call, limitTime, send, type TimeLimit } from './send.ts';
import { shownHeaders } from './trace.ts';
import { type CallFacts, errorOfFailure } from './wire-error.ts';

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

/** Sends an operation and reads its answer. @throws ServiceError */
export async function callOperation<
  Query extends z.ZodMiniType,
  Body extends z.ZodMiniType,
  Response extends z.ZodMiniType,
>(
  client: Client,
  endpoint: Endpoint<Query, Body, Response>,
  input: CallInput<z.input<Query>, z.input<Body>>,
  options: CallOptions = {},
): Promise<z.output<Response>> {
  const { assumptions, generation } = client;
  // A generated key, reused if the request is repeated.
  const keyed = { ...options, idempotencyKey: options.idempotencyKey ?? keyFor(endpoint) };
  const asked = assumptions.generationOf(endpoint);
  try {
    const answer = await sendOperation(client, endpoint, input, keyed, assumptions);
    generation.hasWorked(endpoint, asked);
    return answer;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isCertain = generation.stated !== undefined || assumptions.settingOf(endpoint) !== undefined;
    if (!endpoint.newest || isCertain || !mayBeElsewhere(error, client))
      throw withPlaces(error, endpoint, assumptions, generation.stated);
    // The service has refused it without doing anything: try the other generation's path.
    const other = asked === 'newest' ? 'document' : 'newest';
    const there = assumptions.of(other);
    const answer = await sendOperation(client, endpoint, input, keyed, there).catch((second: unknown) => {
      const isNeither = second instanceof ServiceError && isNoAnswer(second, endpoint);
      throw isNeither ? withPlaces(error, endpoint, assumptions, generation.stated) : second;
    });
    generation.hasWorked(endpoint, other);
    return answer;
  }
}

async function sendOperation<Query extends z.ZodMiniType, Body extends z.ZodMiniType, Response extends z.ZodMiniType>(
  client: Client,
  endpoint: Endpoint<Query, Body, Response>,
  input: CallInput<z.input<Query>, z.input<Body>>,
  options: CallOptions,
  assumptions: Assumptions,
): Promise<z.output<Response>> {
  const maxBytes = options.maxBytes ?? defaultMaxBytes;
  const params = input.params ?? {};
  const read = async (answer: WireAnswer, facts: CallFacts): Promise<z.output<Response>> => {
    const text = await readText(answer, facts, maxBytes);
    // An empty answer confirms the ids in the request.
    const body = text.trim() === '' ? params : parseJson(text);
    const { success, data, error } = readWith(endpoint.response, body);
    if (!success) throw unusableAnswer({ ...answer, text, body }, facts, error.issues);
    client.generation.learnFrom(endpoint.operation, body);
    client.capabilities.hasWorked(endpoint, data, idsIn(params));
    return data;
  };
  const call = new OperationCall(client, endpoint, input, options, read, { assumptions });
  try {
    return await send(call, client);
  } finally {
    call.time.end();
  }
}

/**
 * Opens a streaming answer. Retried like any other call until the response headers arrive; the deadline ends there as
 * well. The caller must call `end`.
 *
 * @throws ServiceError
 */
export async function openOperation<Query extends z.ZodMiniType, Body extends z.ZodMiniType>(
  client: Client,
  endpoint: Endpoint<Query, Body>,
  input: CallInput<z.input<Query>, z.input<Body>>,
  options: CallOptions = {},
): Promise<OpenAnswer> {
  const read = async (answer: WireAnswer, facts: CallFacts): Promise<OpenAnswer> => {
    const { time, timeouts } = call;
    time.lift();
    const head = { status: answer.status, requestId: requestIdOf(answer.headers, facts.redact) };
    return {
      answer,
      facts,
      failed: (failure, now) => errorOfFailure(failure, now, timeouts, head),
      end: () => {
        answer.close();
        time.end();
      },
    };
  };
  const call: OperationCall<OpenAnswer> = new OperationCall(client, endpoint, input, options, read, {
    uncompressed: true,
  });
  try {
    return await send(call, client);
  } catch (error) {
    call.time.end();
    throw error;
  }
}

/** The body as text. @throws ResponseError if it is too large, WireFailure */
export async function readText(answer: WireAnswer, facts: CallFacts, maxBytes: number): Promise<string> {
  try {
    return await readBody(answer, maxBytes);
  } catch (error) {
    throw error instanceof BodyTooLarge ? tooLarge(answer, facts, maxBytes) : error;
  }
}

/** How an operation is sent. */
interface Manner {
  /** The names of the service, if not the client's. */
  readonly assumptions?: Assumptions;
  /** Asks for an uncompressed answer. */
  readonly uncompressed?: boolean;
}

class OperationCall<Value> implements Call<Value> {
  readonly operation: string;
  readonly method: Method;
  readonly isWrite: boolean;
  readonly keyed: boolean;
  readonly background: boolean;
  readonly timeouts: Timeouts;
  readonly time: TimeLimit;
  readonly traced: Call<Value>['traced'];
  readonly #client: Client;
  readonly #endpoint: Endpoint;
  readonly #request: PreparedRequest;
  readonly #params: Readonly<Record<string, string | number>>;
  readonly #body: unknown;
  readonly #options: CallOptions;
  readonly #idempotencyKey: string | undefined;
  readonly #uncompressed: boolean;
  readonly #readSuccess: Call<Value>['read'];
  /** Of the attempt under way. */
  #place: Place | undefined;
  #url: URL;
  #closeCount = 0;
  #credential: Credential | undefined;

  /**
   * @param readSuccess reads the body of a success
   * @throws ServiceError if nothing may be sent
   */
  constructor(
    client: Client,
    endpoint: Endpoint,
    input: CallInput<unknown, unknown>,
    options: CallOptions,
    readSuccess: Call<Value>['read'],
    { assumptions = client.assumptions, uncompressed = false }: Manner,
  ) {
    const { operation, method, pace } = endpoint;
    requireAllowed(client, endpoint, options);
    const request = prepareRequest(endpoint, withAgent(endpoint, input, client.options.agent), assumptions);
    this.#request = placed(request, options, client);
    this.#url = this.#request.urlAt(client.connection.base);
    this.operation = operation;
    this.method = method;
    this.isWrite = isWrite(endpoint);
    this.background = options.background ?? false;
    this.timeouts = timeoutsOf(client.options.timeouts, options, pace);
    this.traced = { endpoint, body: this.#request.shownBody };
    this.#idempotencyKey = options.idempotencyKey ?? keyFor(endpoint);
    this.keyed = this.#idempotencyKey !== undefined;
    this.#client = client;
    this.#endpoint = endpoint;
    this.#params = input.params ?? {};
    this.#body = input.body;
    this.#options = options;
    this.#uncompressed = uncompressed;
    this.#readSuccess = readSuccess;
    this.time = limitTime(options.signal, this.timeouts.deadlineMs, client.clock.monotonic());
  }

  get repeatable(): boolean {
    return this.#endpoint.repeatable?.(this.#body) === true || (this.keyed && this.#client.honoursKeys);
  }

  async locate(): Promise<URL> {
    const { connection, closeCount } = this.#client;
    this.#closeCount = closeCount;
    this.#place = await connection.locate(this.#endpoint.auth, this.time.signal);
    this.#url = this.#request.urlAt(this.#place.base);
    return this.#url;
  }

  /** A key is only sent to the profile's own hosts, whatever address a service names. */
  get #isForeign(): boolean {
    return this.#place !== undefined && this.#url.origin !== this.#place.base.origin;
  }

  async request(): Promise<AttemptRequest> {
    const { credentials, agents } = this.#client;
    const { signal } = this.time;
    const { token } = this.#options;
    this.#credential = this.#isForeign
      ? { headers: {}, value: '' }
      : await credentials.of(this.#endpoint.auth, { token, target: this.#place?.target, signal });
    return {
      headers: this.#headers(this.#credential),
      body: this.#request.body,
      agent: await agents.get(this.#url, agentUse(this.#endpoint)),
      uncompressed: this.#uncompressed,
    };
  }

  #headers(credential: Credential): Readonly<Record<string, string>> {
    const { options, assumptions } = this.#client;
    const key = this.#idempotencyKey;
    return {
      ...this.#options.headers,
      accept: 'application/json',
      'user-agent': options.userAgent,
      ...credential.headers,
      ...(this.#request.body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { [assumptions.idempotencyHeader.toLowerCase()]: key }),
    };
  }

  facts({ attempts, mayHaveHappened }: Tries): CallFacts {
    const { auth } = this.#endpoint;
    const { pathname: path, host } = this.#url;
    return {
      method: this.method,
      isWrite: this.isWrite,
      // Part of the answer may be on screen.
      ...(auth === 'inferenceToken' && { lostAdvice: 'Ask again for a whole answer.' }),
      path,
      host,
      auth,
      redact: redactor([...this.#client.credentials.sent, ...sensitiveValues(this.#endpoint, this.#body)]),
      details: { operation: this.operation, attempts, idempotencyKey: this.#idempotencyKey },
      mayHaveHappened,
      isPolled: this.background,
    };
  }

  answered({ status, headers }: WireAnswer, { redact }: CallFacts): void {
    const { connection, clock } = this.#client;
    if (this.#place) connection.answered(this.#place);
    if (this.#endpoint.idempotencyKey && isReplayed(headers)) this.#client.hasReplayed = true;
    this.#options.onAnswer?.({ status, headers: shownHeaders(headers, redact), receivedMs: clock.monotonic() });
  }

  async read(answer: WireAnswer, facts: CallFacts): Promise<Value> {
    const { status, headers } = answer;
    if (status >= 200 && status < 300) return this.#readSuccess(answer, facts);
    if (status < 400) {
      answer.close();
      throw redirected(answer, facts, this.#url);
    }
    const text = await readErrorBody(answer);
    // A deletion that was carried out before its answer was lost.
    if (status === 404 && this.method === 'DELETE' && facts.mayHaveHappened) {
      const gone = this.#endpoint.response.safeParse(this.#params);
      if (gone.success) return gone.data as Value;
    }
    throw this.#refusal({ status, headers, text, body: parseDeepJson(text) }, facts);
  }

  async recover(): Promise<boolean> {
    const { connection, closeCount } = this.#client;
    // A request cut off by closing is not repeated: restarting the service would keep an exiting program alive.
    if (!this.#place || this.#closeCount !== closeCount) return false;
    return connection.recover(this.#place, this.time.signal);
  }

  async renew(refusal: ServiceError): Promise<true | ServiceError> {
    const { signal } = this.time;
    try {
      if (this.#place?.target) {
        // The key of a supervised service comes with its address.
        const { target } = await this.#client.connection.locate(this.#endpoint.auth, signal);
        return target?.apiKey === this.#credential?.value ? refusal : true;
      }
      return (await this.#credential?.renew?.(signal)) ? true : refusal;
    } catch (error) {
      if (!(error instanceof ServiceError)) return refusal;
      const why = error.message.replace(
        /^Nothing was sent(, because .*? could not be read)?: /,
        'Reading it again failed: ',
      );
      return new AuthenticationError(`${refusal.message} ${why}`, refusal);
    }
  }

  #refusal(answer: ErrorAnswer, facts: CallFacts): ServiceError {
    const { capabilities, assumptions, connection, clock } = this.#client;
    const endpoint = this.#endpoint;
    const { pattern: path, namesResource } = this.#request;
    const { searchParams } = this.#url;
    const envelope = readEnvelope(answer.body, facts.redact);
    const detail = validationDetail(answer.body);
    const field = detail ?? { param: envelope?.param };
    const refused: RefusedAnswer = {
      path,
      namesResource,
      envelope,
      status: answer.status,
      text: answer.text,
      ids: [...idsIn(this.#params), ...bodyIds(this.#body)],
      concernsInput: isOfInput(field, { path, sent: searchParams, isWrite: facts.isWrite }),
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
      { query: searchParams, body: this.#body },
      { param: envelope?.param ?? detail?.param, message: envelope?.message ?? detail?.words },
    );
    const error = missing ?? errorOfAnswer(answer, { ...facts, details, fieldAdvice }, clock.now(), envelope);
    if (!this.#isForeign || !(error instanceof AuthenticationError)) return error;
    return new AuthenticationError(
      `${facts.host} requires a key, and none was sent, because it is not the address of this profile. If deployments answer there, set it as inferenceUrl of the profile, with a token.`,
      error,
    );
  }
}

/** @throws ServiceError if the operation may not be sent, whatever its input */
function requireAllowed(client: Client, endpoint: Endpoint, { token }: CallOptions): void {
  const { auth, operation } = endpoint;
  if (isWrite(endpoint)) client.requireWrites(operation);
  client.capabilities.require(endpoint);
  if (auth === 'trajectoryToken' && token === undefined && !client.assumptions.is('rewardsWithApiKey')) {
    throw new RequestError('Nothing was sent: this service takes rewards only with the token of the trajectory.', {
      code: 'credential_missing',
      operation,
    });
  }
}

/** The request with the body and at the address of the call's options. @throws RequestError if the address is unusable */
function placed(made: PreparedRequest, { at, payload }: CallOptions, { connection, options }: Client): PreparedRequest {
  const request = payload ? withPayload(made, payload) : made;
  if (at === undefined) return request;
  if (at.startsWith('/')) return { ...request, urlAt: base => pathUrl(base, at) };
  const url = chatAddress(parseBase(at, 'playground_endpoint_url', options.allowInsecureHttp ?? false));
  const reach = writtenTooFarInside(url, connection.base);
  if (reach) {
    throw new RequestError(
      `The address that the service gave for this model leads to ${url.host} (${reach}), where the service itself is not. Nothing was sent.`,
      { code: 'address_invalid', param: 'playground_endpoint_url' },
    );
  }
  // The local service may have moved since it sent the address.
  return { ...request, urlAt: base => (connection.isOwn(url) ? new URL(url.pathname, base) : url) };
}

function keyFor({ idempotencyKey }: Endpoint): string | undefined {
  return idempotencyKey ? crypto.randomUUID() : undefined;
}

/** The ids in the path of a call. */
const idsIn = (params: Readonly<Record<string, string | number>>): string[] => Object.values(params).map(String);

function bodyIds(body: unknown): string[] {
  const fields = isRecord(body) ? Object.entries(body) : [];
  return fields.flatMap(([name, value]) => (name.endsWith('_id') && typeof value === 'string' ? [value] : []));
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

/** Whether a refusal at the other generation's path is only that of an unknown path. */
function isNoAnswer({ noSuchPath, kind, status }: ServiceError, { body }: Endpoint): boolean {
  return noSuchPath || kind === 'not_found' || (status === 422 && body === undefined);
}

/** Whether the service's own refusal may mean that another generation has the operation elsewhere. */
function mayBeElsewhere({ noSuchPath, kind, code, outcomeUnknown }: ServiceError, { generation }: Client): boolean {
  const isUnknown = kind === 'not_found' && code !== undefined && generation.found === undefined;
  return !outcomeUnknown && (noSuchPath || isUnknown);
}
