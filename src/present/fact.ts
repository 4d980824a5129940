/** Facts: a record as labels and values, for the inspector, `benchtop get` and line mode. Pure. */
import type { RunFailure } from '../contract/common.ts';
import { unreadableFields } from '../contract/lists.ts';
import { formatStatus } from '../contract/status.ts';
import { asReceived } from '../text/numbers.ts';
import { compact } from './other-fields.ts';

/** Another resource that a value names and that can be opened. */
export interface Reference {
  /** The first of its resource's names, e.g. `training`. */
  readonly resource: string;
  readonly id: string;
  /** Its parent's id, e.g. a checkpoint's training run, if known. */
  readonly within?: string | undefined;
}

export interface Fact {
  readonly label: string;
  /** Need not be safe for a terminal. Facts without a value are left out. */
  readonly value: string | number | undefined | null;
  /** The value for a file or a program, if it differs. */
  readonly exported?: string | undefined;
  /** Its group's title, e.g. `Rewards`; facts without a group come first. */
  readonly group?: string | undefined;
  /** The resource that the value names, if any. */
  readonly refers?: Reference | undefined;
}

/** A fact that names another resource by its id. */
export function referenceFact(
  label: string,
  resource: string,
  id: string | null | undefined,
  within?: string | null,
): Fact {
  return { label, value: id, ...(id && { refers: { resource, id, ...(within && { within }) } }) };
}

/** The fields that could not be read, as the service sent them. */
export function unreadableFacts(row: { readonly [unreadableFields]?: unknown }): readonly Fact[] {
  const fields = row[unreadableFields];
  return fields === undefined ? [] : [{ label: 'unreadable', value: compact(fields) }];
}

/** The facts that have a value. */
export function withValue(facts: readonly Fact[]): readonly Fact[] {
  return facts.filter(({ value }) => value !== undefined && value !== null && value !== '');
}

/** A status in words; without a value if the service sent no status. */
export function statusFact(label: string, status: string | null | undefined): Fact {
  return { label, value: status && formatStatus(status), exported: status ?? undefined };
}

interface Remarks {
  readonly warnings?: readonly string[] | null | undefined;
  readonly ignored_options?: readonly string[] | null | undefined;
  readonly waits_because?: string | null | undefined;
}

/** Why a run is waiting, its warnings, and its ignored options. */
export function warningFacts({ warnings, ignored_options: ignored, waits_because }: Remarks): readonly Fact[] {
  return [
    { label: 'waits', value: waits_because },
    ...(warnings ?? []).map(value => ({ label: 'warning', value })),
    { label: 'ignored options', value: ignored?.join(', ') },
  ];
}

/** A run's options, one per line. */
export function optionLines(options: Readonly<Record<string, unknown>> | null | undefined): string {
  return Object.entries(options ?? {})
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${asReceived(value)}`)
    .join('\n');
}

/** A failure with its context, which is often the only helpful part. */
export function failureFacts(failure: RunFailure | null | undefined): readonly Fact[] {
  if (!failure) return [];
  const context = failure.context && Object.keys(failure.context).length > 0 ? failure.context : undefined;
  return [
    { label: 'failed', value: failure.message },
    { label: 'type', value: failure.type },
    { label: 'code', value: failure.code },
    { label: 'context', value: context && JSON.stringify(context) },
  ];
}
