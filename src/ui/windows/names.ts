/** Lists of names in and below a sentence. Pure. */
import { sanitiseLine } from '../../text/sanitise.ts';

/** Maximum number of names in a sentence; the rest is counted. */
const named = 6;

/** The names that do not fit into a sentence, one per line and at most `most`; none if all fit. */
export function listOf(names: readonly string[], most: number): string[] {
  if (names.length <= named) return [];
  if (names.length <= most) return [...names];
  return [...names.slice(0, most - 1), `and ${names.length - most + 1} more`];
}

export function namesOf(names: readonly string[]): string {
  const shown = names
    .slice(0, named)
    .map(name => sanitiseLine(name))
    .join(', ');
  return names.length > named ? `${shown} and ${names.length - named} more` : shown;
}
