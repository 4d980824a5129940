/** Request bodies, read only up to their limit whatever their headers say. */
import type { Context } from 'hono';
import { ApiError } from './errors.ts';

/** Larger bodies are refused, in bytes. */
const largestBody = 32 * 1024 * 1024;

function tooLarge(found: string): ApiError {
  const message = `A body may have ${largestBody} bytes; this one has ${found}.`;
  return new ApiError(413, 'invalid_request_error', 'request_too_large', message);
}

/** @throws ApiError `request_too_large` */
export async function readText(context: Context): Promise<string> {
  const declared = Number(context.req.header('content-length') ?? 0);
  if (declared > largestBody) throw tooLarge(String(declared));
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of context.req.raw.body ?? []) {
    length += part.byteLength;
    if (length > largestBody) throw tooLarge('more');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Parses JSON; undefined for an empty text. @throws ApiError `validation_error` if it is not JSON */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiError(400, 'invalid_request_error', 'validation_error', 'The body is not JSON.');
  }
}
