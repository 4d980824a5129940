/** Requests checked by the contract's schemas; a fault names the field. */

import * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';
import { apiError } from './errors.ts';

/** zod/mini ships without words of its own. */
z.config(english());

function faultOf(error: z.core.$ZodError): Error {
  const [issue] = error.issues;
  const param = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path.join('.');
  const where = param ? `${param}: ` : '';
  return apiError('validation_error', `${where}${issue?.message ?? 'This request cannot be understood.'}`, {
    param,
    context: { issues: error.issues.map(each => ({ path: each.path.join('.'), message: each.message })) },
  });
}

/** @throws ApiError `validation_error` naming the first field that is wrong */
export function check<Schema extends z.ZodMiniType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value);
  if (!read.success) throw faultOf(read.error);
  return read.data;
}

const numbers = new Set(['limit']);
const switches = new Set(['include_steps']);

/** Query parameters as the schemas expect them: numbers and switches are not text. */
export function queryValues(query: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      if (numbers.has(name) && /^-?\d+(\.\d+)?$/.test(value)) return [name, Number(value)];
      if (switches.has(name) && (value === 'true' || value === 'false')) return [name, value === 'true'];
      return [name, value];
    }),
  );
}
