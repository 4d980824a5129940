/** What is said of a change before and after it, the same on every way to it. */
import type { Change } from './action.ts';
import { asTitle, type Resource, wordFor, wordsFor } from './define.ts';

/** `Cancel this run?`, `Cancel 2 runs?` */
export function changeTitle({ asks, verb }: Change<never>, resource: Pick<Resource, 'names'>, count: number): string {
  if (asks) return asks(count);
  return `${asTitle(verb)} ${count === 1 ? `this ${wordFor(resource)}` : `${count} ${wordsFor(resource)}`}?`;
}

/** What stops with it in production; empty if nothing does. */
export function outageWords(slugs: readonly string[] | undefined): string {
  if (!slugs?.length) return '';
  return `In production: ${slugs.join(', ')}. Nothing answers there until another deployment is promoted. `;
}

/** `Cancelled first, second` */
export function doneWords({ says, past }: Change<never>, names: string): string {
  return says ? says(names) : `${asTitle(past)} ${names}`;
}

/** What is lost, as a sentence of its own. */
export const asSentence = (loses: string): string => `${loses.charAt(0).toUpperCase()}${loses.slice(1)}`;
