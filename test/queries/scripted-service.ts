/**
 * A service that answers from memory as a test scripts it, and counts requests. Operations without an answer behave
 * like missing endpoints.
 */
import type { Endpoint } from '../../src/contract/common.ts';
import { endpoints, type Operation } from '../../src/contract/endpoints.ts';
import type { Call, UntypedCall } from '../../src/service/call.ts';
import { Capabilities } from '../../src/service/capabilities.ts';
import { NotFoundError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import { fakeService } from '../service/fake-service.ts';

/** The answer of an operation; `ids` are those of the path, `query` is that of the request. */
export type Answer = (ids: Readonly<Record<string, string>>, query?: Readonly<Record<string, unknown>>) => unknown;
export type Answers = { [Name in Operation]?: Answer };

export interface ScriptedService {
  readonly service: Service;
  /** How often an operation was requested, for this id if given. */
  readonly asked: (operation: Operation, id?: string) => number;
  /** Every request so far: the operation, then the ids of its path. */
  readonly requests: readonly string[];
}

/** The answer of a service for a missing resource. */
export function notFound(id: string): never {
  throw new NotFoundError(`There is no ${id}.`, { type: 'not_found_error', code: 'resource_not_found', status: 404 });
}

export function pageOf(items: readonly unknown[]) {
  return { items, has_more: false, next_cursor: null, dropped: 0 };
}

/** `answers` may be changed while the service is used. */
export function scriptedService(answers: Answers): ScriptedService {
  const requests: string[] = [];
  const capabilities = new Capabilities();
  const call: UntypedCall = async (operation, { params = {}, query } = {}) => {
    const endpoint = endpoints[operation] as Endpoint;
    capabilities.require(endpoint);
    const ids = Object.fromEntries(Object.entries(params).map(([name, id]) => [name, String(id)]));
    requests.push([operation, ...Object.values(ids)].join(' '));
    // An answer never arrives synchronously.
    await new Promise(resolve => setImmediate(resolve));
    const answer = answers[operation];
    if (answer) return answer(ids, query as Readonly<Record<string, unknown>>);
    const refused = { path: endpoint.path, namesResource: false, status: 405, envelope: undefined, text: '' };
    throw capabilities.learn(endpoint, refused, {}) ?? new Error(`${operation} has no answer`);
  };
  const service = fakeService(
    {},
    {
      baseUrl: 'http://scripted.test',
      call: call as Call,
      capabilities,
      close: async () => {},
    },
  );
  const asked = (operation: Operation, id?: string): number =>
    requests.filter(request =>
      id === undefined ? request.split(' ')[0] === operation : request === `${operation} ${id}`,
    ).length;
  return { service, asked, requests };
}
