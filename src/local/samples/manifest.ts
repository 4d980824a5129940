/** The manifest of a benchmark: what it is called, and its tasks with the way they are graded. */
import * as z from 'zod/mini';
import { graderSpec } from '../grading/graders.ts';

const name = z.string().check(z.minLength(1), z.maxLength(128));

const variable = z.union([
  z.strictObject({ name, value: z.string() }),
  /** The value comes from a secret of the organization. */
  z.strictObject({ name, secret_name: name }),
]);

export const manifestTask = z.strictObject({
  name,
  split: z.enum(['train', 'test']),
  input_messages: z.array(z.strictObject({ role: name, content: z.string() })).check(z.minLength(1)),
  run_command: z.string().check(z.minLength(1)),
  environment: z.optional(z.array(variable)),
  grader: graderSpec,
  /** Paths of uploaded files that the task needs. */
  files: z.optional(z.array(z.string().check(z.minLength(1)))),
  max_tokens: z.optional(z.int().check(z.gte(1), z.lte(4096))),
});
export type ManifestTask = z.output<typeof manifestTask>;

export const manifest = z.strictObject({
  name,
  label: z.optional(name),
  family: z.optional(z.string()),
  description: z.optional(z.string()),
  version: z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
  tasks: z.array(manifestTask).check(z.minLength(1), z.maxLength(10_000)),
});
export type Manifest = z.output<typeof manifest>;

/** Names of the secrets that the tasks of a manifest need. */
export function secretNames(tasks: readonly ManifestTask[]): string[] {
  const names = tasks.flatMap(task =>
    (task.environment ?? []).flatMap(each => ('secret_name' in each ? [each.secret_name] : [])),
  );
  return [...new Set(names)].sort();
}
