/** Seeded random numbers, the same on every machine, for values that need not shrink. */
import { hashOf } from '../../src/base/hash.ts';
import { createPrng } from '../../src/base/prng.ts';

export class Random {
  /** A number in [0, 1). */
  readonly next: () => number;

  constructor(seed: string | number) {
    this.next = createPrng(hashOf(String(seed))).next;
  }

  /** A whole number from `low` to `high`, inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** @throws RangeError if there is nothing to choose from */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** Chooses by weight. */
  weighted<Item>(items: readonly (readonly [weight: number, item: Item])[]): Item {
    let left = this.next() * items.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    return this.pick(items)[1];
  }
}
