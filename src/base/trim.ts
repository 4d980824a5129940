/**
 * Removes these characters from the end of a string. Avoids `/x+$/`, which takes quadratic time on a string with a long
 * run in the middle.
 */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
