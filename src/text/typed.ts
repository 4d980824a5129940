/** Names that came over the wire and have to be typed to confirm something. */
import { sanitiseLine } from './sanitise.ts';

/** Spaces, marks without a letter, and the blank of the braille block show nothing. */
const seen = /[^\s\p{M}\p{C}\u2800]/u;

const asTyped = (text: string): string => sanitiseLine(text).trim().replaceAll(/\s+/g, ' ');

/** The first of the names that has something to type, as it is shown; `yes` if there is none, so never nothing. */
export function typeable(...names: readonly (string | null | undefined)[]): string {
  return names.map(name => asTyped(name ?? '')).find(name => seen.test(name)) ?? 'yes';
}

/** Whether the answer is the name as it is shown. */
export const isTyped = (answer: string, name: string): boolean => asTyped(answer) === typeable(name);
