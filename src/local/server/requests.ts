/**
 * Request bodies from every generation of the service and its clients, converted to the document's names. The
 * contract's schemas are strict about this client's requests; here they also accept other generations. Null fields are
 * dropped. Fields that have no meaning here are accepted and reported, so that a run can record them.
 */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { isRecord, own } from '../../base/own-property.ts';
import { createUploadBody, uploadFile } from '../../contract/benchmarks.ts';
import type { Endpoint } from '../../contract/common.ts';
import { concurrencies, outputSpeeds, promoteDeploymentBody, startDeploymentBody } from '../../contract/deployments.ts';
import { type BodyRead, endpoints, type Operation } from '../../contract/endpoints.ts';
import { startEvalBody } from '../../contract/evaluations.ts';
import { startTrainingBody } from '../../contract/training.ts';
import { logRewardBody, uploadTrajectoriesBody } from '../../contract/trajectories.ts';
import { apiError } from './errors.ts';
import { check } from './validate.ts';

/** A schema that also accepts unknown fields. */
function withOtherFields<Schema extends z.ZodMiniObject>(schema: Schema) {
  return z.catchall(schema, z.unknown());
}

const startEval = z.extend(z.partial(startEvalBody, { display_name: true }), {
  /** The document has it in the path; the newest generation has it in the body, where the display name is optional. */
  bench_id: z.optional(z.string()),
  benchmark_name: z.optional(z.string().check(z.minLength(1))),
});

const startTraining = z.extend(z.partial(startTrainingBody, { bench_id: true }), {
  benchmark_name: z.optional(z.string().check(z.minLength(1))),
});

/** Bodies that differ from the contract's. */
const acceptedBodies = {
  startEval,
  startTraining,
  startDeployment: z.extend(z.partial(startDeploymentBody, { role: true }), {
    output_speed: z.optional(z.enum(outputSpeeds)),
    expected_concurrency: z.optional(z.enum(concurrencies)),
  }),
  promoteDeployment: promoteDeploymentBody,
  // Each trajectory is read separately, so that an invalid one does not make the others fail.
  uploadTrajectories: z.extend(uploadTrajectoriesBody, { trajectories: z.array(z.unknown()) }),
  logReward: z.partial(logRewardBody, { reward_id: true }),
  createBenchmarkUpload: z.extend(createUploadBody, {
    files: z.array(withOtherFields(uploadFile)).check(z.minLength(1)),
  }),
} satisfies Partial<Record<Operation, z.ZodMiniType>>;

/** An operation's body, as returned by `readBody`. */
export type BodyOf<Name extends Operation> = Name extends keyof typeof acceptedBodies
  ? z.output<(typeof acceptedBodies)[Name]>
  : BodyRead<Name>;

const schemas: ReadonlyMap<string, z.ZodMiniType> = new Map(
  Object.values<Endpoint>(endpoints).flatMap(({ operation, body }) => {
    const schema = own<z.ZodMiniType>(acceptedBodies, operation) ?? body;
    if (!schema) return [];
    return [[operation, schema instanceof z.ZodMiniObject ? withOtherFields(schema) : schema]];
  }),
);

interface OtherNames {
  /** Other generations' names for a field, with the schema's name. */
  readonly names: Readonly<Record<string, string>>;
  /** The fields that have a meaning here; the record lists all others as ignored. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const otherNames: Partial<Readonly<Record<Operation, OtherNames>>> = {
  startEval: {
    fields: startEval.shape,
    names: {
      base_model_slug: 'model_slug',
      base_model_id: 'model_slug',
      parent_checkpoint_id: 'checkpoint_id',
      eval_options: 'options',
    },
  },
  startTraining: {
    fields: startTraining.shape,
    names: {
      base_model_id: 'base_model_slug',
      model_slug: 'base_model_slug',
      checkpoint_id: 'parent_checkpoint_id',
      training_options: 'options',
    },
  },
};

interface ReadBody {
  readonly body: unknown;
  /** Request fields that have no effect here. */
  readonly ignored: readonly string[];
}

/**
 * Reads an operation's body; an operation without a body ignores it.
 *
 * @throws ApiError `validation_error`, also if two names for one field have different values
 */
export function readBody(operation: string, raw: unknown): ReadBody {
  const schema = schemas.get(operation);
  if (!schema) return { body: undefined, ignored: [] };
  if (!isRecord(raw)) return { body: check(schema, raw ?? {}), ignored: [] };
  const { names = {}, fields } = own<OtherNames>(otherNames, operation) ?? {};
  const entries = Object.entries(raw).filter(([, value]) => value !== null);
  const ignored: string[] = [];
  const read = new Map<string, { readonly name: string; readonly value: unknown }>();
  for (const [name, value] of entries) {
    const field = own<string>(names, name) ?? name;
    if (fields && !Object.hasOwn(fields, field)) {
      ignored.push(name);
      continue;
    }
    const other = read.get(field);
    if (other && !isDeepStrictEqual(other.value, value)) {
      const words = `${name}: differs from ${other.name}, which is another name for it. Give only one.`;
      throw apiError('validation_error', words, { param: name });
    }
    read.set(field, { name, value });
  }
  return { body: check(schema, Object.fromEntries([...read].map(([name, { value }]) => [name, value]))), ignored };
}
