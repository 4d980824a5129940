/** Advice with the actual key of a command; nothing if the command is disabled. */
import { useCallback } from 'react';
import type { Advice } from '../../../resources/define.ts';
import { keyLabel } from '../../keys/key.ts';
import { useRouter } from '../../keys/router.tsx';

export type Advise = (advice: Advice | undefined) => string;

/** Returns `: u uploads one`, to append to a message, or an empty string. */
export function useAdvise(): Advise {
  const router = useRouter();
  return useCallback(
    advice => {
      const key = advice && router.keysOf(advice.command)[0];
      return advice && key !== undefined && router.allows(advice.command) ? `: ${keyLabel(key)} ${advice.words}` : '';
    },
    [router],
  );
}
