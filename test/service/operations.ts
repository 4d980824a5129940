/** Which operation of the contract a request is. */
import type { Endpoint } from '../../src/contract/common.ts';
import { endpoints, type Operation } from '../../src/contract/endpoints.ts';

const patterns = (Object.entries(endpoints) as [Operation, Endpoint][])
  .map(([operation, { method, path }]) => ({
    operation,
    method,
    // Paths with a word where others have an id come first.
    ids: path.split('{').length,
    pattern: new RegExp(`${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))
  .sort((left, right) => left.ids - right.ids);

/** The operation of a request; undefined if the contract has none. */
export function operationOf({ method, url }: { readonly method: string; readonly url: string }): Operation | undefined {
  const path = url.split('?')[0] ?? '';
  return patterns.find(each => each.method === method && each.pattern.test(path))?.operation;
}
