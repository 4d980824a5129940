/**
 * The local service's HTTP server: every endpoint in the contract with its authentication, validation and errors. The
 * routes are generated from the contract's declarations; a route without a handler responds with 501.
 */

import { randomUUID } from 'node:crypto';
import { ServerResponse } from 'node:http';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { errorStack, isDamagedDatabase, isDiskFull } from '../../base/errors.ts';
import { isRecord, own } from '../../base/own-property.ts';
import type { Endpoint } from '../../contract/common.ts';
import { endpoints } from '../../contract/endpoints.ts';
import { IdempotencyConflict } from '../store/idempotency.ts';
import { ListQueryError } from '../store/list-page.ts';
import { type AuthEndpoint, Authenticator, inferenceRoute, localRoute } from './authentication.ts';
import { limitBody, parseJson } from './body.ts';
import { ApiError, apiError, conflict, notFound, notStored } from './errors.ts';
import { type Area, type BaseCall, foreignOperations, type Route, type ServiceContext } from './handlers.ts';
import { answerChat } from './inference.ts';
import type { RateLimit } from './rate-limit.ts';
import { readBody } from './requests.ts';
import { playgroundPath } from './routes/deployments.ts';
import * as areas from './routes/index.ts';
import { storagePath } from './signed-uploads.ts';
import { readQuery } from './validate.ts';

interface AppOptions {
  readonly service: ServiceContext;
  readonly rateLimit: RateLimit;
  /** Endpoints that control the process itself. Not part of the contract. */
  readonly control: Control;
}

/** A request for any operation, validated by its schemas. */
type CheckedCall = BaseCall & { readonly query: unknown; readonly body: unknown };
type AnyHandler = (service: ServiceContext, call: CheckedCall) => object | Promise<object>;

/** Data that authentication passes to the handler. */
interface Env {
  Variables: { organizationId: string };
}
type Guard = (endpoint: AuthEndpoint) => MiddlewareHandler<Env>;

export interface Control {
  /** Identifies the service, with its version and settings. */
  readonly health: () => object;
  /** Whether it is stopping: later requests belong to the next service. */
  readonly isStopping: () => boolean;
  /** Stops the service. If a successor is announced, open screens wait for it. */
  readonly stop: (successor: boolean) => void;
  /** Called for requests from authorized callers, which keep the service awake until they are answered. */
  readonly accepted: (answer: ServerResponse) => void;
  /** A request that keeps the service awake until the caller or the service ends it. */
  readonly lease: () => ReadableStream<Uint8Array>;
}

const paramPattern = /\{(\w+)\}/g;
/** Some clients do not encode the slashes in a model's name. */
const honoPath = (path: string): string => path.replace(/\{model\}$/, ':model{.+}').replace(paramPattern, ':$1');

/** After these refusals, the connection is closed: the rest of the body is not read, because it may be endless. */
const unreadStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 413]);

/** Puts paths without parameters first: `/benchmarks/runtimes` is not a benchmark called `runtimes`. */
function byGenerality(left: Route, right: Route): number {
  const count = (path: string): number => path.match(paramPattern)?.length ?? 0;
  return count(left.path) - count(right.path);
}

/** Every operation at its path, and also at the newest generation's path if it has moved. */
const routes: readonly Route[] = [
  ...Object.values<Endpoint>(endpoints)
    .filter(({ operation }) => !foreignOperations.has(operation))
    .flatMap(endpoint => [endpoint, ...(endpoint.newest ? [{ ...endpoint, path: endpoint.newest.path }] : [])]),
].sort(byGenerality);

export function createApp({ service, rateLimit, control }: AppOptions): Hono<Env> {
  const authenticator = new Authenticator(service, rateLimit);
  const guard: Guard = endpoint => async (context, next) => {
    context.set('organizationId', authenticator.authenticate(context, endpoint));
    accept(context, control);
    await next();
  };
  const app = new Hono<Env>();
  app.onError((error, context) => {
    // The caller has disconnected: an aborted request is not a failure, and nobody will read a response.
    if (context.req.raw.signal.aborted) return context.body(null);
    return answerError(context, toApiError(error));
  });
  app.notFound(context => {
    const message = `There is no ${context.req.path}.`;
    return answerError(context, new ApiError(404, 'invalid_request_error', 'unknown_route', message));
  });
  app.use(
    admit(control),
    methodNotAllowed({
      app,
      onMethodNotAllowed: (context, methods) => {
        const allowed = methods.join(', ');
        const message = `${context.req.path} takes ${allowed}.`;
        const details = { headers: { Allow: allowed } };
        const error = new ApiError(405, 'invalid_request_error', 'method_not_allowed', message, details);
        return answerError(context, error);
      },
    }),
  );
  addContract(app, service, guard);
  // The storage behind signed addresses.
  app.all(storagePath, context =>
    service.signedUploads.receive(
      context,
      benchId => service.benchmarks.exists(benchId),
      () => accept(context, control),
    ),
  );
  addLocal(app, service, control, guard);
  return app;
}

/** Keeps the service awake until this authorized request is answered. */
function accept({ env }: Context, control: Control): void {
  // Set by hono's adapter for Node's server.
  const outgoing = isRecord(env) ? env['outgoing'] : undefined;
  if (outgoing instanceof ServerResponse) control.accepted(outgoing);
}

/** Numbers each request, and refuses it if it comes from a web page or the service is stopping. */
function admit(control: Control): MiddlewareHandler {
  return async (context, next) => {
    // Hono's `requestId` would repeat an id sent by the caller.
    context.header('X-Request-ID', `req_${randomUUID()}`);
    // A web page must not reach the service through a name that resolves to this machine (DNS rebinding).
    const host = (context.req.header('host') ?? '').replace(/:\d+$/, '');
    if (!['127.0.0.1', 'localhost', '[::1]'].includes(host) || context.req.header('origin')) {
      throw apiError('permission_denied', 'The local service answers programs on this machine only, not web pages.');
    }
    if (control.isStopping()) throw apiError('service_unavailable', 'The local service is stopping. Try again.');
    await next();
  };
}

function answerError(context: Context, error: ApiError): Response {
  const { status, details } = error;
  for (const [name, value] of Object.entries(details.headers ?? {})) context.header(name, value);
  if (status === 429 || status === 503) context.header('Service-Should-Retry', 'true');
  else if (status >= 500) context.header('Service-Should-Retry', 'false');
  const { req } = context;
  const hasBody = req.header('transfer-encoding') !== undefined || Number(req.header('content-length') ?? 0) > 0;
  if (unreadStatuses.has(status) && hasBody) context.header('Connection', 'close');
  const body = /^\/(v1|playground)\//.test(req.path) ? error.inferenceEnvelope() : error.envelope();
  return context.json(body, status as ContentfulStatusCode);
}

/** Adds every operation in the contract, and chat at individual models' addresses. */
function addContract(app: Hono<Env>, service: ServiceContext, guard: Guard): void {
  const all = Object.values<Area>(areas);
  for (const { name, migrations = [] } of all) service.database.migrateArea(name, migrations);
  const handlers: Readonly<Record<string, AnyHandler>> = Object.assign({}, ...all.map(area => area.routes));
  const chat = (context: Context<Env>) =>
    answerChat(context, service, context.get('organizationId'), context.req.param('model'));

  // A model at an address of its own, which deployment records and later generations use.
  for (const path of [playgroundPath, '/v1/playground/:model{.+}/chat/completions']) {
    app.post(path, guard(inferenceRoute), limitBody, chat);
  }
  for (const route of routes) {
    const { operation, method, path } = route;
    const answer = async (context: Context<Env>): Promise<Response> => {
      const handler = own(handlers, operation);
      if (!handler) {
        throw new ApiError(501, 'api_error', 'not_implemented', `The local service does not have ${method} ${path}.`);
      }
      const answered = await handler(service, await readCall(context, route));
      return answered instanceof ReadableStream
        ? context.body(answered, 200, { 'Content-Type': 'application/json' })
        : context.json(answered);
    };
    app.on(method, honoPath(path), guard(route), limitBody, operation === 'createChatCompletion' ? chat : answer);
  }
}

/** @throws ApiError if the query or the body violates the operation's schema */
async function readCall({ req, get }: Context<Env>, { operation, method, query }: Route): Promise<CheckedCall> {
  const { body, ignored } = readBody(operation, method === 'GET' ? undefined : parseJson(await req.text()));
  return {
    organizationId: get('organizationId'),
    params: req.param(),
    query: readQuery(query, req.query()),
    body,
    ignored,
    // An empty key is none: otherwise, two starts without a key would be one.
    idempotencyKey: req.header('idempotency-key') || undefined,
    header: name => req.header(name),
    origin: new URL(req.url).origin,
  };
}

/** Endpoints that only this service has; most control its process. */
function addLocal(app: Hono<Env>, service: ServiceContext, control: Control, guard: Guard): void {
  const guarded = guard(localRoute);
  app.get('/local/health', guarded, context => context.json(control.health()));
  app.get('/local/lease', guarded, context =>
    context.body(control.lease(), 200, { 'Content-Type': 'text/event-stream' }),
  );
  app.post('/local/stop', guarded, context => {
    const successor = context.req.query('successor') !== undefined;
    setTimeout(() => control.stop(successor), 10);
    return context.json({ stopping: true });
  });
  // The document does not show how to get a trajectory token.
  app.post('/local/trajectories/:trajectory_id/token', guarded, context => {
    const organizationId = context.get('organizationId');
    const trajectoryId = context.req.param('trajectory_id');
    if (!service.trajectories.row(organizationId, trajectoryId)) throw notFound('trajectory', trajectoryId);
    return context.json(service.tokens.create({ organizationId, trajectoryId }));
  });
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof ListQueryError) return apiError('validation_error', error.message, { param: error.param });
  if (error instanceof IdempotencyConflict) {
    return conflict('idempotency_key_reused', error.message, { param: 'Idempotency-Key' });
  }
  if (isDiskFull(error)) {
    return notStored(
      'service_unavailable',
      'The disk of this machine is full. Nothing was stored; free some space and try again.',
    );
  }
  process.stderr.write(`${errorStack(error)}\n`);
  if (isDamagedDatabase(error)) {
    const advice = 'Stop it with `benchtop serve --stop`; `benchtop serve` then names the file and gives advice.';
    return apiError('internal_error', `The database of the local service is damaged. ${advice}`);
  }
  return apiError('internal_error', 'The local service failed. Its log says why.');
}
