/** Authentication: which organization an API key or trajectory token belongs to, and the rate limit. */
import type { Context } from 'hono';
import type { Endpoint } from '../../contract/common.ts';
import { organizationOfKey } from '../store/organizations.ts';
import { apiError } from './errors.ts';
import type { ServiceContext } from './handlers.ts';
import { type RateLimit, RateLimiter } from './rate-limit.ts';
import { isTrajectoryToken } from './trajectory-tokens.ts';

/** The properties of an endpoint that authentication needs. */
export type AuthEndpoint = Pick<Endpoint, 'auth' | 'path'>;

/** Endpoints that the contract does not list: chat with a single model, and control of the process. */
export const inferenceRoute: AuthEndpoint = { auth: 'inferenceToken', path: '/v1/' };
export const localRoute: AuthEndpoint = { auth: 'apiKey', path: '/local/' };

/** A call's credential: an organization's key, or a token for one trajectory. */
function credentialOf(context: Context, { auth }: AuthEndpoint): string | undefined {
  const bearer = /^Bearer (.+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
  const key = context.req.header('x-api-key');
  return auth === 'apiKey' ? key : (bearer ?? key);
}

export class Authenticator {
  readonly #service: Pick<ServiceContext, 'database' | 'tokens'>;
  readonly #limit: RateLimit;
  readonly #known: RateLimiter;
  /**
   * All unknown keys share one bucket, which limits guessing. It is separate from the valid keys' buckets, so that
   * unknown keys cannot evict those.
   */
  readonly #unknown: RateLimiter;

  constructor(service: Pick<ServiceContext, 'database' | 'tokens'>, limit: RateLimit) {
    this.#service = service;
    this.#limit = limit;
    this.#known = new RateLimiter(limit);
    this.#unknown = new RateLimiter(limit);
  }

  /** Returns the calling organization. @throws ApiError if the key is refused or the rate limit is exceeded */
  authenticate(context: Context, endpoint: AuthEndpoint): string {
    const credential = credentialOf(context, endpoint);
    if (!credential) throw apiError('authentication_required', "This call needs an organization's API key.");
    if (endpoint.auth === 'trajectoryToken' && isTrajectoryToken(credential)) {
      const organizationId = this.#organizationOfToken(context, credential);
      this.#requireRoom(this.#known, organizationId);
      return organizationId;
    }
    const organizationId = organizationOfKey(this.#service.database, credential);
    if (!organizationId) {
      this.#requireRoom(this.#unknown, 'keys');
      throw apiError('authentication_required', 'This API key is unknown.');
    }
    if (endpoint.path !== localRoute.path) this.#requireRoom(this.#known, organizationId);
    return organizationId;
  }

  #organizationOfToken(context: Context, token: string): string {
    const scope = this.#service.tokens.read(token);
    if (!scope) {
      this.#requireRoom(this.#unknown, 'tokens');
      throw apiError('authentication_required', 'The token is unknown or has expired.');
    }
    if (scope.trajectoryId !== context.req.param('trajectory_id')) {
      throw apiError('permission_denied', 'The token is for another trajectory.');
    }
    return scope.organizationId;
  }

  /** @throws ApiError if `key` has exceeded its rate limit */
  #requireRoom(buckets: RateLimiter, key: string): void {
    const wait = buckets.take(key);
    if (wait === 0) return;
    throw apiError('rate_limited', `Too many requests: the limit of a key is ${this.#limit.perSecond} per second.`, {
      headers: { 'Retry-After': String(wait) },
    });
  }
}
