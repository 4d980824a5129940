/** Several things named in a sentence. */

/** Named in full up to so many; the rest is counted. */
const named = 6;

export function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, named).join(', ');
  return names.length > named ? `${shown} and ${names.length - named} more` : shown;
}
