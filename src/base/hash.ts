/** A hash of a text as an unsigned 32-bit number (FNV-1a, Fowler, Noll and Vo): the same text, the same number. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
