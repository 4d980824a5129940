/** Seeded random numbers, the same on every machine. */

interface Prng {
  /** A number in [0, 1). */
  next: () => number;
}

/** mulberry32 (Tommy Ettinger, public domain): 32 bits of state, good enough for sampling words. */
export function createPrng(seed: number): Prng {
  let state = seed >>> 0;
  return {
    next: () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
}

/** The items in random order, always the same for a given seed (Fisher and Yates). */
export function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const { next } = createPrng(seed);
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(next() * (last + 1));
    [order[last], order[other]] = [order[other] as Item, order[last] as Item];
  }
  return order;
}
