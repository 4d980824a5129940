/** The service's two error envelopes, and the types and codes that the document names. */
import * as z from 'zod/mini';
import { decides, decidingNumber, freeForm, openEnum, text } from './common.ts';

export const errorTypes = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'conflict_error',
  'rate_limit_error',
  'dependency_error',
  'api_error',
] as const;
export type ErrorType = (typeof errorTypes)[number];

/** The document's codes, each with its type. */
export const errorCodes = {
  authentication_required: 'authentication_error',
  permission_denied: 'permission_error',
  validation_error: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  internal_error: 'api_error',
  service_unavailable: 'api_error',
  invalid_trajectory_upload: 'invalid_request_error',
  trajectory_upload_conflict: 'conflict_error',
  trajectory_upload_failed: 'api_error',
  resource_not_found: 'invalid_request_error',
  trajectory_already_terminal: 'conflict_error',
} as const satisfies Record<string, ErrorType>;

/** The error for one item in a batch. */
export const failure = z.looseObject(
  { code: text, message: text, item_index: decidingNumber, context: freeForm },
  decides,
);
export type Failure = z.output<typeof failure>;

/** The error body from `/api/v1` endpoints. */
export const errorEnvelope = z.looseObject({
  error: z.looseObject({
    type: openEnum(errorTypes),
    code: text,
    message: text,
    param: text,
    doc_url: text,
    context: freeForm,
  }),
});

/** The error body from inference. Some servers send a number as the code, and null for unknown fields. */
export const inferenceErrorEnvelope = z.looseObject({
  error: z.looseObject({
    message: text,
    type: text,
    param: text,
    code: z.nullish(z.union([z.string(), z.number()])),
  }),
});
