/** The messages before and after a change, the same on screen and on the command line. */
import type { Change, Outage } from './action.ts';
import { asTitle, type Resource, wordFor, wordsFor } from './define.ts';

/** `Cancel this run?`, `Cancel 2 runs?` */
export function changeTitle({ asks, verb }: Change<never>, resource: Pick<Resource, 'names'>, count: number): string {
  if (asks) return asks(count);
  return `${asTitle(verb)} ${count === 1 ? `this ${wordFor(resource)}` : `${count} ${wordsFor(resource)}`}?`;
}

export const outagesOf = <Row>({ outage }: Change<Row>, rows: readonly Row[]): readonly Outage[] =>
  rows.flatMap(row => outage?.(row) ?? []);

/** What the user types to confirm; undefined without an outage. */
export const typedFor = (outages: readonly Outage[]): string | undefined =>
  outages.length === 0 ? undefined : outages.map(({ slug }) => slug).join(' ');

/** A warning about the slugs that lose their deployment, or may; empty if there are none. */
export function outageWords(outages: readonly Outage[]): string {
  const { true: sure = [], false: unsure = [] } = Object.groupBy(outages, ({ isCertain }) => `${isCertain}` as const);
  const named = (of: readonly Outage[]): string => of.map(({ slug }) => slug).join(', ');
  const nothing = 'othing answers there until another deployment is promoted. ';
  return [
    sure.length === 0 ? '' : `In production: ${named(sure)}. N${nothing}`,
    unsure.length === 0 ? '' : `Not known whether in production: ${named(unsure)}. If so, n${nothing}`,
  ].join('');
}

/** A changed row with its response, if any. */
export interface Changed {
  readonly name: string;
  readonly answer: unknown;
}

/** `Cancelled first, second`; `first: torn down; the service kept its record` */
export function doneWords(
  { says, past, less }: Change<never>,
  rows: readonly Changed[],
  join: (names: readonly string[]) => string,
): string {
  const byWords = Map.groupBy(rows, ({ answer }) => less?.(answer));
  const sentences = [...byWords].map(([words, group]) => {
    const names = join(group.map(({ name }) => name));
    if (words !== undefined) return `${names}: ${words}`;
    return says ? says(names) : `${asTitle(past)} ${names}`;
  });
  return sentences.join('. ');
}

/** Capitalises a warning. */
export const asSentence = (loses: string): string => `${loses.charAt(0).toUpperCase()}${loses.slice(1)}`;
