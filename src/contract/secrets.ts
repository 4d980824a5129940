/** Organization secrets: write-only values, readable metadata. */
import * as z from 'zod/mini';
import { defineEndpoints, flag, listQuery, number, page, text } from './common.ts';

export const secret = z.looseObject({
  secret_id: z.string(),
  name: text,
  byte_length: number,
  description: text,
  created_at: text,
  updated_at: text,
});
export type Secret = z.output<typeof secret>;

export const createSecretBody = z.strictObject({
  name: z.string().check(z.minLength(1)),
  value: z.string().check(z.minLength(1)),
  description: z.optional(z.string()),
});
export type CreateSecretBody = z.input<typeof createSecretBody>;

export const secretEndpoints = defineEndpoints({
  createSecret: {
    method: 'POST',
    path: '/api/v1/secrets',
    isIdempotent: true,
    body: createSecretBody,
    sensitive: ['value'],
    response: z.looseObject({ secret }),
  },
  listSecrets: {
    method: 'GET',
    path: '/api/v1/secrets',
    query: listQuery,
    response: page(secret),
    capability: true,
  },
  deleteSecret: {
    method: 'DELETE',
    path: '/api/v1/secrets/{secret_id}',
    response: z.looseObject({ secret_id: text, deleted: flag }),
    capability: true,
  },
});
