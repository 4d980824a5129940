/** Caches a value computed from an object for as long as the object lives. */
export function perObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>();
  return key => {
    const cached = made.get(key);
    if (cached) return cached.value;
    const value = make(key);
    made.set(key, { value });
    return value;
  };
}
