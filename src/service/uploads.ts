/**
 * Uploads to signed addresses. The address itself is the credential: none of the profile's credentials is sent, and the
 * address's query is never shown.
 */

import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { originOf } from '../config/address.ts';
import { redactor } from '../config/redaction.ts';
import type { UploadUrl } from '../contract/benchmarks.ts';
import { readErrorBody } from '../net/body.ts';
import type { WireAnswer, WireRequest } from '../net/wire.ts';
import { clean } from '../text/sanitise.ts';
import { errorOfAnswer, redirectError } from './answer-error.ts';
import type { Client } from './client.ts';
import type { Place } from './connection.ts';
import { type ErrorDetails, RequestError, UploadUrlError } from './errors.ts';
import { type AnswerHead, type CallOptions, type Timeouts, timeoutsOf } from './options.ts';
import { guardOf, type ReachGuard } from './reach.ts';
import { requireTls } from './request.ts';
import type { Attempts } from './retry.ts';
import { type AttemptRequest, type Call, limitTime, send, type TimeLimit } from './send.ts';
import { type CallFacts, sentence } from './wire-error.ts';

/** The source of an upload: bytes, or the first `size` bytes of an open file, which stays open. */
type UploadSource = Uint8Array | { readonly handle: FileHandle; readonly size: number };

interface UploadOptions extends CallOptions {
  /** When the address expires, from `uploadDeadline`. Without it, the storage decides. */
  readonly untilMs?: number | undefined;
  /** Called with the number of bytes sent and the total. Starts again at 0 with each attempt. */
  readonly onProgress?: ((sent: number, total: number) => void) | undefined;
}

/** S3 and Google Cloud Storage sign addresses for at most 7 days. */
const longestLifetimeMs = 7 * 24 * 60 * 60 * 1_000;

/**
 * When addresses expire, in monotonic milliseconds. The service wrote both `expires_at` and `Date`, so this machine's
 * clock does not matter. Undefined if either is missing or implausible.
 */
export function uploadDeadline(expiresAt: string | null | undefined, head: AnswerHead | undefined): number | undefined {
  if (!head) return undefined;
  const lifetimeMs = Date.parse(expiresAt ?? '') - Date.parse(head.headers['date'] ?? '');
  return lifetimeMs > 0 && lifetimeMs <= longestLifetimeMs ? head.receivedMs + lifetimeMs : undefined;
}

/**
 * Sends a file to its signed address.
 *
 * @throws UploadUrlError if the address has expired or was refused: request a new one and send the file again
 * @throws ServiceError
 */
export type PutUpload = (target: UploadUrl, source: UploadSource, options?: UploadOptions) => Promise<void>;

const operation = 'putUpload';
const chunkSize = 64 * 1024;
/** Object storage error codes for an expired signature. */
const expiredCode = /^(ExpiredToken|RequestExpired|RequestTimeTooSkewed|SignatureDoesNotMatch|AccessDenied)$/;

export function uploader(client: Client): PutUpload {
  return async (target, source, options = {}) => {
    client.requireWrites(operation);
    const upload = new Upload(client, target, source, options);
    try {
      await send(upload, client);
    } finally {
      upload.time.end();
    }
  };
}

class Upload implements Call<void> {
  readonly operation = operation;
  readonly method = 'PUT';
  /** Sending the same file twice is harmless. */
  readonly isWrite = false;
  readonly repeatable = true;
  readonly background = false;
  readonly timeouts: Timeouts;
  readonly time: TimeLimit;
  readonly traced = { endpoint: { operation }, body: () => undefined };
  readonly #client: Client;
  readonly #target: UploadUrl;
  readonly #source: UploadSource;
  readonly #options: UploadOptions;
  readonly #url: URL;
  readonly #headers: GivenHeaders;
  #guard: ReachGuard | undefined;
  /** The service's address, if it stores the file itself. */
  #place: Place | undefined;
  #isShorter = false;

  /** @throws RequestError if the address is unusable */
  constructor(client: Client, target: UploadUrl, source: UploadSource, options: UploadOptions) {
    const { timeouts, allowInsecureHttp = false } = client.options;
    this.#client = client;
    this.#target = target;
    this.#source = source;
    this.#options = options;
    this.#url = checkedAddress(target, allowInsecureHttp);
    this.#headers = givenHeaders(target.headers);
    // A large file takes a long time on a slow connection, so only silence is limited.
    this.timeouts = timeoutsOf(timeouts, { deadlineMs: undefined, ...options });
    this.time = limitTime(options.signal, this.timeouts.deadlineMs, client.clock.monotonic());
  }

  async locate({ attempts }: Attempts): Promise<URL> {
    const { connection } = this.#client;
    if (!connection.isOwn(this.#url)) return this.#url;
    this.#place = await connection.locate('apiKey', this.time.signal);
    if (originOf(this.#place.base) === originOf(this.#url)) return this.#url;
    const what = `The service has moved since it gave the address for ${this.#target.path}.`;
    throw urlError('upload_url_expired', what, { attempts });
  }

  async request({ attempts }: Attempts): Promise<AttemptRequest> {
    const { agents, clock, options, connection } = this.#client;
    const { untilMs = Number.POSITIVE_INFINITY, onProgress } = this.#options;
    const { path } = this.#target;
    if (clock.monotonic() >= untilMs) {
      throw urlError('upload_url_expired', `The upload address for ${path} has expired.`, { attempts });
    }
    const agent = await agents.get(this.#url, 'upload');
    // The service itself may store the file.
    const isOwn = connection.isOwn(this.#url);
    this.#guard = isOwn ? undefined : await guardOf(this.#url, connection.base, agent, this.#tooFarInside);
    const source = this.#source;
    const size = source instanceof Uint8Array ? source.byteLength : source.size;
    return {
      headers: { 'user-agent': options.userAgent, ...this.#headers.sent, 'content-length': String(size) },
      body: this.#body(),
      agent,
      lookup: this.#guard?.lookup,
      onSent: sent => onProgress?.(Math.min(sent, size), size),
    };
  }

  #body(): WireRequest['body'] {
    const source = this.#source;
    if (source instanceof Uint8Array) return source;
    const { handle, size } = source;
    if (size === 0) return new Uint8Array();
    const onChanged = () => {
      this.#isShorter = true;
    };
    return () => Readable.from(readFile(handle, size, onChanged), { objectMode: false });
  }

  facts({ attempts }: Attempts): CallFacts {
    const { pathname: path, host, search } = this.#url;
    const given = Object.entries(this.#headers.sent).filter(([name]) => !storageHeader.test(name));
    return {
      method: this.method,
      isWrite: this.isWrite,
      lostAdvice: 'It is safe to send it again.',
      unreachedAdvice: 'The service uses this host for uploads: check the network and the proxy settings.',
      mayHaveHappened: false,
      path,
      host,
      auth: 'shownWithout',
      redact: redactor([search.slice(1), ...given.map(([, value]) => value)]),
      details: { operation, attempts },
    };
  }

  answered(): void {
    if (this.#place) this.#client.connection.answered(this.#place);
  }

  async read(answer: WireAnswer, facts: CallFacts): Promise<void> {
    const { status } = answer;
    if (status >= 300 && status < 400) {
      answer.close();
      throw redirectError(answer, facts, this.#url, 'Run the upload again to get a new address.');
    }
    // Read the body even on success, so that the connection can be reused.
    const text = await readErrorBody(answer);
    if (status >= 300) {
      throw refusal(
        { path: this.#target.path, ...this.#headers },
        { ...answer, text },
        facts,
        this.#client.clock.now(),
      );
    }
  }

  failed({ details }: CallFacts): RequestError | undefined {
    const refused = this.#guard?.refused;
    if (refused) return this.#tooFarInside(refused);
    if (!this.#isShorter) return undefined;
    const message = `${this.#target.path} shrank during the upload. Nothing was stored. Upload it again.`;
    return new RequestError(message, { ...details, code: 'file_changed' });
  }

  async recover(): Promise<boolean> {
    return this.#place !== undefined && this.#client.connection.recover(this.#place, this.time.signal);
  }

  readonly #tooFarInside = (reach: string): RequestError =>
    unusableAddress(
      this.#target.path,
      `leads to ${this.#url.host} (${reach}), further inside your network than the service itself`,
    );
}

function unusableAddress(path: string, what: string): RequestError {
  const message = `The upload address for ${path} ${what}. Nothing was sent.`;
  return new RequestError(message, { code: 'upload_url_invalid', operation });
}

function checkedAddress({ path, url: text }: UploadUrl, allowInsecureHttp: boolean): URL {
  const refuse = (what: string) => unusableAddress(path, what);
  if (!URL.canParse(text)) throw refuse('is not a URL');
  const url = new URL(text);
  if (url.username || url.password) throw refuse('contains a user name');
  requireTls(url, `the upload address for ${path}`, allowInsecureHttp);
  return url;
}

/**
 * Headers that the service may not set: credentials and cookies, which could be someone else's, and headers that route
 * or frame the request (RFC 9110, 7.6.1), which are set here.
 */
const refusedHeader =
  /^(authorization|cookie2?|host|connection|keep-alive|te|trailer|transfer-encoding|content-length|upgrade|expect|http2-settings|proxy-.*)$/;
/** RFC 9110, 5.6.2 and 5.5, without the bytes that Node does not send. Anything else could begin another header. */
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Object storage headers. Their values are credentials only under certain names. */
const storageHeader = /^(content|x-amz|x-goog|x-ms)-/;

interface GivenHeaders {
  readonly sent: Readonly<Record<string, string>>;
  /** The names of the headers that are not sent. */
  readonly refused: readonly string[];
}

/** Splits the headers that the service sent with an address. */
function givenHeaders(headers: UploadUrl['headers']): GivenHeaders {
  const all = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const isSent = ([name, value]: readonly [string, string]): boolean =>
    !refusedHeader.test(name) && headerName.test(name) && headerValue.test(value);
  // The actual length replaces the declared one.
  const refused = all.filter(each => !isSent(each) && each[0] !== 'content-length').map(([name]) => name);
  return { sent: Object.fromEntries(all.filter(isSent)), refused };
}

/** The error for an upload that storage refused. Quotes only the code: the rest repeats the signature. */
function refusal(
  { path, refused }: { readonly path: string } & GivenHeaders,
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string },
  facts: CallFacts,
  now: number,
) {
  const code = /<Code>(\w{1,64})<\/Code>/.exec(answer.text)?.[1];
  const details = { ...facts.details, status: answer.status };
  const names = refused.length === 1 ? 'the header' : 'the headers';
  const unsent =
    refused.length === 0
      ? ''
      : clean` benchtop did not send ${names} ${refused.join(', ')}, which the service asked for.`;
  if (
    answer.status === 401 ||
    answer.status === 403 ||
    (answer.status === 400 && code !== undefined && expiredCode.test(code))
  ) {
    return urlError(
      'upload_url_refused',
      `The upload address for ${path} was refused${code ? ` (${code})` : ''}.${unsent}`,
      details,
    );
  }
  const message = sentence(`Storage refused ${path}${code ? ` (${code})` : ''}`) + unsent;
  // A signed address's path means nothing to a user.
  const factsOfFile = { ...facts, fieldAdvice: 'Fix the request and try again.' };
  return errorOfAnswer({ ...answer, body: { error: { message } } }, factsOfFile, now);
}

function urlError(code: string, what: string, details: ErrorDetails): UploadUrlError {
  return new UploadUrlError(`${what} Nothing was stored. Run the upload again to get a new address.`, {
    operation,
    ...details,
    code,
  });
}

/** Reads by position, so a repeated attempt does not affect other readers of the file. */
async function* readFile(handle: FileHandle, size: number, onChanged: () => void): AsyncGenerator<Buffer, void> {
  for (let position = 0; position < size; ) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkSize, size - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, position);
    if (bytesRead === 0) {
      onChanged();
      throw new Error('the file became shorter');
    }
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
