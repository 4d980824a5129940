/**
 * The text without these characters at its end. A loop, because a search for `/x+$/` reads every run of them again from
 * each of its characters.
 */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
