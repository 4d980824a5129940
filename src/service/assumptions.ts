/**
 * The names that a service is assumed to use where the document does not show them: the profile's overrides, their
 * validation, and advice.
 */

import { isRecord, own } from '../base/own-property.ts';
import { defaultAssumptions, switchAssumptions } from '../contract/assumptions.ts';
import type { Endpoint } from '../contract/common.ts';
import { endpoints, type Operation } from '../contract/endpoints.ts';
import type { Generation } from '../contract/generation.ts';
import { RequestError } from './errors.ts';
import type { ServiceGeneration } from './generation.ts';

type Switch = (typeof switchAssumptions)[number];

const fieldWord = '(?:inputs?|fields?|param(?:eter)?s?|arguments?|keys?|propert(?:y|ies))';
/** Messages from FastAPI, zod, class-validator and others about an unknown field. */
const unknownFieldPattern = new RegExp(
  `\\b(?:extra|unknown|unexpected|unrecogni[sz]ed|unsupported|additional)\\b.{0,20}\\b${fieldWord}\\b|\\b${fieldWord}\\b.{0,80}\\b(?:not|n't) (?:permitted|allowed|supported|recogni[sz]ed|known)\\b|\\bshould not exist\\b`,
  'i',
);
const missingFieldPattern = /\b(?:required|missing)\b/i;

/** The words in a field's name, without `id`, which most fields have. */
const wordsInName = (name: string): string[] =>
  name
    .split(/[^a-zA-Z0-9]+|(?=[A-Z])/)
    .map(word => word.toLowerCase())
    .filter(word => word !== '' && word !== 'id');

/** The names a service is assumed to use: from the profile, its generation, or the defaults, in this order. */
export class Assumptions {
  readonly #overrides: ReadonlyMap<string, string>;
  readonly #generation: Pick<ServiceGeneration, 'stated' | 'current'>;

  /** @throws RequestError that names the setting if an override is unknown or malformed */
  constructor(
    overrides: Readonly<Record<string, string>> = {},
    generation: Pick<ServiceGeneration, 'stated' | 'current'> = { stated: undefined, current: 'document' },
  ) {
    for (const [name, value] of Object.entries(overrides)) check(name, value);
    this.#overrides = new Map(Object.entries(overrides));
    this.#generation = generation;
  }

  is(name: Switch): boolean {
    return (this.#overrides.get(name) ?? defaultAssumptions[name]) === 'yes';
  }

  get idempotencyHeader(): string {
    return this.#overrides.get('idempotencyHeader') ?? defaultAssumptions.idempotencyHeader;
  }

  /** The setting for an operation's path, if the profile has one. */
  settingOf({ operation }: Pick<Endpoint, 'operation'>): string | undefined {
    const name = `path.${operation}`;
    return this.#overrides.has(name) ? `assumptions.${name}` : undefined;
  }

  /** Whether the profile sets the service's generation. */
  get isStated(): boolean {
    return this.#generation.stated !== undefined;
  }

  /** Which generation's form of an operation to use. */
  generationOf({ operation, path, newest }: Endpoint): Generation {
    const set = this.#overrides.get(`path.${operation}`);
    if (set === undefined || !newest) return this.#generation.current;
    // A path without all of the document's placeholders belongs to the newest generation.
    return placeholders(path).every(part => set.includes(part)) ? 'document' : 'newest';
  }

  /** An operation's path, with its placeholders. */
  path(endpoint: Endpoint): string {
    const { operation, path, newest } = endpoint;
    const set = this.#overrides.get(`path.${operation}`);
    return set ?? (newest && this.generationOf(endpoint) === 'newest' ? newest.path : path);
  }

  /**
   * An operation's path in the other generation.
   *
   * @throws RequestError if there is none, or if the profile sets a generation or a path
   */
  otherPath(endpoint: Endpoint): string {
    const { operation, path, newest } = endpoint;
    if (!newest || this.isStated || this.settingOf(endpoint) !== undefined)
      throw new RequestError(`Nothing was sent: ${operation} has no other path.`, { operation });
    return this.path(endpoint) === path ? newest.path : path;
  }

  /** The query with this service's names. The document shows the names for listing runtimes, so those stay. */
  query<Value>(operation: string, fields: Readonly<Record<string, Value>>): Record<string, Value> {
    return operation === 'listBenchmarkRuntimes' ? { ...fields } : this.#rename('query', fields);
  }

  /** The body with this service's names, and the ids that its path lacks. */
  body(
    endpoint: Endpoint,
    fields: Readonly<Record<string, unknown>>,
    params: Readonly<Record<string, string | number>> = {},
  ): Record<string, unknown> {
    const pattern = this.path(endpoint);
    const moved = Object.entries(params).filter(
      ([name]) => endpoint.path.includes(`{${name}}`) && !pattern.includes(`{${name}}`),
    );
    return { ...Object.fromEntries(moved), ...this.#rename(endpoint.operation, fields, this.#namesOf(endpoint)) };
  }

  /**
   * Advice to set a field's name, if that may resolve a refusal: the service does not know the field, or requires one
   * with a similar name.
   *
   * @param query the request's query, with this service's names
   * @param body the call's input, with the document's names
   */
  adviceOn(
    endpoint: Endpoint,
    { query, body }: { readonly query: URLSearchParams; readonly body: unknown },
    { param, message = '' }: { readonly param: string | undefined; readonly message: string | undefined },
  ): string | undefined {
    const names = this.#namesOf(endpoint);
    const fields = isRecord(body) ? body : {};
    const sent = Object.keys(defaultAssumptions).flatMap(setting => {
      const [section = '', name = ''] = setting.split('.');
      const wire = this.#nameOf(section, name, names);
      const isSent =
        section === 'query'
          ? endpoint.operation !== 'listBenchmarkRuntimes' && query.has(wire)
          : section === endpoint.operation && own(fields, name) != null;
      return isSent ? [{ setting, wire }] : [];
    });
    const field = param?.split('.').at(-1);
    const known = sent.find(({ wire }) => (field === undefined ? quotes(message, wire) : wire === field));
    if (known && unknownFieldPattern.test(message))
      return `If this service has another name for ${known.wire}, set it with '${setsName(known.setting, 'NAME')}'.`;
    if (known || field === undefined || !/^[\w-]{1,64}$/.test(field) || !missingFieldPattern.test(message))
      return undefined;
    const words = wordsInName(field);
    const likeness = ({ wire }: { readonly wire: string }): number =>
      wordsInName(wire).filter(word => words.includes(word)).length;
    const [like] = sent.toSorted((one, other) => likeness(other) - likeness(one));
    if (!like || likeness(like) === 0) return undefined;
    return `If that is this service's name for ${like.wire}, set it with '${setsName(like.setting, field)}'.`;
  }

  #namesOf(endpoint: Endpoint): Readonly<Record<string, string>> | undefined {
    return this.generationOf(endpoint) === 'newest' ? endpoint.newest?.names : undefined;
  }

  #nameOf(section: string, name: string, names: Readonly<Record<string, string>> = {}): string {
    const setting = `${section}.${name}`;
    return this.#overrides.get(setting) ?? own(names, name) ?? own(defaultAssumptions, setting) ?? name;
  }

  #rename<Value>(
    section: string,
    fields: Readonly<Record<string, Value>>,
    names?: Readonly<Record<string, string>>,
  ): Record<string, Value> {
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [this.#nameOf(section, name, names), value]),
    );
  }
}

/** The command that sets an assumption. */
export const setsName = (setting: string, name: string): string =>
  `benchtop config set profiles.PROFILE.assumptions.${setting} ${name}`;

/** Whether a message contains a name as a word. */
const quotes = (message: string, name: string): boolean => message.split(/[^\w-]+/).includes(name);

/** @throws RequestError that names the setting */
function check(name: string, value: string): void {
  const problem = assumptionProblem(name, value);
  if (problem === undefined) return;
  throw new RequestError(`The setting assumptions.${name} in the profile ${problem}.`, {
    code: 'assumptions_invalid',
    param: `assumptions.${name}`,
  });
}

/** The problem with an assumption, as the end of a sentence without its full stop; undefined if it is valid. */
export function assumptionProblem(name: string, value: string): string | undefined {
  if (name.startsWith('path.')) return pathProblem(name.slice('path.'.length), value);
  if (!Object.hasOwn(defaultAssumptions, name))
    return `is unknown; the known ones are ${Object.keys(defaultAssumptions).join(', ')} and path.OPERATION`;
  if (!/^[\w.-]{1,64}$/.test(value)) return 'must be a plain name';
  return isSwitch(name) && value !== 'yes' && value !== 'no' ? 'must be yes or no' : undefined;
}

function isSwitch(name: string): name is Switch {
  return switchAssumptions.some(each => each === name);
}

function pathProblem(operation: string, value: string): string | undefined {
  if (!Object.hasOwn(endpoints, operation)) return 'names an unknown operation';
  if (!/^(\/([\w.-]+|\{\w+\}))+\/?$/.test(value)) return 'must be a path such as /api/v1/eval/{eval_run_id}';
  const endpoint: Endpoint = endpoints[operation as Operation];
  const known = placeholders(endpoint.path);
  const stray = placeholders(value).find(placeholder => !known.includes(placeholder));
  if (stray) return `has the unknown placeholder ${stray}; it may contain ${known.join(', ') || 'none'}`;
  const needed = endpoint.newest ? placeholders(endpoint.newest.path) : known;
  const missing = needed.find(placeholder => !value.includes(placeholder));
  return missing && `lacks ${missing}, which nothing else in the request contains`;
}

function placeholders(path: string): string[] {
  return path.match(/\{\w*\}/g) ?? [];
}
