/** `benchtop api`: calls any operation in the contract by name or path, and any other path on the service. */

import type * as z from 'zod/mini';
import { deepestJson, isTooDeep, parseJson } from '../base/json-depth.ts';
import { isRecord, own } from '../base/own-property.ts';
import { type Endpoint, isWrite, type Method, type Page, rowSchemaOf } from '../contract/common.ts';
import { endpoints, type Operation } from '../contract/endpoints.ts';
import { mayHaveField } from '../contract/fields.ts';
import { joinedRows } from '../contract/lists.ts';
import { statusText } from '../net/status-text.ts';
import { untypedCall } from '../service/call.ts';
import { ServiceError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { AnswerHead, CallOptions } from '../service/options.ts';
import { cutOffMessage, readPages } from '../service/pagination.ts';
import { safeJson, sanitise, sanitiseLine } from '../text/sanitise.ts';
import { type Preview, printPreviews, trajectoryToken } from './act.ts';
import {
  checkOnce,
  type Field,
  fieldsGiven,
  fieldsOf,
  fieldValue,
  givenBody,
  isAddress,
  parsedBody,
  pathOf,
} from './api-input.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { applyJq, checkField, noteUnreadable, recordText } from './output.ts';
import { didYouMean } from './suggest.ts';
import { type CommandInput, methods } from './table/commands.ts';
import { withService } from './with-service.ts';

const all = Object.values(endpoints) as readonly Endpoint[];

function schemaFields(schema: z.ZodMiniType | undefined): Readonly<Record<string, z.ZodMiniType>> {
  return (schema as { shape?: Record<string, z.ZodMiniType> } | undefined)?.shape ?? {};
}

const pathNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** Every operation and its field names, as JSON or one operation per line. */
async function listing({ field, jq, json }: Flags, io: CommandIo): Promise<string> {
  const operations = all.map(({ operation, method, path, query, body }) => {
    const fields = [...pathNames(path), ...Object.keys(schemaFields(query)), ...Object.keys(schemaFields(body))];
    return { operation, method, path, fields };
  });
  if (jq !== undefined) return applyJq(operations, jq, io);
  if (json || field !== undefined) return recordText(operations, field);
  return operations
    .map(({ operation, method, path, fields }) => {
      const names = fields.length > 0 ? `    ${fields.join(' ')}\n` : '';
      return `${operation.padEnd(28)}${method.padEnd(7)}${path}\n${names}`;
    })
    .join('');
}

/** An operation in the contract, with the parameters from the given path. */
interface KnownOperation {
  readonly endpoint: Endpoint;
  readonly params: Record<string, string>;
  readonly query: Record<string, unknown>;
}

/** The target of a call: an operation, or a path outside the contract. */
type Target = KnownOperation | { readonly endpoint?: undefined; readonly method: Method; readonly path: string };

const methodOf = (word: string): Method | undefined => methods.find(method => method === word.toUpperCase());

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new CommandError(`${text} is not a valid percent-encoded path.`);
  }
}

/** The endpoint for a path. If several match, the one with the fewest placeholders wins, as on a server. */
function targetOfPath(method: Method, path: string): Target {
  const [pathname = '', ...search] = path.split('?');
  const found = all
    .filter(endpoint => endpoint.method === method)
    .flatMap(endpoint => {
      const pattern = endpoint.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
      const match = new RegExp(`^${pattern}$`).exec(pathname);
      return match ? [{ endpoint, groups: match.groups ?? {} }] : [];
    })
    .sort((left, right) => Object.keys(left.groups).length - Object.keys(right.groups).length)[0];
  if (!found) return { method, path };
  const { endpoint, groups } = found;
  const params = Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodePath(value)]));
  const asked = [...new URLSearchParams(search.join('?'))];
  checkOnce(asked.map(([name]) => name));
  const query = Object.fromEntries(asked.map(([name, value]) => [name, valueFor(endpoint.query, name, value)]));
  return { endpoint, params, query };
}

/** @throws CommandError if the words name neither an operation nor a path on the service */
function targetOf(words: readonly string[], flags: Flags): { target: Target; rest: readonly string[] } {
  const first = methodOf(words[0] ?? '');
  const [word = '', ...rest] = first ? words.slice(1) : words;
  if (first && flags.method) throw new CommandError('Give the method once: before the path, or with --method.');
  if (first && word === '') throw new CommandError(`${first} needs a path, e.g. ${first} /api/v1/benchmarks.`);
  if (word.includes('/')) {
    const hasBody = flags.input !== undefined || flags.body !== undefined || fieldsGiven(rest, flags);
    const path = word.startsWith('/') ? word : `/${word}`;
    return { target: targetOfPath(first ?? flags.method ?? (hasBody ? 'POST' : 'GET'), path), rest };
  }
  if (first || !Object.hasOwn(endpoints, word)) {
    const what = first ? `path ${word}: paths begin with a slash` : `operation ${word}`;
    const hint = first ? '' : didYouMean(word, Object.keys(endpoints));
    throw new CommandError(`The service has no ${what}. ${hint || 'benchtop api lists the operations.'}`);
  }
  if (flags.method) throw new CommandError(`--method is for paths: ${word} has its own.`);
  return { target: { endpoint: endpoints[word as Operation], params: {}, query: {} }, rest };
}

/** The value for a field: the text itself, or the JSON in it. The service layer checks the result. */
function valueFor(schema: z.ZodMiniType | undefined, name: string, text: string): unknown {
  const field = own(schemaFields(schema), name);
  return !field || field.safeParse(text).success ? text : fieldValue(name, text);
}

type Flags = CommandInput<'api'>['flags'];

/** The words with a full URL replaced by its path. @throws CommandError as `pathOf` does */
async function withPath(words: readonly string[], flags: Flags, io: CommandIo): Promise<readonly string[]> {
  const at = methodOf(words[0] ?? '') ? 1 : 0;
  const word = words[at] ?? '';
  return isAddress(word) ? words.with(at, await pathOf(word, flags, io)) : words;
}

interface CallInput extends Pick<KnownOperation, 'params' | 'query'> {
  readonly body: object | undefined;
}

/** Puts each field into the path, the query or the body, as the endpoint declares it. */
function fill({ endpoint, params, query }: KnownOperation, inputs: readonly Field[], whole: unknown): CallInput {
  const fields = {
    path: new Map<string, string>(),
    query: new Map<string, unknown>(),
    body: new Map<string, unknown>(),
  };
  const inPath = pathNames(endpoint.path);
  checkOnce([...Object.keys({ ...params, ...query }), ...inputs.map(({ name }) => name)]);
  for (const { name, value, isLoose } of inputs) {
    const typed = (schema: z.ZodMiniType | undefined) => (isLoose ? valueFor(schema, name, String(value)) : value);
    if (inPath.includes(name)) fields.path.set(name, String(value));
    else if (Object.hasOwn(schemaFields(endpoint.query), name)) {
      // Text takes its type from the contract, regardless of its flag.
      fields.query.set(name, typeof value === 'string' ? valueFor(endpoint.query, name, value) : value);
    } else if (endpoint.body) fields.body.set(name, typed(endpoint.body));
    else throw new CommandError(`${endpoint.operation} has no ${name}.`);
  }
  const filled = {
    params: { ...params, ...Object.fromEntries(fields.path) },
    query: { ...query, ...Object.fromEntries(fields.query) },
  };
  const missing = inPath.find(name => !own(filled.params, name));
  if (missing) throw new CommandError(`${endpoint.operation} needs ${missing}=….`);
  if (!endpoint.body) {
    if (whole === undefined) return { ...filled, body: undefined };
    throw new CommandError(`${endpoint.operation} has no body.`);
  }
  if (whole !== undefined && !isRecord(whole))
    throw new CommandError(`The body of ${endpoint.operation} is a JSON object.`);
  return { ...filled, body: { ...whole, ...Object.fromEntries(fields.body) } };
}

interface PreparedRequest {
  /** Returns the parsed response for an operation, or the raw text for any other path. */
  readonly send: (service: Service, options: CallOptions) => Promise<unknown>;
  /** Prints the request instead of sending it, for --dry-run. */
  readonly preview: (service: Service) => readonly Preview[];
}

function requestOfKnown(
  known: KnownOperation,
  fields: readonly Field[],
  text: string | undefined,
  flags: Flags,
  io: CommandIo,
): PreparedRequest {
  const { endpoint } = known;
  const { params, query, body } = fill(known, fields, parsedBody(text));
  if (body && 'stream' in body && body.stream) {
    throw new CommandError('This response is a stream, not JSON. Use benchtop chat.');
  }
  if (flags.paginate && !(endpoint.method === 'GET' && Object.hasOwn(schemaFields(endpoint.query), 'cursor'))) {
    throw new CommandError(`${endpoint.operation} is not a list: --paginate is for lists.`);
  }
  const send: PreparedRequest['send'] = (service, options) => {
    const call = (cursor?: string): Promise<unknown> =>
      untypedCall(service)(
        endpoint.operation as Operation,
        { params, query: cursor === undefined ? query : { ...query, cursor }, body },
        options,
      );
    return flags.paginate ? everyItem(call, io) : call();
  };
  return { send, preview: service => service.describe(noting => send(noting, {})) };
}

/** The request for a path. The fields go into the query for a GET, or if a whole body is given as well. */
function requestOfPath(
  { method, path }: Extract<Target, { path: string }>,
  fields: readonly Field[],
  text: string | undefined,
  { paginate }: Flags,
): PreparedRequest {
  if (paginate) throw new CommandError('--paginate is for lists in the contract: benchtop api names them.');
  if (method === 'GET' && text !== undefined) throw new CommandError('A GET has no body.');
  const inQuery = method === 'GET' || text !== undefined;
  if (!inQuery) checkOnce(fields.map(({ name }) => name));
  const query = new URLSearchParams();
  for (const { name, value } of inQuery ? fields : []) {
    query.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const sign = path.includes('?') ? '&' : '?';
  const json = text ?? JSON.stringify(Object.fromEntries(fields.map(({ name, value }) => [name, value])));
  const body = method === 'GET' || (text === undefined && fields.length === 0) ? undefined : Buffer.from(json);
  const whole = query.size > 0 ? `${path}${sign}${query}` : path;
  return {
    send: (service, options) => service.sendRaw({ method, path: whole, body }, options),
    preview: () => [{ method, path: whole, body: body && (parseJson(body.toString()) ?? body.toString()) }],
  };
}

/** The status line and the headers, without secrets. */
function headText({ status, headers }: AnswerHead): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${sanitiseLine(value)}`);
  return [`HTTP/1.1 ${status} ${statusText(status)}`.trimEnd(), ...lines, '', ''].join('\n');
}

/**
 * The response in the contract's `items` envelope, which some services omit; --paginate joins the items instead. The
 * number of rows that could not be read is noted separately, because the service does not send it.
 */
function inItems(answer: unknown, { response }: Endpoint, paginate: boolean | undefined): unknown {
  if (Array.isArray(answer)) return paginate ? answer : { items: answer };
  if (!rowSchemaOf(response)) return answer;
  const { dropped: _, ...sent } = answer as Page<unknown>;
  return sent;
}

async function printAnswer(
  answer: unknown,
  { field, jq, json, paginate }: Flags,
  { endpoint }: Target,
  io: CommandIo,
): Promise<void> {
  if (!endpoint && !json && field === undefined && jq === undefined) {
    const text = String(answer);
    // Piped output stays as the service sent it.
    if (io.columns === undefined) await io.print(text);
    else if (text !== '') await io.print(`${sanitise(text, { multiline: true }).trimEnd()}\n`);
    return;
  }
  const value = endpoint ? inItems(answer, endpoint, paginate) : parseJson(String(answer));
  if (value === undefined)
    throw new CommandError(
      isTooDeep(String(answer))
        ? `The response is nested deeper than ${deepestJson} levels.`
        : 'The response is not JSON.',
      exitCodes.failed,
    );
  if (jq === undefined)
    await io.print(recordText(value, field, names => !!endpoint && mayHaveField(endpoint.response, names)));
  else await io.print(await applyJq(value, jq, io));
  noteUnreadable(value, io);
}

export async function run({ args, flags }: CommandInput<'api'>, io: CommandIo): Promise<number> {
  if (args.length === 0) {
    await io.print(await listing(flags, io));
    return exitCodes.done;
  }
  const { target, rest } = targetOf(await withPath(args, flags, io), flags);
  const isChange = target.endpoint ? isWrite(target.endpoint) : target.method !== 'GET';
  if (isChange && target.endpoint) checkField(flags, [target.endpoint.response]);
  const fields = await fieldsOf(rest, flags, io);
  const text = await givenBody(flags, io);
  const request = target.endpoint
    ? requestOfKnown(target, fields, text, flags, io)
    : requestOfPath(target, fields, text, flags);
  const token = trajectoryToken(flags, io);
  return withService(flags, io, async ({ service, signal }) => {
    if (flags.dryRun) return printPreviews(request.preview(service), flags.json, io);
    let head: AnswerHead | undefined;
    const onAnswer = (each: AnswerHead): void => {
      head = each;
    };
    const options = { signal, token, idempotencyKey: flags.idempotencyKey, onAnswer };
    if (isChange) io.stopOnSignals?.();
    try {
      const answer = await request.send(service, options);
      if (flags.include && head) await io.print(headText(head));
      await printAnswer(answer, flags, target, io).catch((error: unknown) => {
        if (!isChange || !(error instanceof CommandError)) throw error;
        throw new CommandError(`${error.message} The response was: ${safeJson(answer)}`, exitCodes.failed);
      });
    } catch (error) {
      if (flags.include && head && error instanceof ServiceError) await io.print(headText(head));
      throw error;
    }
    return exitCodes.done;
  });
}

/** The items from every page of a list. */
async function everyItem(call: (cursor?: string) => Promise<unknown>, { note }: CommandIo): Promise<unknown[]> {
  const pages: unknown[][] = [];
  for await (const page of readPages(cursor => call(cursor) as Promise<Page<unknown>>)) {
    pages.push(page.items);
    if (page.isCutOff) note(cutOffMessage);
  }
  return joinedRows(pages);
}
