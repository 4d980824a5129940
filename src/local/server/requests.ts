/**
 * Request bodies of every generation of the service and its clients, converted to the document's names. Null fields are
 * dropped; fields without a meaning here are accepted and reported, so that a run can record them.
 */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { concurrencies, deploymentRoles, modelSlug, outputSpeeds } from '../../contract/deployments.ts';
import type { Operation } from '../../contract/endpoints.ts';
import { displayNameLength } from '../../contract/evaluations.ts';
import { terminationReasons } from '../../contract/trajectories.ts';
import { own } from '../../text/own.ts';
import { apiError } from './errors.ts';
import { check } from './validate.ts';

const filled = z.string().check(z.minLength(1));
const displayName = z.string().check(z.minLength(displayNameLength.minimum), z.maxLength(displayNameLength.maximum));
const options = z.optional(z.record(z.string(), z.unknown()));

const startEval = z.object({
  /** In the path in the document; in the body, without the name, in the newest generation. */
  bench_id: z.optional(z.string()),
  benchmark_name: z.optional(filled),
  display_name: z.optional(displayName),
  model_slug: z.optional(z.string()),
  checkpoint_id: z.optional(z.string()),
  options,
});
export type StartEval = z.output<typeof startEval>;

const startTraining = z.object({
  base_model_slug: z.optional(z.string()),
  bench_id: z.optional(filled),
  benchmark_name: z.optional(filled),
  options,
  parent_checkpoint_id: z.optional(z.string()),
  display_name: z.optional(displayName),
});
export type StartTraining = z.output<typeof startTraining>;

const startDeployment = z.looseObject({
  checkpoint_id: filled,
  model_slug: z.string().check(z.regex(modelSlug.pattern), z.maxLength(modelSlug.maximum)),
  role: z.optional(z.enum(deploymentRoles)),
  output_speed: z.optional(z.enum(outputSpeeds)),
  expected_concurrency: z.optional(z.enum(concurrencies)),
});
export type StartDeployment = z.output<typeof startDeployment>;

const promoteDeployment = z.looseObject({ demote_deployment_id: z.optional(z.string()) });
export type PromoteDeployment = z.output<typeof promoteDeployment>;

const uploadTrajectories = z.looseObject({
  dataset: filled,
  // Each is read separately, so that an invalid one does not reject the others.
  trajectories: z.array(z.unknown()),
});
export type UploadTrajectories = z.output<typeof uploadTrajectories>;

const completeTrajectory = z.looseObject({ termination_reason: z.optional(z.enum(terminationReasons)) });
export type CompleteTrajectory = z.output<typeof completeTrajectory>;

const createUpload = z.looseObject({
  files: z
    .array(z.looseObject({ path: filled, content_type: filled, size_bytes: z.int().check(z.gte(0)) }))
    .check(z.minLength(1)),
  bench_id: z.optional(z.string()),
});
export type CreateUpload = z.output<typeof createUpload>;

const createSecret = z.looseObject({ name: filled, value: filled, description: z.optional(z.string()) });
export type CreateSecret = z.output<typeof createSecret>;

const logReward = z.looseObject({
  reward_id: z.optional(filled),
  name: filled,
  value: z.number(),
  explanation: z.optional(z.string()),
  weight: z.optional(z.number()),
});
export type LogReward = z.output<typeof logReward>;

interface BodyRules {
  readonly schema: z.ZodMiniType;
  /** Other generations' names of a field, with the schema's name. */
  readonly names?: Readonly<Record<string, string>>;
  /** All fields that have a meaning here, where the others are to be named in a record. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

const bodies: Partial<Readonly<Record<Operation, BodyRules>>> = {
  startEval: {
    schema: startEval,
    fields: startEval.shape,
    names: {
      base_model_slug: 'model_slug',
      base_model_id: 'model_slug',
      parent_checkpoint_id: 'checkpoint_id',
      eval_options: 'options',
    },
  },
  startTraining: {
    schema: startTraining,
    fields: startTraining.shape,
    names: {
      base_model_id: 'base_model_slug',
      model_slug: 'base_model_slug',
      checkpoint_id: 'parent_checkpoint_id',
      training_options: 'options',
    },
  },
  startDeployment: { schema: startDeployment },
  promoteDeployment: { schema: promoteDeployment },
  uploadTrajectories: { schema: uploadTrajectories },
  createTrajectory: { schema: z.record(z.string(), z.unknown()) },
  completeTrajectory: { schema: completeTrajectory },
  logReward: { schema: logReward },
  createBenchmarkUpload: { schema: createUpload },
  ingestBenchmark: { schema: z.record(z.string(), z.unknown()) },
  createSecret: { schema: createSecret },
};

export interface ReadBody {
  readonly body: unknown;
  /** Fields that were given and have no effect here. */
  readonly ignored: readonly string[];
}

/**
 * Reads the body of an operation; an operation without a body ignores it.
 *
 * @throws ApiError `validation_error`, also if two names of one field have different values
 */
export function readBody(operation: string, raw: unknown): ReadBody {
  const rules = own<BodyRules>(bodies, operation);
  if (!rules) return { body: undefined, ignored: [] };
  const { schema, names = {}, fields } = rules;
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return { body: check(schema, raw ?? {}), ignored: [] };
  }
  const given = Object.entries(raw as Readonly<Record<string, unknown>>).filter(([, value]) => value !== null);
  const ignored: string[] = [];
  const read = new Map<string, { readonly name: string; readonly value: unknown }>();
  for (const [name, value] of given) {
    const meant = own<string>(names, name) ?? name;
    if (fields && !Object.hasOwn(fields, meant)) {
      ignored.push(name);
      continue;
    }
    const other = read.get(meant);
    if (other && !isDeepStrictEqual(other.value, value)) {
      const words = `${name}: differs from ${other.name}, which is another name of it. Give one of them.`;
      throw apiError('validation_error', words, { param: name });
    }
    read.set(meant, { name, value });
  }
  return { body: check(schema, Object.fromEntries([...read].map(([name, { value }]) => [name, value]))), ignored };
}
