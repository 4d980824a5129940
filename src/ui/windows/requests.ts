/** A preview's requests, as lines. */

import { clean, safeJson, sanitiseLine } from '../../text/sanitise.ts';
import { wrap } from '../../text/wrap.ts';
import type { RequestPreview, Requests } from '../data/use-action.ts';

/** Method and path, without the body. */
export function requestLine({ method, path }: RequestPreview): string {
  return clean`${method} ${path}`;
}

/** Each request with its body, wrapped; or the error that prevents the preview. Empty if there is no preview. */
export function requestLines(requests: Requests | undefined, width: number): string[] {
  switch (requests?.kind) {
    case undefined:
      return [];
    case 'connecting':
      return ['Connecting…'];
    case 'failed':
      return wrap(sanitiseLine(requests.error.message), width);
    case 'known':
      return requests.requests.flatMap(request => [
        ...wrap(requestLine(request), width),
        ...(request.body ? wrap(safeJson(request.body, 2), width) : []),
      ]);
  }
}
