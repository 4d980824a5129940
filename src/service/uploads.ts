/**
 * Uploads to signed addresses. The address itself is the credential: no credential of the profile is sent, and its
 * query is never shown.
 */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { redactor } from '../config/redaction.ts';
import type { UploadUrl } from '../contract/benchmarks.ts';
import type { Agent } from './agents.ts';
import { errorOfAnswer, redirected } from './answer-error.ts';
import { type AttemptResult, Attempts, type Destination, limitTime } from './attempts.ts';
import type { Sender } from './call-plan.ts';
import type { Place } from './connection.ts';
import { type ErrorDetails, RequestError, type ServiceError, UploadUrlError } from './errors.ts';
import { exchange, readErrorBody, type WireAnswer, WireFailure } from './http.ts';
import { type AnswerHead, type CallOptions, type ServiceOptions, timeoutsOf } from './options.ts';
import { ReachGuard } from './reach.ts';
import { requireTls } from './request.ts';
import type { Outcome } from './retry.ts';
import { traceAnswer, traceRequest } from './trace.ts';
import { type CallFacts, errorOfFailure, heldBack, outcomeOfFailure, sentence, serviceNotFound } from './wire-error.ts';

/** The source of an upload: bytes, or an open file of which the first `size` bytes are sent. The file stays open. */
export type UploadSource = Uint8Array | { readonly handle: FileHandle; readonly size: number };

export interface UploadOptions extends CallOptions {
  /** When the address expires, as `uploadDeadline` has it. If it is missing, the storage decides. */
  readonly untilMs?: number | undefined;
  /** Called with the bytes sent so far and in total. Starts again at 0 if an attempt is repeated. */
  readonly onProgress?: ((sent: number, total: number) => void) | undefined;
}

/** The longest time that S3 and Google Cloud Storage sign an address for. */
const longestLifetimeMs = 7 * 24 * 60 * 60 * 1_000;

/**
 * When addresses expire: monotonic milliseconds of the service's clock. Both `expires_at` and `Date` were written by the
 * service, so a wrong clock of this machine does not matter. Undefined if they do not tell.
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
/** A large file over a slow line takes long: only silence ends it. */
const patience = { deadlineMs: undefined } as const;
/** Error codes of object storage for an expired signature. */
const expiredCode = /^(ExpiredToken|RequestExpired|RequestTimeTooSkewed|SignatureDoesNotMatch|AccessDenied)$/;

/** The file was changed while it was read. */
class FileChanged extends Error {}

export function uploader(sender: Sender, service: ServiceOptions): PutUpload {
  return async (target, source, options = {}) => {
    sender.requireWrites(operation);
    const { clock, gates, connection } = sender;
    const { logger, tracer, userAgent } = service;
    const url = checkedAddress(target, service.allowInsecureHttp ?? false);
    const agent = await sender.agents.get(url, 'upload');
    const guard = await guardOf(target.path, url, sender, agent);
    const size = source instanceof Uint8Array ? source.byteLength : source.size;
    const timeouts = timeoutsOf(service.timeouts, { ...patience, ...options });
    const headers = uploadHeaders(target.headers ?? {}, size, userAgent);
    const time = limitTime(options.signal, timeouts.deadlineMs, clock.monotonic());
    const onSent = (sent: number) => options.onProgress?.(Math.min(sent, size), size);
    const { lookup } = guard ?? {};
    const wire = { method: 'PUT', url, headers, agent, lookup, ...timeouts, signal: time.signal, onSent } as const;

    let made = 0;
    /** An address from before the service moved leads nowhere now. */
    const locate = async (): Promise<Storage> => {
      const storage = { path: url.pathname, host: url.host, place: undefined };
      if (!connection.isOwn(url)) return storage;
      const { details } = factsOf(url, made);
      let place: Place;
      try {
        place = await connection.locate('apiKey', time.signal);
      } catch (error) {
        throw serviceNotFound(error, factsOf(url, made), time.signal, timeouts);
      }
      if (place.base.origin === url.origin) return { ...storage, place };
      throw urlError(
        'upload_url_expired',
        `The service has moved since it gave the address of ${target.path}.`,
        details,
      );
    };
    const run = async (attempt: number): Promise<AttemptResult<void>> => {
      made = attempt;
      const facts = factsOf(url, attempt);
      if (clock.monotonic() >= (options.untilMs ?? Number.POSITIVE_INFINITY)) {
        return failed(
          urlError('upload_url_expired', `The upload address of ${target.path} has expired.`, facts.details),
        );
      }
      let shorter = false;
      const body = bodyOf(source, () => {
        shorter = true;
      });
      try {
        const traced = { tracer, endpoint: { operation }, body: () => undefined, redact: facts.redact };
        const request = { ...wire, body };
        traceRequest(request, traced);
        const answer = traceAnswer(await exchange(request), traced);
        return await judge(answer, target.path, facts, url, clock.now());
      } catch (error) {
        if (!(error instanceof WireFailure)) throw error;
        if (guard?.refused) return failed(tooFarInside(target.path, url, guard.refused));
        if (!shorter) return failed(errorOfFailure(error, facts, timeouts), outcomeOfFailure(error));
        const message = `${target.path} became shorter while it was sent. Nothing was stored. Send it again.`;
        return failed(new RequestError(message, { ...facts.details, code: 'file_changed' }));
      }
    };
    const attempts = new Attempts({
      operation,
      method: 'PUT',
      isWrite: true,
      repeatable: true,
      background: false,
      time,
      gates,
      clock,
      logger,
    });
    try {
      for (;;) {
        const storage = await locate();
        const { place } = storage;
        const isRepeated = await attempts.begin<void>(storage, gate =>
          heldBack(factsOf(url, made), gate, time.signal, timeouts),
        );
        const result = await run(attempts.number);
        const recover = async () => place !== undefined && (await connection.recover(place, time.signal));
        if (await isRepeated(result, { recover })) continue;
        if (result.ok) return;
        throw result.error;
      }
    } finally {
      time.end();
    }
  };
}

/** The address of an attempt: relative to the service's location, if the service itself stores the file. */
interface Storage extends Destination {
  readonly place: Place | undefined;
}

function failed(error: ServiceError, outcome?: Outcome, headers: WireAnswer['headers'] = {}): AttemptResult<void> {
  return { ok: false, error, outcome, headers, status: error.status };
}

/** What the storage's answer means. */
async function judge(
  answer: WireAnswer,
  path: string,
  facts: CallFacts,
  url: URL,
  now: number,
): Promise<AttemptResult<void>> {
  const { status, headers } = answer;
  if (status >= 300 && status < 400) {
    answer.close();
    return failed(redirected(answer, facts, url, 'Upload it again: that asks for a new address.'));
  }
  // A successful body is read to its end too, so that the connection can be reused.
  const text = await readErrorBody(answer);
  if (status >= 200 && status < 300) return { ok: true, status, value: undefined };
  return failed(refusal(path, { status, headers, text }, facts, now), { kind: 'answer', status }, headers);
}

function unusableAddress(path: string, what: string): RequestError {
  const message = `The upload address of ${path} ${what}. Nothing was sent.`;
  return new RequestError(message, { code: 'upload_url_invalid', operation });
}

function checkedAddress({ path, url: text }: UploadUrl, allowInsecureHttp: boolean): URL {
  const refuse = (what: string) => unusableAddress(path, what);
  if (!URL.canParse(text)) throw refuse('is no address');
  const url = new URL(text);
  if (url.username || url.password) throw refuse('holds a user name');
  requireTls(url, `the upload address of ${path}`, allowInsecureHttp);
  return url;
}

const tooFarInside = (path: string, { host }: URL, reach: string): RequestError =>
  unusableAddress(path, `leads to ${host} (${reach}), where the service itself is not`);

/**
 * Judges the connections to a storage; undefined if the service itself stores the file, or a proxy looks up the name.
 *
 * @throws RequestError if the address, as it is written, leads further into the user's network than the service is
 */
async function guardOf(
  path: string,
  url: URL,
  { connection }: Sender,
  { proxy }: Agent,
): Promise<ReachGuard | undefined> {
  if (connection.isOwn(url)) return undefined;
  const guard = new ReachGuard(url, connection.base, proxy ? async () => [] : undefined);
  const reach = await guard.written();
  if (reach) throw tooFarInside(path, url, reach);
  return proxy ? undefined : guard;
}

/** The headers that storages sign: of S3, Google Cloud Storage and Azure. A service chooses no others, such as cookies. */
const storageHeader = /^(content|x-amz|x-goog|x-ms)-/;

/** The signed headers, unchanged. The length is that of the bytes really sent. */
function uploadHeaders(given: Readonly<Record<string, string>>, size: number, userAgent: string) {
  const signed = Object.entries(given)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => storageHeader.test(name) && name !== 'content-length');
  return { 'user-agent': userAgent, ...Object.fromEntries(signed), 'content-length': String(size) };
}

function factsOf(url: URL, attempt: number): CallFacts {
  return {
    method: 'PUT',
    // Sending the same file twice is harmless.
    isWrite: false,
    lostAdvice: 'Sending it again is harmless.',
    unreachedAdvice: 'The service named it for uploads: check the network and the proxy settings.',
    mayHaveHappened: false,
    path: url.pathname,
    host: url.host,
    auth: 'shownWithout',
    redact: redactor([url.search.slice(1)]),
    details: { operation, attempts: attempt },
  };
}

/** Takes only the code from a storage's answer: the rest repeats the signature. */
function refusal(
  path: string,
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string },
  facts: CallFacts,
  now: number,
) {
  const code = /<Code>(\w{1,64})<\/Code>/.exec(answer.text)?.[1];
  const details = { ...facts.details, status: answer.status };
  if (answer.status === 403 || (answer.status === 400 && code !== undefined && expiredCode.test(code))) {
    return urlError(
      'upload_url_refused',
      `The upload address of ${path} was refused${code ? ` (${code})` : ''}.`,
      details,
    );
  }
  const message = `Storage refused ${path}${code ? ` (${code})` : ''}`;
  return errorOfAnswer({ ...answer, body: { error: { message: sentence(message) } } }, facts, now);
}

function urlError(code: string, what: string, details: ErrorDetails): UploadUrlError {
  return new UploadUrlError(`${what} Nothing was stored. Upload it again: that asks for a new address.`, {
    ...details,
    code,
  });
}

function bodyOf(source: UploadSource, onChanged: () => void): Uint8Array | (() => Readable) {
  if (source instanceof Uint8Array) return source;
  const { handle, size } = source;
  if (size === 0) return new Uint8Array();
  return () => Readable.from(readFile(handle, size, onChanged), { objectMode: false });
}

/** Reads by position, so that an attempt can be repeated and other readers of the file are not disturbed. */
async function* readFile(handle: FileHandle, size: number, onChanged: () => void): AsyncGenerator<Buffer, void> {
  for (let position = 0; position < size; ) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkSize, size - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, position);
    if (bytesRead === 0) {
      onChanged();
      throw new FileChanged();
    }
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
