/** Caches a value computed from an object for as long as the object lives. */
export function perObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const cache = new WeakMap<Key, { readonly value: Value }>();
  return key => {
    const cached = cache.get(key);
    if (cached) return cached.value;
    const value = make(key);
    cache.set(key, { value });
    return value;
  };
}

/** Caches the last value of each object, until one of the inputs that it was computed from is a different one. */
export function perInputs<Key extends object, Value>() {
  const cache = new WeakMap<Key, { readonly inputs: readonly unknown[]; readonly value: Value }>();
  return (key: Key, inputs: readonly unknown[], make: () => Value): Value => {
    const cached = cache.get(key);
    if (cached?.inputs.every((input, index) => input === inputs[index])) return cached.value;
    const value = make();
    cache.set(key, { inputs, value });
    return value;
  };
}

/** Caches the results of an expensive pure function. Keeps at most `most` of them, dropping the oldest first. */
export function perArguments<Arguments extends readonly (number | string | undefined)[], Value>(
  make: (...values: Arguments) => Value,
  most = 2_000,
): (...values: Arguments) => Value {
  const cache = new Map<string, Value>();
  return (...values) => {
    const key = values.join();
    if (cache.has(key)) return cache.get(key) as Value;
    // A map keeps its keys in the order they were added.
    for (const oldest of cache.keys()) {
      if (cache.size < most) break;
      cache.delete(oldest);
    }
    const value = make(...values);
    cache.set(key, value);
    return value;
  };
}
