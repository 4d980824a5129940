/** Finds the files that a refusal names. Services say it in their own words, so that the names themselves are looked for. */

/** Words of a name at most, and characters of a text that is looked through. */
const longestName = 12;
const longestText = 2_000;
const mostTexts = 100_000;

/** Every text in a value, however deep. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value.slice(0, longestText);
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* textsIn(item);
}

/** The paths that stand as words in the value, in quotes or not, each once. */
export function pathsNamedIn(value: unknown, paths: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  let texts = 0;
  for (const text of textsIn(value)) {
    texts += 1;
    if (texts > mostTexts) break;
    const words = text.split(/\s+/);
    for (let first = 0; first < words.length; first += 1) {
      for (let last = first; last < Math.min(words.length, first + longestName); last += 1) {
        const run = words.slice(first, last + 1).join(' ');
        for (const name of [run, run.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')]) {
          if (paths.has(name)) found.add(name);
        }
      }
    }
  }
  return [...found];
}
