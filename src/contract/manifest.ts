/**
 * The part of a benchmark's manifest that all services share: its name and tasks. Anything else, e.g. graders and
 * environment variables, passes unchanged, and the service validates it.
 */
import * as z from 'zod/mini';

const filledText = z.string().check(z.minLength(1));

export const manifestTask = z.looseObject({
  name: filledText,
  split: z.nullish(z.enum(['train', 'test'])),
  input_messages: z.nullish(z.array(z.looseObject({ role: filledText })).check(z.minLength(1))),
  run_command: filledText,
});

export const manifest = z.looseObject({
  name: filledText,
  tasks: z.array(manifestTask).check(z.minLength(1)),
});
export type Manifest = z.output<typeof manifest>;
