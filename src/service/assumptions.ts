/**
 * Assumptions: names and values that the document does not show, each seen at a live service with the same contract and
 * kept in this one place. A profile can override them by the names used here. Anything that the document shows is not
 * an assumption. What the newest generation has moved is declared with its endpoint.
 */
import type { Endpoint } from '../contract/common.ts';
import { endpoints, type Operation } from '../contract/endpoints.ts';
import type { Generation } from '../contract/generation.ts';
import { own } from '../text/own.ts';
import { RequestError } from './errors.ts';

export const defaultAssumptions = {
  // List benchmarks, list datasets and the lists beyond the document take the parameters of list runtimes.
  'query.cursor': 'cursor',
  'query.limit': 'limit',
  'query.sort': 'sort',
  'query.order': 'order',
  'query.search': 'search',
  // Requests the steps of a trajectory with its detail.
  'query.include_steps': 'include_steps',
  // Names of the model, the checkpoint and the options when starting an evaluation, in the document's generation.
  'startEval.model_slug': 'model_slug',
  'startEval.checkpoint_id': 'checkpoint_id',
  'startEval.options': 'eval_options',
  // Names of the model and the checkpoint when starting a training run.
  'startTraining.base_model_slug': 'base_model_slug',
  'startTraining.parent_checkpoint_id': 'parent_checkpoint_id',
  // The header that makes repeating a start harmless.
  idempotencyHeader: 'Idempotency-Key',
  // `yes` or `no`: whether the service honours that header, so that a start whose answer was lost may be sent again.
  // Learned where an answer says that it was replayed.
  honoursIdempotencyKey: 'no',
  // `yes` or `no`: whether a chat asks for a stream. Not asked of a model again once the service refuses to stream it.
  streamChat: 'yes',
  // `yes` or `no`: whether a stream is asked for token counts with `stream_options`. Left out once a service refuses
  // it.
  streamUsage: 'yes',
  // `yes` or `no`: whether rewards are logged with the organization's key if no trajectory token is given.
  rewardsWithApiKey: 'yes',
  // Paths that the document mentions without showing them. Any other operation's path may be given in the same way,
  // e.g. `path.deleteEvalRun` as `/api/v1/eval/{eval_run_id}`.
  'path.ingestBenchmark': endpoints.ingestBenchmark.path,
  'path.listBenchmarkImages': endpoints.listBenchmarkImages.path,
} as const;

const switches = ['streamChat', 'streamUsage', 'rewardsWithApiKey', 'honoursIdempotencyKey'] as const;
type Switch = (typeof switches)[number];

/** The names a service is assumed to use: from its profile, else its generation, else the defaults. */
export class Assumptions {
  readonly #overrides: ReadonlyMap<string, string>;
  readonly #generation: () => Generation;

  /** @throws RequestError naming the setting, if an override is unknown or malformed */
  constructor(overrides: Readonly<Record<string, string>> = {}, generation: () => Generation = () => 'document') {
    for (const [name, value] of Object.entries(overrides)) check(name, value);
    this.#overrides = new Map(Object.entries(overrides));
    this.#generation = generation;
  }

  /** The same for a service of this generation. */
  of(generation: Generation): Assumptions {
    return new Assumptions(Object.fromEntries(this.#overrides), () => generation);
  }

  is(name: Switch): boolean {
    return (this.#overrides.get(name) ?? defaultAssumptions[name]) === 'yes';
  }

  get idempotencyHeader(): string {
    return this.#overrides.get('idempotencyHeader') ?? defaultAssumptions.idempotencyHeader;
  }

  /** The setting with the path of an operation, if the profile has one. */
  settingOf({ operation }: Pick<Endpoint, 'operation'>): string | undefined {
    const name = `path.${operation}`;
    return this.#overrides.has(name) ? `assumptions.${name}` : undefined;
  }

  /** The generation whose form of an operation is used. */
  generationOf({ operation, path, newest }: Endpoint): Generation {
    const set = this.#overrides.get(`path.${operation}`);
    if (set === undefined || !newest) return this.#generation();
    // A path without all of the document's placeholders belongs to the newest generation.
    return placeholders(path).every(part => set.includes(part)) ? 'document' : 'newest';
  }

  /** Path of an operation, with its placeholders. */
  path(endpoint: Endpoint): string {
    const { operation, path, newest } = endpoint;
    const set = this.#overrides.get(`path.${operation}`) ?? own(defaultAssumptions, `path.${operation}`);
    return set ?? (newest && this.generationOf(endpoint) === 'newest' ? newest.path : path);
  }

  /** The query with this service's names. Those of list runtimes are the document's and stay. */
  query<Value>(operation: string, fields: Readonly<Record<string, Value>>): Record<string, Value> {
    return operation === 'listBenchmarkRuntimes' ? { ...fields } : this.#rename('query', fields);
  }

  /** The body with this service's names, and the ids that are not in its path. */
  body(
    endpoint: Endpoint,
    fields: Readonly<Record<string, unknown>>,
    params: Readonly<Record<string, string | number>> = {},
  ): Record<string, unknown> {
    const pattern = this.path(endpoint);
    const moved = Object.entries(params).filter(
      ([name]) => endpoint.path.includes(`{${name}}`) && !pattern.includes(`{${name}}`),
    );
    const names = this.generationOf(endpoint) === 'newest' ? endpoint.newest?.names : undefined;
    return { ...Object.fromEntries(moved), ...this.#rename(endpoint.operation, fields, names) };
  }

  #rename<Value>(
    section: string,
    fields: Readonly<Record<string, Value>>,
    names: Readonly<Record<string, string>> = {},
  ): Record<string, Value> {
    const nameOf = (name: string): string => {
      const setting = `${section}.${name}`;
      return this.#overrides.get(setting) ?? own(names, name) ?? own(defaultAssumptions, setting) ?? name;
    };
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [nameOf(name), value]));
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
  return switches.some(each => each === name);
}

function checkPath(name: string, value: string): void {
  const operation = name.slice('path.'.length);
  if (!Object.hasOwn(endpoints, operation)) throw refusal(name, 'names no known operation');
  if (!/^(\/([\w.-]+|\{\w+\}))+$/.test(value)) throw refusal(name, 'must be a path such as /api/v1/eval/{eval_run_id}');
  const endpoint: Endpoint = endpoints[operation as Operation];
  const known = placeholders(endpoint.path);
  const stray = placeholders(value).find(placeholder => !known.includes(placeholder));
  if (stray) throw refusal(name, `has ${stray}, which is not known there; it may hold ${known.join(', ') || 'none'}`);
  const needed = endpoint.newest ? placeholders(endpoint.newest.path) : known;
  const missing = needed.find(placeholder => !value.includes(placeholder));
  if (missing) throw refusal(name, `leaves out ${missing}, and nothing else in the request says it`);
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
