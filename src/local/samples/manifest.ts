/**
 * A benchmark's manifest: its name and tasks. Accepts the fields of every generation of the service, and keeps fields
 * that have no meaning here unchanged.
 */
import * as z from 'zod/mini';
import { isRawJson, isRecord, own, type RawJson } from '../../base/own-property.ts';
import { messageContent } from '../../contract/message-content.ts';
import { type GraderSpec, graderKinds, graderSpec } from '../../grading/graders.ts';
import type { ChatTurn } from '../model/policy.ts';
import { type ToolSpec, toolSpec } from '../model/tools.ts';

const name = z.string().check(z.minLength(1), z.maxLength(256));
const filledText = z.string().check(z.minLength(1));

/** A variable's value: a literal, or a reference to one of the organization's secrets. */
const value = z.union(
  [
    z.string(),
    z.number(),
    z.custom<RawJson>(isRawJson),
    z.boolean(),
    z.null(),
    z.looseObject({ secret_ref: name }),
    z.looseObject({ secret_name: name }),
  ],
  'expected a string, or an object with secret_ref',
);
const listedVariable = z.union(
  [z.looseObject({ name, value: z.string() }), z.looseObject({ name, secret_name: name })],
  'expected a name with value or secret_name',
);
const environment = z.nullish(
  z.union([z.array(listedVariable), z.record(name, value)], 'expected an object of variables, or a list of them'),
);

/** The schema errors for a grader of a known kind; other kinds are kept unchanged. */
function graderIssues(grader: unknown): z.core.$ZodIssue[] {
  return isOwnGrader(grader) ? (graderSpec.safeParse(grader).error?.issues ?? []) : [];
}

/** Accepts any value, but validates a grader whose kind runs here. */
const ownGrader = z.optional(
  z.unknown().check(({ value: grader, issues }) => {
    for (const { message, path } of graderIssues(grader)) issues.push({ code: 'custom', message, path, input: grader });
  }),
);

export const manifestTask = z.looseObject({
  name,
  split: z.nullish(z.enum(['train', 'test'])),
  input_messages: z.nullish(
    z.array(
      z.looseObject({
        role: name,
        content: z.nullish(z.union([z.string(), z.array(z.looseObject({ type: filledText }))])),
      }),
    ),
  ),
  run_command: z.nullish(z.union([z.string(), z.array(z.string())])),
  environment,
  env_vars: environment,
  grader: ownGrader,
  /** This service's tools. A list is in other services' format, and is kept unchanged. */
  tools: z.optional(z.union([toolSpec, z.array(z.unknown()), z.null()], 'expected an object with store or calculator')),
  /** Other services' spec, kept unchanged. Its grader need not be valid here, even if its kind is one of ours. */
  spec: z.optional(z.unknown()),
  /** Paths of uploaded files that the task needs. */
  files: z.nullish(z.array(filledText)),
  max_tokens: z.nullish(z.int().check(z.gte(1), z.lte(4096))),
});
export type ManifestTask = z.output<typeof manifestTask>;

const text = z.nullish(z.string());

export const manifest = z.looseObject({
  name,
  label: z.nullish(name),
  family: text,
  description: text,
  visibility: text,
  version: z.nullish(z.string().check(z.minLength(1), z.maxLength(64))),
  tasks: z.array(manifestTask).check(z.minLength(1), z.maxLength(10_000)),
});
export type Manifest = z.output<typeof manifest>;

type Variable = { readonly name: string } & ({ readonly value: string } | { readonly secret_name: string });

/** A task's grader, or why none runs here. */
export type TaskGrader = GraderSpec | { readonly kind: 'none'; readonly reason: string };

/** A task as this service runs it. */
export interface Task {
  readonly name: string;
  readonly split: 'train' | 'test';
  readonly turns: readonly ChatTurn[];
  readonly environment: readonly Variable[];
  readonly grader: TaskGrader;
  readonly tools: ToolSpec | undefined;
  readonly files: readonly string[];
  readonly max_tokens: number | undefined;
}

function isOwnGrader(grader: unknown): grader is GraderSpec {
  return isRecord(grader) && graderKinds.has(grader['kind']);
}

/** The task's own grader, or its spec's grader if that runs here. */
function graderOf({ grader: direct, spec }: ManifestTask): TaskGrader {
  const grader = direct ?? (isRecord(spec) ? own(spec, 'grader') : undefined);
  if (grader === undefined || grader === null) return { kind: 'none', reason: 'it has no grader' };
  const whole = graderSpec.safeParse(grader);
  if (whole.success) return whole.data;
  const kind = isRecord(grader) ? (own(grader, 'kind') ?? own(grader, 'type')) : grader;
  return { kind: 'none', reason: `its grader (${typeof kind === 'string' ? kind : 'of no kind'}) does not run here` };
}

function variablesOf(variables: ManifestTask['environment']): Variable[] {
  if (!variables) return [];
  if (Array.isArray(variables)) {
    return variables.map(each =>
      'secret_name' in each
        ? { name: each.name, secret_name: String(each.secret_name) }
        : { name: each.name, value: String(each.value) },
    );
  }
  return Object.entries(variables).flatMap(([each, from]): Variable[] => {
    if (from === null) return [];
    if (typeof from !== 'object') return [{ name: each, value: String(from) }];
    if (isRawJson(from)) return [{ name: each, value: from.rawJSON }];
    return [{ name: each, secret_name: String('secret_ref' in from ? from.secret_ref : from.secret_name) }];
  });
}

/** Reads a task from a manifest. A task without a split is a test task, so that nothing is trained on by mistake. */
export function readTask(task: ManifestTask): Task {
  const turns = (task.input_messages ?? []).map(({ role, content }) => ({
    role,
    content: messageContent(content) ?? '',
  }));
  const nothingToAsk = { kind: 'none', reason: 'it has no input messages, so there is nothing to ask' } as const;
  return {
    name: task.name,
    split: task.split ?? 'test',
    turns,
    environment: [...variablesOf(task.environment), ...variablesOf(task.env_vars)],
    grader: turns.length === 0 ? nothingToAsk : graderOf(task),
    tools: toolSpec.safeParse(task.tools).data,
    files: task.files ?? [],
    max_tokens: task.max_tokens ?? undefined,
  };
}

/** A task's image settings. Nothing here uses them, but the image's record shows them. */
export function runtimeOf({ runtime }: ManifestTask): { dockerfile_path?: string; image_ref?: string } {
  if (!isRecord(runtime)) return {};
  const source = isRecord(runtime['source']) ? runtime['source'] : runtime;
  const { dockerfile_path, image_ref } = source;
  return {
    ...(typeof dockerfile_path === 'string' && { dockerfile_path }),
    ...(typeof image_ref === 'string' && { image_ref }),
  };
}

/** Names of the secrets that these tasks need. */
export function secretNames(tasks: readonly Task[]): string[] {
  const names = tasks.flatMap(task =>
    task.environment.flatMap(each => ('secret_name' in each ? [each.secret_name] : [])),
  );
  return [...new Set(names)].sort();
}

const namedInWarning = 5;

/** Warnings about tasks before they run, as sentences. */
export function warningsOf(tasks: readonly Task[]): string[] {
  const reasons = Map.groupBy(tasks, ({ grader: { kind, ...rest } }) => ('reason' in rest ? rest.reason : kind));
  const ungradable = [...reasons].filter(([, [first]]) => first?.grader.kind === 'none');
  return ungradable.map(([reason, { length }]) => {
    const names = (reasons.get(reason) ?? []).slice(0, namedInWarning).map(task => task.name);
    const more = length > names.length ? ` and ${length - names.length} more` : '';
    const what =
      length === 1
        ? '1 task cannot be graded here and gets no reward'
        : `${length} tasks cannot be graded here and get no reward`;
    return `${what} (${reason}): ${names.join(', ')}${more}.`;
  });
}
