/** Describes schema errors in words. It never shows the rejected value, which may be a secret. */
import type * as z from 'zod/mini';
import { isRawJson } from '../base/own-property.ts';
import { clean } from '../text/sanitise.ts';

type Issue = z.core.$ZodIssue;

/** Describes the issues of `value` in one line: `limit must be at most 200; name is missing; and 2 more`. */
export function describeIssues(issues: readonly Issue[], value: unknown, most = 3): string {
  const leaves = issues.flatMap(leavesOf);
  const lines = leaves.slice(0, most).map(leaf => describe(leaf, value));
  if (leaves.length > most) lines.push(`and ${leaves.length - most} more`);
  return lines.join('; ');
}

/** Path of the first issue, e.g. `messages[0].role`. */
export function firstPath(issues: readonly Issue[]): string | undefined {
  const [first] = issues.flatMap(leavesOf);
  if (!first) return undefined;
  return pathOf(first.path) || (first.code === 'unrecognized_keys' ? first.keys[0] : undefined);
}

/** The issues of the union member that came closest, or the union's own if none did. */
function leavesOf(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const inner = issue.errors.find(alternative => alternative.some(({ path }) => path.length > 0));
  return inner?.flatMap(leavesOf).map(leaf => ({ ...leaf, path: [...issue.path, ...leaf.path] })) ?? [issue];
}

const missing = Symbol();

/** The part of a value that an issue is about; `missing` if it is not there. */
function partAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return null;
    if (!Object.hasOwn(at, key)) return missing;
    at = Reflect.get(at, key);
  }
  return at === undefined ? missing : at;
}

/** The requirement for an integer that a number cannot hold; undefined if the issue is about something else. */
export const describeTooLarge = ({ path }: Issue, value: unknown): string | undefined =>
  isRawJson(partAt(value, path)) ? 'must be an integer below 2^53, or it would be rounded' : undefined;

/** `is missing`; undefined if the issue is about something that is there. */
export const describeAbsent = ({ path }: Issue, value: unknown): string | undefined =>
  path.length > 0 && partAt(value, path) === missing ? 'is missing' : undefined;

function describe(issue: Issue, value: unknown): string {
  const absent = describeAbsent(issue, value);
  if (absent !== undefined) return clean`${pathOf(issue.path)} ${absent}`;
  const requirement = describeTooLarge(issue, value) ?? requirementOf(issue);
  if (issue.code !== 'unrecognized_keys') return clean`${pathOf(issue.path) || 'the whole'} ${requirement}`;
  const where = issue.path.length > 0 ? ` in ${pathOf(issue.path)}` : '';
  return clean`unknown field${where}: ${issue.keys.join(', ')}`;
}

const kinds: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['record', 'an object'],
]);

/** The violated requirement, as the rest of a sentence: `must be at most 200`. */
export function requirementOf(issue: Issue): string {
  switch (issue.code) {
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return `must ${sizeOf(issue.origin)} ${issue.inclusive === false ? 'above' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      return `must ${sizeOf(issue.origin)} at most ${issue.maximum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_type':
      return `must be ${kinds.get(issue.expected) ?? issue.expected}`;
    default:
      return 'has the wrong form';
  }
}

function sizeOf(origin: string): string {
  return origin === 'string' || origin === 'array' ? 'have a length of' : 'be';
}

/** A path such as `tasks[3].name`; empty for the whole value. */
export function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
