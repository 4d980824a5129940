/** Validates requests against schemas; errors name the field. */
import * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';
import { pathOf } from '../../contract/issues.ts';
import { type ApiError, apiError } from './errors.ts';

/** zod/mini ships without messages. */
z.config(english());

/** One error in a request, and its path. */
export interface Issue {
  /** In the form `tasks[3].name`. */
  readonly path: string;
  readonly message: string;
}

/** An error that names the first issue, and lists them all. */
export function invalid(issues: readonly Issue[]): ApiError {
  const [issue = { path: '', message: 'This request cannot be understood.' }, ...more] = issues;
  const where = issue.path === '' ? '' : `${issue.path}: `;
  const others = more.length === 0 ? '' : ` (and ${more.length} more, see context)`;
  return apiError('validation_error', `${where}${issue.message}${others}`, {
    param: issue.path || undefined,
    context: { issues },
  });
}

function issuesOf(error: z.core.$ZodError): Issue[] {
  return error.issues.map(issue => {
    const stray = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    return { path: pathOf([...issue.path, ...stray]), message: issue.message };
  });
}

/** @throws ApiError `validation_error` naming the first invalid field, unless `toError` makes another error */
export function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  toError: (issues: readonly Issue[]) => ApiError = invalid,
): z.output<Schema> {
  const read = schema.safeParse(value);
  if (!read.success) throw toError(issuesOf(read.error));
  return read.data;
}

const numbers = new Set(['limit']);
const switches = new Set(['include_steps', 'include_tasks']);

/**
 * The query parameters of a schema, with numbers and booleans converted. Parameters of other generations are ignored.
 *
 * @throws ApiError `validation_error`
 */
export function readQuery(schema: z.ZodMiniType | undefined, query: Readonly<Record<string, string>>): unknown {
  if (!schema) return {};
  const known = Object.keys((schema as z.ZodMiniObject).shape);
  const values = Object.entries(query).filter(([name]) => known.includes(name));
  return check(schema, Object.fromEntries(values.map(([name, value]) => [name, typed(name, value)])));
}

function typed(name: string, value: string): unknown {
  if (numbers.has(name) && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (switches.has(name) && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
