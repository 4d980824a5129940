/** The words before and after a change, the same on screen and on the command line. */
import type { Change } from './action.ts';
import { asTitle, type Resource, wordFor, wordsFor } from './define.ts';

/** `Cancel this run?`, `Cancel 2 runs?` */
export function changeTitle({ asks, verb }: Change<never>, resource: Pick<Resource, 'names'>, count: number): string {
  if (asks) return asks(count);
  return `${asTitle(verb)} ${count === 1 ? `this ${wordFor(resource)}` : `${count} ${wordsFor(resource)}`}?`;
}

/** What it takes out of production, in words; empty if nothing. */
export function outageWords(slugs: readonly string[] | undefined): string {
  if (!slugs?.length) return '';
  return `In production: ${slugs.join(', ')}. Nothing answers there until another deployment is promoted. `;
}

/** `Cancelled first, second` */
export function doneWords({ says, past }: Change<never>, names: string): string {
  return says ? says(names) : `${asTitle(past)} ${names}`;
}

/** What will be lost, as a sentence. */
export const asSentence = (loses: string): string => `${loses.charAt(0).toUpperCase()}${loses.slice(1)}`;
