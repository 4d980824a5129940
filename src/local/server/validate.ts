/** Validates requests against schemas; errors name the field. */
import * as z from 'zod/mini';
import english from 'zod/v4/locales/en.js';
import { own } from '../../base/own-property.ts';
import { describeAbsent, describeTooLarge, pathOf } from '../../contract/issues.ts';
import { parseWhole } from '../../contract/proto-field.ts';
import { type ApiError, apiError } from './errors.ts';

/** zod/mini ships without messages. */
z.config(english());

/** One error in a request, with its path. */
export interface Issue {
  /** In the form `tasks[3].name`. */
  readonly path: string;
  readonly message: string;
}

/** Maximum number of issues in a message. */
const maxNamed = 5;

/** The issues in one line: `tasks[0].name: is missing; and 2 more`. */
export function describeAll(issues: readonly Issue[]): string {
  const words = issues.slice(0, maxNamed).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const more = issues.length > maxNamed ? [`and ${issues.length - maxNamed} more`] : [];
  return [...words, ...more].join('; ');
}

/** An error that names the first issues, and lists them all in its context. */
export const invalid = (issues: readonly Issue[]): ApiError =>
  apiError('validation_error', describeAll(issues) || 'This request cannot be understood.', {
    param: issues[0]?.path || undefined,
    context: { issues },
  });

function issuesOf(error: z.core.$ZodError, value: unknown): Issue[] {
  return error.issues.map(issue => {
    const stray = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    return {
      path: pathOf([...issue.path, ...stray]),
      message: describeAbsent(issue, value) ?? describeTooLarge(issue, value) ?? issue.message,
    };
  });
}

/** @throws ApiError `validation_error` naming the first invalid field, unless `toError` creates another error */
export function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  toError: (issues: readonly Issue[]) => ApiError = invalid,
): z.output<Schema> {
  const read = parseWhole(schema, value);
  if (!read.success) throw toError(issuesOf(read.error, value));
  return read.data;
}

/**
 * Parses query parameters. A string is read as a number or a boolean where the schema does not accept strings. Other
 * generations' parameters are ignored.
 *
 * @throws ApiError `validation_error`
 */
export function readQuery(schema: z.ZodMiniType | undefined, query: Readonly<Record<string, string>>): unknown {
  if (!(schema instanceof z.ZodMiniObject)) return undefined;
  const values = Object.entries(query).flatMap(([name, value]) => {
    const field = own<z.core.$ZodType>(schema.shape, name);
    if (!field) return [];
    return [[name, z.safeParse(field, value).success ? value : typedValue(value)] as const];
  });
  return check(schema, Object.fromEntries(values));
}

function typedValue(value: string): string | number | boolean {
  if (/^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  return value === 'true' || value === 'false' ? value === 'true' : value;
}
