/**
 * The HTTP server of the local service: every endpoint of the contract with its authentication, validation and errors.
 * The routes are generated from the contract's declarations, so none can be forgotten: one without a handler answers
 * 501.
 */

import { randomUUID } from 'node:crypto';
import { ServerResponse } from 'node:http';
import { type Context, Hono } from 'hono';
import type { Endpoint } from '../../contract/common.ts';
import { endpoints } from '../../contract/endpoints.ts';
import { errorStack, isDamagedDatabase, isDiskFull } from '../../text/errors.ts';
import { isRecord, own } from '../../text/own.ts';
import { IdempotencyConflict } from '../store/idempotency.ts';
import { ListQueryError } from '../store/list-page.ts';
import { type Authenticate, Authenticator, inferenceRoute, localRoute } from './authentication.ts';
import { parseJson, readBytes, readText } from './body.ts';
import { ApiError, apiError, notFound, notStored } from './errors.ts';
import { type Area, type BaseCall, foreignOperations, type Route, type ServiceContext } from './handlers.ts';
import { answerChat } from './inference.ts';
import type { RateLimit } from './rate-limit.ts';
import { readBody } from './requests.ts';
import { playgroundPath } from './routes/deployments.ts';
import * as areas from './routes/index.ts';
import { storagePath } from './signed-uploads.ts';
import { readQuery } from './validate.ts';

export interface AppOptions {
  readonly service: ServiceContext;
  readonly rateLimit: RateLimit;
  /** Endpoints that control the process itself. Not part of the contract. */
  readonly control: Control;
}

/** The handler of any operation; `readQuery` and `readBody` check the request by the schemas of that operation. */
type AnyHandler = (call: BaseCall & { readonly query: unknown; readonly body: unknown }) => object | Promise<object>;

export interface Control {
  /** Identifies the service, with its version and settings. */
  readonly health: () => object;
  /** Whether it is stopping: later requests belong to the next service. */
  readonly isStopping: () => boolean;
  /** Stops the service. If a successor is announced, open screens wait for it. */
  readonly stop: (successor: boolean) => void;
  /** A request has been found to come from somebody who may call: it keeps the service awake until it is answered. */
  readonly accepted: (answer: ServerResponse) => void;
  /** A request that lasts until the caller or the service ends, and keeps the service awake. */
  readonly lease: () => ReadableStream<Uint8Array>;
}

const paramPattern = /\{(\w+)\}/g;
/** Not every client encodes the slashes in a model's name. */
const honoPath = (path: string): string => path.replace(/\{model\}$/, ':model{.+}').replace(paramPattern, ':$1');

/** Refusals that end the connection instead of reading the rest of the body, which may never end. */
const unreadStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 413]);

function hasBody({ req }: Context): boolean {
  return req.header('transfer-encoding') !== undefined || Number(req.header('content-length') ?? 0) > 0;
}

function isInference(path: string): boolean {
  return path.startsWith('/v1/') || path.startsWith('/playground/');
}

/** Paths without parameters first: `/benchmarks/runtimes` is not a benchmark of that name. */
function byGenerality(left: Route, right: Route): number {
  const count = (path: string): number => path.match(paramPattern)?.length ?? 0;
  return count(left.path) - count(right.path);
}

/** Every operation at its path, and at the newest generation's path if it has moved. */
const routes: readonly Route[] = [
  ...Object.values<Endpoint>(endpoints)
    .filter(({ operation }) => !foreignOperations.has(operation))
    .flatMap(endpoint => [endpoint, ...(endpoint.newest ? [{ ...endpoint, path: endpoint.newest.path }] : [])]),
].sort(byGenerality);

export function createApp({ service, rateLimit, control }: AppOptions): Hono {
  const { authenticate: organizationOf } = new Authenticator(service, rateLimit);
  /** @param env what the adapter to Node's server adds to a request */
  const accept = (env: unknown): void => {
    const outgoing = isRecord(env) ? env['outgoing'] : undefined;
    if (outgoing instanceof ServerResponse) control.accepted(outgoing);
  };
  const authenticate: Authenticate = (context, endpoint) => {
    const organizationId = organizationOf(context, endpoint);
    accept(context.env);
    return organizationId;
  };
  const app = new Hono();

  app.use(async (context, next) => {
    context.header('X-Request-ID', `req_${randomUUID()}`);
    // A web page must not reach the service by a name that resolves to this machine (DNS rebinding).
    const host = (context.req.header('host') ?? '').replace(/:\d+$/, '');
    if (!['127.0.0.1', 'localhost', '[::1]'].includes(host) || context.req.header('origin')) {
      throw apiError('permission_denied', 'The local service answers programs on this machine only, not web pages.');
    }
    if (control.isStopping()) throw apiError('service_unavailable', 'The local service is stopping. Try again.');
    await next();
  });

  app.onError((error, context) => {
    // The caller has left: its aborted request is not a failure, and no answer will be read.
    if (context.req.raw.signal.aborted) return context.body(null);
    const failure = describe(error);
    for (const [name, value] of Object.entries(failure.details.headers ?? {})) context.header(name, value);
    if (failure.status === 429 || failure.status === 503) context.header('Service-Should-Retry', 'true');
    else if (failure.status >= 500) context.header('Service-Should-Retry', 'false');
    if (unreadStatuses.has(failure.status) && hasBody(context)) context.header('Connection', 'close');
    const body = isInference(context.req.path) ? failure.inferenceEnvelope() : failure.envelope();
    return context.json(body, failure.status as 400);
  });

  addContract(app, service, authenticate);
  // Storage at signed addresses.
  app.all(storagePath, context =>
    service.signedUploads.receive(
      context,
      benchId => service.benchmarks.exists(benchId),
      () => accept(context.env),
    ),
  );
  addLocal(app, service, control, authenticate);

  app.notFound(context => {
    const allowed = allowedMethods(app, context.req.path);
    if (allowed.length > 0) {
      throw new ApiError(
        405,
        'invalid_request_error',
        'method_not_allowed',
        `${context.req.path} takes ${allowed.join(', ')}.`,
        {
          headers: { Allow: allowed.join(', ') },
        },
      );
    }
    throw new ApiError(404, 'invalid_request_error', 'unknown_route', `There is no ${context.req.path}.`);
  });
  return app;
}

/** Every operation of the contract, by the handlers of its areas; and chat at the addresses of single models. */
function addContract(app: Hono, service: ServiceContext, authenticate: Authenticate): void {
  const handlers: Readonly<Record<string, AnyHandler>> = Object.assign(
    {},
    ...Object.values<Area>(areas).map(({ name, routes, migrations = [] }) => {
      service.database.migrateArea(name, migrations);
      return routes(service);
    }),
  );
  // A model by its own address, as used by deployment records and later generations.
  for (const path of [playgroundPath, '/v1/playground/:model{.+}/chat/completions']) {
    app.post(path, async context => {
      const organizationId = authenticate(context, inferenceRoute);
      return answerChat(context, service, organizationId, await readBytes(context), context.req.param('model'));
    });
  }

  for (const route of routes) {
    const { operation, method, path } = route;
    app.on(method, honoPath(path), async context => {
      const organizationId = authenticate(context, route);
      if (operation === 'createChatCompletion') {
        return answerChat(context, service, organizationId, await readBytes(context));
      }
      const handler = own(handlers, operation);
      if (!handler) {
        throw new ApiError(501, 'api_error', 'not_implemented', `The local service does not have ${method} ${path}.`);
      }
      const { body, ignored } = readBody(operation, method === 'GET' ? undefined : parseJson(await readText(context)));
      const answer = await handler({
        organizationId,
        params: context.req.param(),
        query: readQuery(route.query, context.req.query()),
        body,
        ignored,
        idempotencyKey: context.req.header('idempotency-key'),
        header: name => context.req.header(name),
        origin: new URL(context.req.url).origin,
      });
      return context.json(answer);
    });
  }
}

/** The endpoints of this service only, most of which control its process. */
function addLocal(app: Hono, service: ServiceContext, control: Control, authenticate: Authenticate): void {
  app.get('/local/health', context => {
    authenticate(context, localRoute);
    return context.json(control.health());
  });
  app.get('/local/lease', context => {
    authenticate(context, localRoute);
    return context.body(control.lease(), 200, { 'Content-Type': 'text/event-stream' });
  });
  app.post('/local/stop', context => {
    authenticate(context, localRoute);
    const successor = context.req.query('successor') !== undefined;
    setTimeout(() => control.stop(successor), 10);
    return context.json({ stopping: true });
  });
  // The document does not show how to get a trajectory token.
  app.post('/local/trajectories/:trajectory_id/token', context => {
    const organizationId = authenticate(context, localRoute);
    const trajectoryId = context.req.param('trajectory_id');
    if (!service.trajectories.row(organizationId, trajectoryId)) throw notFound('trajectory', trajectoryId);
    return context.json(service.tokens.create({ organizationId, trajectoryId }));
  });
}

/** Methods that a path supports. */
function allowedMethods(app: Hono, path: string): string[] {
  const methods = app.routes
    .filter(({ method }) => method !== 'ALL')
    .filter(route => new RegExp(`^${route.path.replace(/:\w+\{\.\+\}/g, '.+').replace(/:\w+/g, '[^/]+')}$`).test(path))
    .map(({ method }) => method);
  return [...new Set(methods)];
}

function describe(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof ListQueryError) return apiError('validation_error', error.message, { param: error.param });
  if (error instanceof IdempotencyConflict) {
    return new ApiError(409, 'conflict_error', 'idempotency_key_reused', error.message, { param: 'Idempotency-Key' });
  }
  if (isDiskFull(error)) {
    return notStored(
      'service_unavailable',
      'The disk of this machine is full. Nothing was stored; free some space and try again.',
    );
  }
  process.stderr.write(`${errorStack(error)}\n`);
  if (isDamagedDatabase(error)) {
    const advice = 'Stop it with `benchtop serve --stop`; `benchtop serve` then says which file it is and what to do.';
    return apiError('internal_error', `The database of the local service is damaged. ${advice}`);
  }
  return apiError('internal_error', 'The local service failed. Its log says why.');
}
