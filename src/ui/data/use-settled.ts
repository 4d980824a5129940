/** Waits until the user pauses, so that moving the cursor does not send a request for each row it passes. */
import { useEffect, useState } from 'react';

/** Longer than the key repeat interval, shorter than a pause by the user. */
const restMs = 120;

/** A value once it has stopped changing. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (settled === value) return;
    const timer = setTimeout(() => setSettled(value), restMs);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return settled;
}
