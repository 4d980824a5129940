/** A value once it has stopped changing. */
import { useEffect, useState } from 'react';

/** Longer than the pause between the repeats of a held key, shorter than a pause of the user. */
const restMs = 120;

export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (settled === value) return;
    const timer = setTimeout(() => setSettled(value), restMs);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return settled;
}
