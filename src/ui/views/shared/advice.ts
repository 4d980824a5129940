/** What a key would do about something, by the key that it really has; nothing if the command may not be used. */
import { useCallback } from 'react';
import type { Advice } from '../../../resources/define.ts';
import { keyLabel } from '../../keys/key.ts';
import { useRouter } from '../../keys/router.tsx';

export type Advise = (advice: Advice | undefined) => string;

/** Returns `: u uploads one`, to be put behind what it is about, or an empty text. */
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
