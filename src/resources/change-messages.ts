/** The messages shown before and after a change, the same on screen and on the command line. */
import { capitalised } from '../base/capitalised.ts';
import { enumerated } from '../base/enumerated.ts';
import { counted } from '../text/numbers.ts';
import type { Change, Outage } from './action.ts';
import { asTitle, pluralName, type Resource, singularName } from './define.ts';

/** How many rows of a resource were changed. */
interface ChangedCount {
  readonly change: Pick<Change<never>, 'confirmTitle' | 'verb'>;
  readonly resource: Pick<Resource, 'names'>;
  readonly count: number;
}

/** `Cancel this run?`, `Cancel 2 runs?`, `Cancel 2 training runs and 1 run?` */
export function changeTitle(...parts: readonly [ChangedCount, ...ChangedCount[]]): string {
  const [{ change, resource, count }, ...others] = parts;
  if (others.length === 0 && change.confirmTitle) return change.confirmTitle(count);
  const object =
    others.length === 0 && count === 1
      ? `this ${singularName(resource)}`
      : enumerated(parts.map(each => counted(each.count, singularName(each.resource), pluralName(each.resource))));
  return `${asTitle(change.verb)} ${object}?`;
}

/** The slugs that lose, or may lose, their deployment or its origin. */
export const outagesOf = <Row>(
  rows: readonly { readonly action: { readonly change: Pick<Change<Row>, 'outages'> }; readonly row: Row }[],
): readonly Outage[] => rows.flatMap(({ action, row }) => action.change.outages?.(row) ?? []);

/** The text that the user types to confirm; undefined if nothing is at risk. */
export const typedFor = (outages: readonly Outage[]): string | undefined =>
  outages.length === 0 ? undefined : [...new Set(outages.map(({ slug }) => slug))].join(' ');

/** A warning about the slugs that lose, or may lose, their deployment or its origin; empty if there are none. */
export function describeOutages(outages: readonly Outage[]): string {
  const namesOf = (isCertain: boolean, losesOrigin: boolean, ofTests = false): string =>
    outages
      .filter(each => each.isCertain === isCertain && (each.origin !== undefined) === losesOrigin)
      .filter(({ isTest = false }) => (isCertain && isTest) === ofTests)
      .map(({ slug, origin }) => origin ?? slug)
      .join(', ');
  const [sure, unsure] = [namesOf(true, false), namesOf(false, false)];
  const tests = namesOf(true, false, true);
  const [sureOrigins, unsureOrigins] = [namesOf(true, true), namesOf(false, true)];
  const nothing = 'nothing answers there until another deployment is promoted. ';
  const origin = 'it keeps answering, but its origin is lost: it cannot be evaluated or deployed again. ';
  return [
    sure && `In production: ${sure}. ${capitalised(nothing)}`,
    tests && `Active, role test: ${tests}. ${capitalised(nothing)}`,
    unsure && `May be in production: ${unsure}. If so, ${nothing}`,
    sureOrigins && `In production: ${sureOrigins}. ${capitalised(origin)}`,
    unsureOrigins && `A checkpoint may be in production: ${unsureOrigins}. If so, ${origin}`,
  ].join('');
}

/** A changed row and the response, if any. */
export interface Changed {
  readonly name: string;
  readonly answer: unknown;
}

/** `Cancelled first, second`; `first: torn down; the service kept its record` */
export function describeDone(
  {
    successMessage,
    participle,
    partialOutcome,
  }: Pick<Change<never>, 'successMessage' | 'participle' | 'partialOutcome'>,
  rows: readonly Changed[],
  join: (names: readonly string[]) => string,
): string {
  const byMessage = Map.groupBy(rows, ({ answer }) => partialOutcome?.(answer));
  const sentences = [...byMessage].map(([words, group]) => {
    const names = join(group.map(({ name }) => name));
    if (words !== undefined) return `${names}: ${words}`;
    return successMessage ? successMessage(names) : `${asTitle(participle)} ${names}`;
  });
  return sentences.join('. ');
}
