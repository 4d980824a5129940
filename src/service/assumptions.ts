/**
 * Assumptions. The document does not show these values; each was seen at a live service with the same contract, and
 * is here once. A profile may say otherwise for its service, by the name used here. What the document does
 * show is no assumption and is not here.
 */
import { endpoints, type Operation } from '../contract/endpoints.ts';
import { RequestError } from './errors.ts';

export const defaultAssumptions = {
  // List benchmarks, list datasets and the lists beyond the document take the names that list runtimes takes.
  'query.cursor': 'cursor',
  'query.limit': 'limit',
  'query.sort': 'sort',
  'query.order': 'order',
  'query.search': 'search',
  // Whether the detail of a trajectory holds its steps is asked for by this name.
  'query.include_steps': 'include_steps',
  // Names of the model and the checkpoint in the start of an evaluation. A later generation: `base_model_slug`.
  'startEval.model_slug': 'model_slug',
  'startEval.checkpoint_id': 'checkpoint_id',
  // Names of the model and the checkpoint in the start of a training run.
  'startTraining.base_model_slug': 'base_model_slug',
  'startTraining.parent_checkpoint_id': 'parent_checkpoint_id',
  // The header that makes the repeat of a start harmless.
  idempotencyHeader: 'Idempotency-Key',
  // `yes` or `no`: a stream tells its token counts when asked by `stream_options`. Left out once a service refuses it.
  streamUsage: 'yes',
  // `yes` or `no`: rewards are logged with the organization's key where no trajectory token is given.
  rewardsWithApiKey: 'yes',
  // Paths that the document mentions without showing them. Any other operation's path may be given in the same way,
  // e.g. `path.deleteEvalRun` as `/api/v1/eval/{eval_run_id}`.
  'path.ingestBenchmark': endpoints.ingestBenchmark.path,
  'path.listBenchmarkImages': endpoints.listBenchmarkImages.path,
} as const;

type Switch = 'streamUsage' | 'rewardsWithApiKey';

/** What a service is taken to call things: the defaults and what its profile says otherwise. */
export class Assumptions {
  readonly #values: ReadonlyMap<string, string>;

  /** @throws RequestError that names the setting, where an override is none of these or has the wrong form */
  constructor(overrides: Readonly<Record<string, string>> = {}) {
    for (const [name, value] of Object.entries(overrides)) check(name, value);
    this.#values = new Map(Object.entries({ ...defaultAssumptions, ...overrides }));
  }

  is(name: Switch): boolean {
    return this.#values.get(name) === 'yes';
  }

  get idempotencyHeader(): string {
    return this.#values.get('idempotencyHeader') ?? defaultAssumptions.idempotencyHeader;
  }

  /** Path of an operation, with its placeholders. */
  path(operation: string, documented: string): string {
    return this.#values.get(`path.${operation}`) ?? documented;
  }

  /** The query with the names that this service knows. Those of list runtimes are the document's and stay. */
  query<Value>(operation: string, fields: Readonly<Record<string, Value>>): Record<string, Value> {
    return operation === 'listBenchmarkRuntimes' ? { ...fields } : this.#rename('query', fields);
  }

  /** The body with the names that this service knows. */
  body<Value>(operation: string, fields: Readonly<Record<string, Value>>): Record<string, Value> {
    return this.#rename(operation, fields);
  }

  #rename<Value>(section: string, fields: Readonly<Record<string, Value>>): Record<string, Value> {
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [this.#values.get(`${section}.${name}`) ?? name, value]),
    );
  }
}

function check(name: string, value: string): void {
  if (name.startsWith('path.')) {
    checkPath(name, value);
    return;
  }
  if (!Object.hasOwn(defaultAssumptions, name)) {
    throw refusal(name, `is not known; known are ${Object.keys(defaultAssumptions).join(', ')} and path.<operation>`);
  }
  if (!/^[\w.-]{1,64}$/.test(value)) {
    throw refusal(name, 'must be a plain name');
  }
  if (isSwitch(name) && value !== 'yes' && value !== 'no') throw refusal(name, 'must be yes or no');
}

function isSwitch(name: string): name is Switch {
  return name === 'streamUsage' || name === 'rewardsWithApiKey';
}

function checkPath(name: string, value: string): void {
  const operation = name.slice('path.'.length);
  if (!Object.hasOwn(endpoints, operation)) throw refusal(name, 'is of no operation that there is');
  if (!/^(\/([\w.-]+|\{\w+\}))+$/.test(value)) throw refusal(name, 'must be a path such as /api/v1/eval/{eval_run_id}');
  const known = placeholders(endpoints[operation as Operation].path);
  const stray = placeholders(value).find(placeholder => !known.includes(placeholder));
  if (stray) throw refusal(name, `has ${stray}, which is not known there; it may hold ${known.join(', ') || 'none'}`);
}

function placeholders(path: string): string[] {
  return path.match(/\{\w*\}/g) ?? [];
}

function refusal(name: string, what: string): RequestError {
  return new RequestError(`The setting assumptions.${name} of the profile ${what}.`, {
    code: 'assumptions_invalid',
    param: `assumptions.${name}`,
  });
}
