/** A number typed before a key, as in vi: `15G`. Any other key drops it. */
import { useEffect, useRef, useState } from 'react';
import type { KeyPress } from '../../keys/key.ts';
import { useRouter } from '../../keys/router.tsx';

export interface TypedNumber {
  /** The digits so far. */
  readonly typed: string;
  readonly press: (press: KeyPress) => void;
  /** The number typed just before the current key; undefined if there is none. */
  readonly take: () => number | undefined;
}

/** Maximum digits of a step's number. */
const mostDigits = 9;

export function useTypedNumber(): TypedNumber {
  const { onPress } = useRouter();
  const [typed, setTyped] = useState('');
  // Refs, because several keys may come before the next render.
  const digits = useRef('');
  const before = useRef('');
  useEffect(
    () =>
      onPress(() => {
        before.current = digits.current;
        digits.current = '';
        setTyped('');
      }),
    [onPress],
  );
  return {
    typed,
    press: ({ name }) => {
      digits.current = (before.current + name).slice(-mostDigits);
      setTyped(digits.current);
    },
    take: () => (before.current === '' ? undefined : Number(before.current)),
  };
}
