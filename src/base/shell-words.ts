/** Splits a line into words as a shell does; nothing is expanded. Pure. */

/** A command line with an unclosed quote. */
export class UnclosedQuoteError extends Error {
  override readonly name = 'UnclosedQuoteError';
}

/** Characters that a backslash escapes within double quotes (POSIX 2.2.3). */
const escapable = /["\\$`]/;

/**
 * The words in a command line: spaces separate them, quotes and backslashes keep them together. `$`, `~` and `*` have
 * no special meaning.
 *
 * @throws UnclosedQuoteError
 */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let index = 0; index < line.length; index += 1) {
    const character = line.charAt(index);
    const next = line.charAt(index + 1);
    if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= '';
    if (character === quote) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (character === '\\' && next !== '' && (quote === '' || (quote === '"' && escapable.test(next)))) {
      word += next;
      index += 1;
    } else word += character;
  }
  if (quote !== '') throw new UnclosedQuoteError(`The command line ends within quotes: there is no closing ${quote}.`);
  if (word !== undefined) words.push(word);
  return words;
}
