/** Far below any service's rate limit, yet high enough that no request waits long for another. */
const atOnce = 4;

function* each<Item>(items: Iterable<Item>): Generator<Item, void> {
  yield* items;
}

/**
 * Runs `work` for each item, a few at a time. After a failure, nothing new starts, but running work continues.
 *
 * @throws the first failure
 */
export async function inParallel<Item>(items: Iterable<Item>, work: (item: Item) => Promise<unknown>): Promise<void> {
  const queue = each(items);
  // A loop that ends with an error closes the generator for the other loops too.
  const workOn = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, workOn));
}
