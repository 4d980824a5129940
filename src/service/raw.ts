/** Requests that the contract does not describe: any path of the service, with the credentials and the care of every other call. */
import * as z from 'zod/mini';
import { endpoint, type Method } from '../contract/common.ts';
import { tooLarge } from './answer-error.ts';
import type { Sender } from './call-plan.ts';
import { BodyTooLarge, readBody, WireFailure } from './http.ts';
import { type CallOptions, defaultMaxBytes } from './options.ts';

export interface RawRequest {
  readonly method: Method;
  /** Path below the address of the service, with its query. Begins with a slash. */
  readonly path: string;
  /** JSON, sent as it is. */
  readonly body?: Uint8Array | undefined;
}

/** Sends the request and gives the text of the answer. @throws ServiceError */
export type SendRaw = (request: RawRequest, options?: CallOptions) => Promise<string>;

export function rawSender(sender: Sender): SendRaw {
  return async ({ method, path, body }, options = {}) => {
    const [pathname = ''] = path.split('?');
    // Braces would be placeholders.
    const pattern = pathname.replaceAll('{', '%7B').replaceAll('}', '%7D');
    const raw = endpoint({ operation: 'raw', method, path: pattern, auth: 'apiKey', response: z.unknown() });
    const open = await sender.open(raw, {}, { ...options, at: path, payload: body });
    const maxBytes = options.maxBytes ?? defaultMaxBytes;
    try {
      return await readBody(open.answer, maxBytes);
    } catch (error) {
      if (error instanceof BodyTooLarge) throw tooLarge(open.answer, open.facts, maxBytes);
      throw error instanceof WireFailure ? open.failed(error, open.facts) : error;
    } finally {
      open.end();
    }
  };
}
