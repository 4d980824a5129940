/** A call to an operation in the contract: the requests that its attempts send, and the meaning of their responses. */

import { parseDeepJson } from '../base/json-depth.ts';
import { isRecord, own } from '../base/own-property.ts';
import { trimEnd } from '../base/trim.ts';
import { originOf } from '../config/address.ts';
import { redactor } from '../config/redaction.ts';
import { type Endpoint, isWrite, type Method } from '../contract/common.ts';
import type { AgentUse } from '../net/agents.ts';
import { readErrorBody } from '../net/body.ts';
import type { WireAnswer } from '../net/wire.ts';
import { noteClock } from '../text/time.ts';
import {
  type ErrorAnswer,
  errorOfAnswer,
  messageOf,
  movedTo,
  readEnvelope,
  redirectError,
  requestIdOf,
  targetOf,
  validationDetail,
} from './answer-error.ts';
import { isMissingPath, isOfInput, namesKind, type RefusedAnswer } from './capabilities.ts';
import type { Client } from './client.ts';
import type { Credential, Place } from './connection.ts';
import { AuthenticationError, type ErrorDetails, RequestError, ServiceError } from './errors.ts';
import { type CallOptions, type Timeouts, timeoutsOf } from './options.ts';
import { guardOf, type ReachGuard } from './reach.ts';
import {
  type CallInput,
  chatAddress,
  type PreparedRequest,
  parseBase,
  pathUrl,
  prepareRequest,
  withAgent,
  withPayload,
} from './request.ts';
import { type Attempts, isRepeatable } from './retry.ts';
import { type AttemptRequest, type Call, limitTime, type TimeLimit } from './send.ts';
import { shownHeaders } from './trace.ts';
import type { CallFacts } from './wire-error.ts';

const outsideBase =
  'benchtop did not follow it, because it leads outside the base URL. If it is the right address, change the base URL.';

export class OperationCall<Value> implements Call<Value> {
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
  readonly #input: CallInput<unknown, unknown>;
  readonly #options: CallOptions;
  readonly #idempotencyKey: string | undefined;
  readonly #readSuccess: Call<Value>['read'];
  readonly #uncompressed: boolean;
  #request: PreparedRequest;
  /** Where the current attempt goes. */
  #place: Place | undefined;
  #url: URL;
  /** Where the service redirects to, if that is on its own origin and below the base address. */
  #moved: URL | undefined;
  #closeCount = 0;
  #credential: Credential | undefined;
  /** Guards the connections to an address from the service. */
  #guard: ReachGuard | undefined;

  /**
   * @param readSuccess reads a successful response's body
   * @param uncompressed requests an uncompressed response
   * @throws ServiceError if nothing may be sent
   */
  constructor(
    client: Client,
    endpoint: Endpoint,
    input: CallInput<unknown, unknown>,
    options: CallOptions,
    readSuccess: Call<Value>['read'],
    uncompressed = false,
  ) {
    const { operation, method, pace, idempotencyKey } = endpoint;
    requireAllowed(client, endpoint, options);
    this.#client = client;
    this.#endpoint = endpoint;
    this.#input = input;
    this.#options = options;
    this.#readSuccess = readSuccess;
    this.#uncompressed = uncompressed;
    this.#idempotencyKey = options.idempotencyKey ?? (idempotencyKey ? crypto.randomUUID() : undefined);
    this.#request = this.#prepared();
    this.#url = this.#request.urlAt(client.connection.base);
    this.operation = operation;
    this.method = method;
    this.isWrite = isWrite(endpoint);
    this.keyed = this.#idempotencyKey !== undefined;
    this.background = options.background ?? false;
    this.traced = { endpoint, body: () => this.#request.redactedBody() };
    this.timeouts = timeoutsOf(client.options.timeouts, options, pace);
    this.time = limitTime(options.signal, this.timeouts.deadlineMs, client.clock.monotonic());
  }

  #prepared(): PreparedRequest {
    const { assumptions, options } = this.#client;
    const input = withAgent(this.#endpoint, this.#input, options.agent);
    return withPlacement(prepareRequest(this.#endpoint, input, assumptions), this.#options, this.#client);
  }

  /** Prepares the request again, once the service's generation is known. */
  prepare(): void {
    this.#request = this.#prepared();
  }

  get repeatable(): boolean {
    const { storesNothing, repeatable } = this.#endpoint;
    const isHarmless = storesNothing ?? repeatable?.(this.#input.body, this.#client) ?? false;
    return isHarmless || (this.keyed && this.#client.honoursKeys);
  }

  async locate(): Promise<URL> {
    const { connection, closeCount } = this.#client;
    this.#closeCount = closeCount;
    this.#place = await connection.locate(this.#endpoint.auth, this.time.signal);
    const url = this.#request.urlAt(this.#place.base);
    this.#url = this.#moved?.origin === url.origin ? this.#moved : url;
    return this.#url;
  }

  /** Whether the attempt goes to an address that the service named, on a foreign host that must not get a key. */
  get #isForeign(): boolean {
    return this.#place !== undefined && this.#url.origin !== this.#place.base.origin;
  }

  async request(): Promise<AttemptRequest> {
    const { credentials, agents, connection } = this.#client;
    const { signal } = this.time;
    const { token } = this.#options;
    this.#credential = this.#isForeign
      ? { headers: {}, value: '' }
      : await credentials.of(this.#endpoint.auth, { token, target: this.#place?.target, signal });
    const agent = await agents.get(this.#url, agentUse(this.#endpoint));
    this.#guard = this.#isForeign
      ? await guardOf(this.#url, connection.base, agent, reach => tooFarInside(this.#url, reach))
      : undefined;
    return {
      headers: this.#headers(this.#credential),
      body: this.#request.body,
      agent,
      lookup: this.#guard?.lookup,
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

  facts({ attempts, mayHaveHappened }: Attempts): CallFacts {
    const { auth, isIdempotent, storesNothing } = this.#endpoint;
    const { pathname: path, host } = this.#url;
    return {
      method: this.method,
      isWrite: this.isWrite,
      isIdempotent: isIdempotent ?? isRepeatable(this.method),
      storesNothing,
      // Part of the answer may already be on screen.
      ...(auth === 'inferenceToken' && { lostAdvice: 'Send it again.' }),
      path,
      host,
      auth,
      redact: redactor([...this.#client.credentials.sent, ...sensitiveValues(this.#endpoint, this.#input.body)]),
      ...(this.#isForeign && { unreachedAdvice: 'Check the network and the proxy settings.' }),
      details: {
        operation: this.operation,
        attempts,
        idempotencyKey: this.#idempotencyKey,
        namedOrigin: this.#isForeign ? this.#url.origin : undefined,
      },
      mayHaveHappened,
      isPolled: this.background,
    };
  }

  answered({ status, headers }: WireAnswer, { redact }: CallFacts): void {
    const { connection, clock } = this.#client;
    if (this.#place) connection.answered(this.#place);
    if (!this.#isForeign) noteClock(headers['date']);
    if (this.#endpoint.idempotencyKey && isReplayed(headers)) this.#client.hasReplayed = true;
    this.#options.onAnswer?.({ status, headers: shownHeaders(headers, redact), receivedMs: clock.monotonic() });
  }

  async read(answer: WireAnswer, facts: CallFacts): Promise<Value> {
    const { status, headers } = answer;
    if (status >= 200 && status < 300) return this.#readSuccess(answer, facts);
    // 304 Not Modified has no target.
    if (status < 400 && status !== 304) {
      answer.close();
      const target = targetOf(headers, this.#url);
      if (target?.origin !== this.#url.origin) throw redirectError(answer, facts, this.#url);
      if (this.#leavesBase(target)) throw movedTo(answer, facts, target, outsideBase);
      this.#moved = target;
      throw movedTo(answer, facts, target, this.#adviceOnMove(target));
    }
    const text = await readErrorBody(answer);
    throw this.#refusal({ status, headers, text, body: parseDeepJson(text) }, facts);
  }

  /** Whether a redirect leads out of the base path: another service on the same host may answer there. */
  #leavesBase({ pathname }: URL): boolean {
    const base = `${trimEnd(this.#place?.base.pathname ?? '', '/')}/`;
    return this.#url.pathname.startsWith(base) && !pathname.startsWith(base);
  }

  follow(): boolean {
    return this.#moved !== undefined;
  }

  /** Advice on a redirect to the same origin that was not followed. */
  #adviceOnMove({ pathname }: URL): string {
    if (!this.isWrite) return 'benchtop follows one redirect of a request. Check the base URL.';
    const why = 'benchtop did not follow it, because the request could happen twice.';
    const { operation } = this;
    if (operation === 'raw') return `${why} Send it there.`;
    const isSlash = pathname === `${this.#url.pathname}/`;
    const path = isSlash ? `${this.#request.pattern}/` : 'its path there';
    return `${why} Set assumptions.path.${operation} in the profile to ${path}.`;
  }

  failed({ details }: CallFacts): ServiceError | undefined {
    const refused = this.#guard?.refused;
    return refused && tooFarInside(this.#url, refused, details);
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

  /** The subject of a 404 with this code. */
  #subjectOf(code: string | undefined): NonNullable<CallFacts['subject']> {
    const { pattern, namesResource } = this.#request;
    if (pattern.includes('{') || namesKind(code)) return 'record';
    return namesResource || this.#options.at !== undefined ? 'input' : 'path';
  }

  #refusal(answer: ErrorAnswer, facts: CallFacts): ServiceError {
    const { capabilities, assumptions, connection, clock } = this.#client;
    const endpoint = this.#endpoint;
    const { pattern: path, namesResource } = this.#request;
    const { searchParams } = this.#url;
    const envelope = readEnvelope(answer.body, facts.redact);
    const detail = validationDetail(answer.body);
    const field = {
      place: detail?.place,
      param: envelope?.param ?? detail?.param,
      message: envelope?.message ?? detail?.words,
    };
    const refused: RefusedAnswer = {
      path,
      namesResource,
      envelope,
      status: answer.status,
      text: answer.text,
      words: messageOf(answer, envelope, facts.redact),
      ids: [...idsIn(this.#input), ...bodyIds(this.#input.body)],
      concernsInput:
        isOfInput(field, { path, sent: searchParams, isWrite: facts.isWrite }) ||
        asksForMore(answer.status, searchParams),
    };
    const noSuchPath = isMissingPath(refused);
    // A supervised service has this program's version, and every endpoint.
    const mayLackPath = !connection.isSupervised && capabilities.mayLack(endpoint, refused);
    const requestId = requestIdOf(answer.headers, facts.redact);
    const details = { ...facts.details, requestId, noSuchPath, mayLackPath };
    // If the profile sets the path, the setting is wrong.
    const isSet = assumptions.settingOf(endpoint) !== undefined;
    const missing = isSet && noSuchPath ? undefined : capabilities.learn(endpoint, refused, details);
    const fieldAdvice = assumptions.adviceOn(endpoint, { query: searchParams, body: this.#input.body }, field);
    const subject = this.#subjectOf(envelope?.code);
    const error = missing ?? errorOfAnswer(answer, { ...facts, details, fieldAdvice, subject }, clock.now(), envelope);
    if (!this.#isForeign || !(error instanceof AuthenticationError)) return error;
    return new AuthenticationError(
      `${facts.host} requires a key. None was sent, because it is not the address of this profile. If deployments answer there, set it as inferenceUrl in the profile, with a token.`,
      error,
    );
  }
}

/** @throws ServiceError if the operation may not be sent, regardless of its input */
function requireAllowed(client: Client, endpoint: Endpoint, { token }: CallOptions): void {
  const { auth, operation } = endpoint;
  if (isWrite(endpoint)) client.requireWrites(operation);
  client.capabilities.require(endpoint);
  if (auth === 'trajectoryToken' && token === undefined && !client.assumptions.is('rewardsWithApiKey')) {
    throw new RequestError('Nothing was sent: this service accepts rewards only with the trajectory token.', {
      code: 'credential_missing',
      operation,
    });
  }
}

/**
 * Applies the address and payload from the call's options to a request. @throws RequestError if the address is
 * unusable
 */
function withPlacement(
  made: PreparedRequest,
  { at, payload }: CallOptions,
  { connection, options }: Client,
): PreparedRequest {
  const request = payload ? withPayload(made, payload) : made;
  if (at === undefined) return request;
  if (at.startsWith('/')) return { ...request, urlAt: base => pathUrl(base, at) };
  const url = chatAddress(parseBase(at, 'playground_endpoint_url', options.allowInsecureHttp ?? false));
  // The local service may have moved since it sent the address.
  const urlAt = (base: URL): URL => (connection.isOwn(url) ? new URL(url.pathname, base) : spelledAs(base, url));
  return { ...request, urlAt };
}

function tooFarInside({ host }: URL, reach: string, details: ErrorDetails = {}): RequestError {
  return new RequestError(
    `The address of this model, from the service, leads to ${host} (${reach}), further inside your network than the service itself. Nothing was sent.`,
    { ...details, code: 'address_invalid', param: 'playground_endpoint_url' },
  );
}

/** Spells an address on the profile's origin as the profile does, because only that spelling gets a key. */
function spelledAs(base: URL, url: URL): URL {
  if (originOf(base) !== originOf(url)) return url;
  const own = new URL(url);
  own.hostname = base.hostname;
  return own;
}

/** Whether a 400 or 410 may have refused the page or the order. Some services do not name the field. */
const asksForMore = (status: number, sent: URLSearchParams): boolean =>
  (status === 400 || status === 410) && ['cursor', 'sort', 'order', 'search'].some(name => sent.has(name));

/** The ids in a call's path. */
export const idsIn = ({ params = {} }: CallInput<unknown, unknown>): string[] => Object.values(params).map(String);

function bodyIds(body: unknown): string[] {
  const fields = isRecord(body) ? Object.entries(body) : [];
  return fields.flatMap(([name, value]) => (name.endsWith('_id') && typeof value === 'string' ? [value] : []));
}

/** `Idempotent-Replayed: true` or a branded form of it. */
function isReplayed(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) => /idempoten\w{0,9}-replay(ed)?$/.test(name) && /^true$/i.test(value.trim()),
  );
}

/** Values in the body that errors must not show. */
function sensitiveValues({ sensitive = [] }: Endpoint, body: unknown): string[] {
  const fields = (body ?? {}) as Readonly<Record<string, unknown>>;
  return sensitive.map(name => own(fields, name)).filter(value => typeof value === 'string');
}

function agentUse(endpoint: Endpoint): AgentUse {
  if (endpoint.auth === 'inferenceToken') return 'long';
  return isWrite(endpoint) ? 'write' : 'read';
}
