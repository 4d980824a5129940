/** `benchtop api`: any operation of the contract, by its name or its path. */

import { readFile } from 'node:fs/promises';
import type * as z from 'zod/mini';
import type { Endpoint, Page } from '../contract/common.ts';
import { endpoints, type Operation } from '../contract/endpoints.ts';
import { untypedCall } from '../service/index.ts';
import { readPages } from '../service/pagination.ts';
import { errorCode, errorMessage } from '../text/errors.ts';
import { own } from '../text/own.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type CommandIo, readInput } from './io.ts';
import { filtered, recordText } from './output.ts';
import type { Given } from './table/commands.ts';
import { withService } from './with-service.ts';

const all = Object.values(endpoints) as readonly Endpoint[];

function shapeOf(schema: z.ZodMiniType | undefined): Readonly<Record<string, z.ZodMiniType>> {
  return (schema as { shape?: Record<string, z.ZodMiniType> } | undefined)?.shape ?? {};
}

const pathNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** Every operation, a line each. */
function listing(): string {
  const lines = all.map(({ operation, method, path, query, body }) => {
    const names = [...pathNames(path), ...Object.keys(shapeOf(query)), ...Object.keys(shapeOf(body))];
    return `${operation.padEnd(28)}${method.padEnd(7)}${path}\n${names.length > 0 ? `    ${names.join(' ')}\n` : ''}`;
  });
  return lines.join('');
}

interface Target {
  readonly endpoint: Endpoint;
  readonly params: Record<string, string>;
  readonly query: Record<string, unknown>;
}

/** The endpoint whose path it is. The one with the fewest placeholders counts, as it does for a server. */
function targetOfPath(method: string, address: string): Target {
  const { pathname, searchParams } = new URL(address, 'http://service');
  const found = all
    .filter(endpoint => endpoint.method === method.toUpperCase())
    .flatMap(endpoint => {
      const pattern = endpoint.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
      const match = new RegExp(`^${pattern}$`).exec(pathname);
      return match ? [{ endpoint, groups: match.groups ?? {} }] : [];
    })
    .sort((left, right) => Object.keys(left.groups).length - Object.keys(right.groups).length)[0];
  if (!found) {
    throw new CommandError(`The contract has no ${method.toUpperCase()} ${pathname}. benchtop api lists what it has.`);
  }
  const params = Object.fromEntries(
    Object.entries(found.groups).map(([name, value]) => [name, decodeURIComponent(value)]),
  );
  const query = Object.fromEntries(
    [...searchParams].map(([name, value]) => [name, valueFor(found.endpoint.query, name, value)]),
  );
  return { endpoint: found.endpoint, params, query };
}

function targetOf(words: readonly string[]): { target: Target; rest: readonly string[] } {
  const [first = '', second = '', ...others] = words;
  if (/^(get|post|put|delete)$/i.test(first)) return { target: targetOfPath(first, second), rest: others };
  if (!Object.hasOwn(endpoints, first)) {
    throw new CommandError(`The contract has no operation ${first}. benchtop api lists what it has.`);
  }
  return { target: { endpoint: endpoints[first as Operation], params: {}, query: {} }, rest: words.slice(1) };
}

/** A value as its field wants it: the text itself, or what the text is as JSON. The service layer checks what comes out. */
function valueFor(schema: z.ZodMiniType | undefined, name: string, text: string): unknown {
  const field = own(shapeOf(schema), name);
  if (!field || field.safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function readBody(given: string, io: CommandIo): Promise<string> {
  if (given === '-') return readInput(io);
  if (!given.startsWith('@')) return given;
  const path = given.slice(1);
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`The body cannot be read from ${path} (${errorCode(error)}).`);
  });
}

/** @throws CommandError where it cannot be read, or is not JSON */
async function wholeBody(given: string, io: CommandIo): Promise<unknown> {
  const text = await readBody(given, io);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`The body is not JSON: ${errorMessage(error)}`);
  }
}

/** What is sent: what the path and the query say, and the body. */
interface Filled extends Pick<Target, 'params' | 'query'> {
  readonly body: object | undefined;
}

/** Puts every `name=value` where the endpoint has the name: into the path, the query, or else the body. */
function fill({ endpoint, params, query }: Target, pairs: readonly string[], given: unknown): Filled {
  const fields = {
    path: new Map<string, string>(),
    query: new Map<string, unknown>(),
    body: new Map<string, unknown>(),
  };
  const inPath = pathNames(endpoint.path);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new CommandError(`${pair} is not NAME=VALUE.`);
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (inPath.includes(name)) fields.path.set(name, value);
    else if (Object.hasOwn(shapeOf(endpoint.query), name))
      fields.query.set(name, valueFor(endpoint.query, name, value));
    else if (endpoint.body) fields.body.set(name, valueFor(endpoint.body, name, value));
    else throw new CommandError(`${endpoint.operation} has no ${name}.`);
  }
  const filled = {
    params: { ...params, ...Object.fromEntries(fields.path) },
    query: { ...query, ...Object.fromEntries(fields.query) },
  };
  const missing = inPath.find(name => !own(filled.params, name));
  if (missing) throw new CommandError(`${endpoint.operation} needs ${missing}=….`);
  if (!endpoint.body) return { ...filled, body: undefined };
  const base = typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {};
  return { ...filled, body: { ...base, ...Object.fromEntries(fields.body) } };
}

export async function run({ args, flags }: Given<'api'>, io: CommandIo): Promise<number> {
  if (args.length === 0) {
    await io.print(listing());
    return exitCodes.done;
  }
  const { target, rest } = targetOf(args);
  const { endpoint } = target;
  const given = flags.body === undefined ? undefined : await wholeBody(flags.body, io);
  const { params, query, body } = fill(target, rest, given);
  if (body && 'stream' in body && body.stream) {
    throw new CommandError('An answer that streams is no JSON: benchtop chat shows it as it comes.');
  }
  const tokenName = flags.tokenEnv;
  const token = tokenName === undefined ? undefined : own(io.environment, tokenName);
  if (tokenName !== undefined && !token)
    throw new CommandError(`The variable ${tokenName} is not set.`, exitCodes.forbidden);
  if (flags.paginate && !(endpoint.method === 'GET' && Object.hasOwn(shapeOf(endpoint.query), 'cursor'))) {
    throw new CommandError(`${endpoint.operation} does not answer in pages: --paginate is for lists.`);
  }
  return withService(flags, io, async ({ service, signal }) => {
    const options = { signal, token, idempotencyKey: flags.idempotencyKey };
    const call = (cursor?: string): Promise<unknown> =>
      untypedCall(service)(
        endpoint.operation as Operation,
        { params, query: cursor === undefined ? query : { ...query, cursor }, body },
        options,
      );
    const answer = flags.paginate ? await everyItem(call) : await call();
    if (flags.jq === undefined) await io.print(recordText(answer, flags.field));
    else await io.print(await filtered(answer, flags.jq, io));
    return exitCodes.done;
  });
}

/** The items of every page of a list. */
async function everyItem(call: (cursor?: string) => Promise<unknown>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const page of readPages(cursor => call(cursor) as Promise<Page<unknown>>)) items.push(...page.items);
  return items;
}
