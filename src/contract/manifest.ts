/**
 * The part of a benchmark's manifest that all services share: its name and tasks. Anything else, e.g. graders and
 * environment variables, passes unchanged, and the service validates it.
 */
import * as z from 'zod/mini';

const filled = z.string().check(z.minLength(1));

export const manifestTask = z.looseObject({
  name: filled,
  split: z.nullish(z.enum(['train', 'test'])),
  input_messages: z.nullish(z.array(z.looseObject({ role: filled })).check(z.minLength(1))),
  run_command: filled,
});

export const manifest = z.looseObject({
  name: filled,
  tasks: z.array(manifestTask).check(z.minLength(1)),
});
export type Manifest = z.output<typeof manifest>;
