/** Lists of names, in a sentence and below it. Pure. */
import { sanitiseLine } from '../../text/sanitise.ts';

/** Maximum number of names in a sentence; the others are only counted. */
const maxNamed = 6;

/** If not all names fit into a sentence: up to `most` lines with one name each. Otherwise none. */
export function listOf(names: readonly string[], most: number): string[] {
  if (names.length <= maxNamed) return [];
  if (names.length <= most) return [...names];
  return [...names.slice(0, most - 1), `and ${names.length - most + 1} more`];
}

/** The names, each followed by the id if several rows share the name. */
export function distinctNames(rows: readonly { readonly name: string; readonly id: string }[]): string[] {
  const counts = new Map<string, number>();
  for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1);
  return rows.map(({ name, id }) => (counts.get(name) === 1 || name === id ? name : `${name} (${id})`));
}

export function namesOf(names: readonly string[]): string {
  const shown = names
    .slice(0, maxNamed)
    .map(name => sanitiseLine(name))
    .join(', ');
  return names.length > maxNamed ? `${shown} and ${names.length - maxNamed} more` : shown;
}
