/** Input for `benchtop api`: individual fields, or a whole body. */

import { readFile } from 'node:fs/promises';
import { errorCode, errorMessage } from '../base/errors.ts';
import { jsonOrText } from '../base/json-depth.ts';
import { originOf } from '../config/address.ts';
import { loadConfig } from '../config/load.ts';
import { CommandError } from './exit.ts';
import { type CommandIo, readInput } from './io.ts';
import { checkNumbers } from './parse.ts';
import type { CommandInput } from './table/commands.ts';
import { configFlags } from './table/flags.ts';

type Flags = CommandInput<'api'>['flags'];

/** A field from the command line: plain text, or a typed value. */
export interface Field {
  readonly name: string;
  readonly value: unknown;
  /** Whether the endpoint decides the type. */
  readonly isLoose: boolean;
}

export const fieldsGiven = (pairs: readonly string[], { rawField = [], typedField = [] }: Flags): boolean =>
  pairs.length + rawField.length + typedField.length > 0;

function splitPair(pair: string): [name: string, text: string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new CommandError(`${pair} is not NAME=VALUE.`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/** @throws CommandError if a name is given twice: only one of its values would be sent */
export function checkOnce(names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new CommandError(`${repeated} is given twice. Nothing was sent.`);
}

/** The JSON value of a field's text, or the text itself. @throws CommandError if a number in it would be rounded */
export function fieldValue(name: string, text: string): unknown {
  const value = jsonOrText(text);
  if (typeof value !== 'string') checkNumbers(name, text);
  return value;
}

/** `-F`: a file's content, standard input, a JSON value, or plain text. */
async function typedValue(name: string, text: string, io: CommandIo): Promise<unknown> {
  return text.startsWith('@') ? readFrom(text.slice(1), io) : fieldValue(name, text);
}

export async function fieldsOf(
  pairs: readonly string[],
  { rawField = [], typedField = [] }: Flags,
  io: CommandIo,
): Promise<Field[]> {
  const asText = (pair: string, isLoose: boolean): Field => {
    const [name, value] = splitPair(pair);
    return { name, value, isLoose };
  };
  const fields = [...pairs.map(pair => asText(pair, true)), ...rawField.map(pair => asText(pair, false))];
  for (const [name, text] of typedField.map(splitPair)) {
    fields.push({ name, value: await typedValue(name, text, io), isLoose: false });
  }
  return fields;
}

/** @param path a file; `-` is standard input */
function readFrom(path: string, io: CommandIo): Promise<string> {
  if (path === '-') return readInput(io);
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`The body cannot be read from ${path} (${errorCode(error)}).`);
  });
}

/** The content of --body or --input. */
export async function givenBody({ body, input }: Flags, io: CommandIo): Promise<string | undefined> {
  if (input !== undefined) return readFrom(input, io);
  if (body === undefined) return undefined;
  return body === '-' || body.startsWith('@') ? readFrom(body.replace(/^@/, ''), io) : body;
}

/**
 * Parses JSON. Leaves out the parser's message, which may quote a secret.
 *
 * @throws CommandError if it is not JSON, or has a number that would be rounded
 */
export function parsedBody(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  checkNumbers('the body', text);
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = /\(line \d+ column \d+\)|position \d+/.exec(errorMessage(error))?.[0].replaceAll(/[()]/g, '');
    throw new CommandError(`The body is not JSON${place === undefined ? '' : `, at ${place}`}. Nothing was sent.`);
  }
}

/** Whether this is a full URL rather than a path. */
export const isAddress = (word: string): boolean => /^[\w+.-]+:\/\//.test(word);

/**
 * The path from a full URL, which must point to the service: credentials go nowhere else.
 *
 * @throws CommandError for any other host
 */
export async function pathOf(address: string, flags: Flags, io: CommandIo): Promise<string> {
  const { profile, paths } = loadConfig(configFlags(flags), io.environment);
  const base =
    profile.service.kind === 'remote'
      ? profile.service.baseUrl.value
      : (await (await import('../local/daemon/client.ts')).findService(paths.data))?.baseUrl;
  const [requested, ours] = [address, base ?? ''].map(each => (URL.canParse(each) ? new URL(each) : undefined));
  const folder = ours?.pathname.replace(/\/$/, '') ?? '';
  if (
    requested &&
    ours &&
    originOf(requested) === originOf(ours) &&
    requested.username === '' &&
    requested.pathname.startsWith(`${folder}/`)
  ) {
    return `${requested.pathname.slice(folder.length)}${requested.search}`;
  }
  const where = base === undefined ? 'the local service, which is not running' : `the service at ${base}`;
  throw new CommandError(
    `${requested?.host ?? address} is not ${where}. Nothing was sent. Give only the path, e.g. /api/v1/benchmarks.`,
  );
}
