/** Request bodies: size limit, compression, and JSON. */

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { bodyLimit } from 'hono/body-limit';
import { parseExactly } from '../../base/exact-json.ts';
import { deepestRequest, isNestedDeeper } from '../../base/json-depth.ts';
import { bytes as amount } from '../../text/numbers.ts';
import { ApiError, apiError } from './errors.ts';

/** In bytes; larger bodies are refused. */
const largestBody = 32 * 1024 * 1024;

/** Refuses larger bodies, whether they declare their length or not. */
export const limitBody = bodyLimit({
  maxSize: largestBody,
  onError: context => {
    const declared = context.req.header('content-length');
    const size = declared === undefined ? 'more' : amount(Number(declared));
    const message = `A request may have up to ${amount(largestBody)}; this one has ${size}.`;
    throw new ApiError(413, 'invalid_request_error', 'request_too_large', message, {
      context: { max_bytes: largestBody },
    });
  },
});

/**
 * A body's text. The body may be compressed and begin with a byte order mark.
 *
 * @throws ApiError `validation_error` if it cannot be decompressed, or exceeds the size limit once decompressed
 */
export async function decodedText(bytes: Buffer, encoding = 'identity'): Promise<string> {
  const isCompressed = encoding.toLowerCase() === 'gzip';
  const plain = isCompressed ? await decompress(bytes) : bytes;
  return plain.toString('utf8').replace(/^\uFEFF/, '');
}

async function decompress(bytes: Buffer): Promise<Buffer> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: largestBody });
  } catch {
    const message = `The body is not gzip, or larger than ${amount(largestBody)} once decompressed.`;
    throw new ApiError(400, 'invalid_request_error', 'validation_error', message);
  }
}

/** Parses JSON; undefined for an empty string. Large integers become raw JSON. @throws ApiError `validation_error` if it is not JSON, or too deep */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch {
    throw new ApiError(400, 'invalid_request_error', 'validation_error', 'The body is not JSON.');
  }
  if (isNestedDeeper(value, deepestRequest)) throw tooDeep(value);
  return value;
}

/** An error naming the field, and the item in it, that is nested too deeply. */
function tooDeep(body: unknown): ApiError {
  const deepIn = (value: unknown, levels: number): [string, unknown] =>
    Object.entries(value ?? {}).find(([, each]) => isNestedDeeper(each, levels)) ?? ['', undefined];
  const [field, value] = deepIn(body, deepestRequest - 1);
  const place = Array.isArray(value) ? `${field}[${deepIn(value, deepestRequest - 2)[0]}]` : field;
  return apiError(
    'validation_error',
    `${place}: is nested too deeply; a request may have at most ${deepestRequest} levels.`,
    {
      param: place,
      context: { max_levels: deepestRequest },
    },
  );
}
