/**
 * Which endpoints beyond the document this service turned out to lack. Learnt from its answers, remembered for the
 * session: what is missing is not asked for again.
 */
import type { Endpoint } from '../contract/common.ts';
import type { Operation } from '../contract/endpoints.ts';
import type { Envelope } from './answer-error.ts';
import { CapabilityMissingError, type ErrorDetails } from './errors.ts';

export interface RefusedAnswer {
  /** Path of the endpoint, with its placeholders. */
  readonly path: string;
  /** The path, the query or the body named something that may not exist. */
  readonly namesThing: boolean;
  readonly status: number;
  readonly envelope: Envelope | undefined;
  readonly text: string;
}

const routeCode =
  /^((unknown|no_such|invalid)_(route|url|path|endpoint)|(route|url|path|endpoint|page)_not_found|not_implemented|method_not_allowed)$/;
/** Bodies that the usual servers and gateways give for a path they do not route. */
const routeText =
  /^\s*(<|(404 )?(page )?not found\.?\s*$|cannot (get|post|put|delete) \/|no (such )?route|(unknown|unhandled) route|route not found|invalid url)/i;

/**
 * Whether the answer says that the endpoint does not exist, rather than the thing that was asked for: 404, 405 or 501
 * where the path names no thing, or with a body for an unknown route. A 405 or 501 is never about a thing.
 */
export function isMissingRoute({ path, namesThing, status, envelope, text }: RefusedAnswer): boolean {
  if (status === 405 || status === 501) return true;
  if (status !== 404) return false;
  if (envelope?.code === 'resource_not_found') return !namesThing;
  if (!path.includes('{')) return true;
  if (envelope) return routeCode.test(envelope.code ?? '') || routeText.test(envelope.message ?? '');
  return routeText.test(detailOf(text) ?? text);
}

/** FastAPI and others: `{"detail": "Not Found"}`. */
function detailOf(text: string): string | undefined {
  return /^\s*\{\s*"(?:detail|message|error)"\s*:\s*"([^"]*)"/.exec(text)?.[1];
}

export class Capabilities {
  readonly #missing = new Set<Operation>();

  /** False once the service has shown that it does not offer this endpoint. */
  has(operation: Operation): boolean {
    return !this.#missing.has(operation);
  }

  /** Every endpoint that is known to be missing. */
  missing(): Operation[] {
    return [...this.#missing].sort();
  }

  /** Asks anew for everything, e.g. after the service has been upgraded. */
  forget(): void {
    this.#missing.clear();
  }

  /** @throws CapabilityMissingError where the endpoint is known to be missing: nothing is sent then */
  require(endpoint: Endpoint): void {
    if (endpoint.capability && !this.has(endpoint.operation as Operation)) {
      throw new CapabilityMissingError(endpoint.operation);
    }
  }

  /** Learns from a refusal. Gives the error where it means that the endpoint is missing. */
  learn(endpoint: Endpoint, answer: RefusedAnswer, details: ErrorDetails): CapabilityMissingError | undefined {
    if (!endpoint.capability || !isMissingRoute(answer)) return undefined;
    this.#missing.add(endpoint.operation as Operation);
    return new CapabilityMissingError(endpoint.operation, { ...details, status: answer.status });
  }
}
