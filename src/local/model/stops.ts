/** Texts that end an answer, found while it is written: inside of a word as well, and over several of its pieces. */

/** Where the first of `stops` begins in a text, looked for from `from` on; -1 where none is in it. */
export function firstStop(text: string, stops: readonly string[], from: number): number {
  const places = stops.map(stop => text.indexOf(stop, from)).filter(place => place >= 0);
  return places.length === 0 ? -1 : Math.min(...places);
}

/** How many characters at the end of a text may turn out to begin a stop once more is written. */
export function undecided(text: string, stops: readonly string[]): number {
  const longest = Math.min(text.length, Math.max(0, ...stops.map(stop => stop.length - 1)));
  for (let length = longest; length > 0; length -= 1) {
    const ending = text.slice(-length);
    if (stops.some(stop => stop.startsWith(ending))) return length;
  }
  return 0;
}
