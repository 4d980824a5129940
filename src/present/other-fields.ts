/** Writes the fields that are not in the contract, one per line. Pure. */
import { describeBinary } from './attachments.ts';

export function otherFields(row: object, known: ReadonlySet<string>): readonly string[] {
  return Object.entries(row)
    .filter(([name, value]) => !known.has(name) && !isEmpty(value))
    .map(([name, value]) => `${name}: ${compact(value)}`);
}

/** A value on one line, as JSON unless it is a string. Binary content is replaced with its size. */
export function compact(value: unknown): string {
  const shown = (each: unknown): unknown => {
    const binary = typeof each === 'string' ? describeBinary(each) : undefined;
    return binary === undefined ? each : `[${binary}]`;
  };
  if (typeof value === 'string') return String(shown(value));
  return JSON.stringify(value, (_, each: unknown) => shown(each));
}

export function isEmpty(value: unknown): boolean {
  return value == null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}
