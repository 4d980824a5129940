/** Several names in a sentence. */

/** Named in a sentence up to so many; the rest is counted. */
const named = 6;

/** The names that a sentence has no room for, a line each and at most `most` of them; none where it names all. */
export function listOf(names: readonly string[], most: number): string[] {
  if (names.length <= named) return [];
  if (names.length <= most) return [...names];
  return [...names.slice(0, most - 1), `and ${names.length - most + 1} more`];
}

export function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, named).join(', ');
  return names.length > named ? `${shown} and ${names.length - named} more` : shown;
}
