/** Advice with a command's actual key; empty if the command is disabled. */
import { useCallback } from 'react';
import type { Command } from '../../../present/command.ts';
import type { Advice } from '../../../resources/define.ts';
import { counted } from '../../../text/numbers.ts';
import { clean } from '../../../text/sanitise.ts';
import { keyLabel } from '../../keys/key.ts';
import { useRouter } from '../../keys/router.tsx';

export type Advise = (advice: Advice | undefined) => string;

/** Names the latest interrupted upload, and the key that resumes it; none if all are complete. */
export function describeUnfinished<Upload>(
  [last, ...others]: readonly Upload[],
  nameOf: (upload: Upload) => string,
  resume: Command,
  advise: Advise,
): readonly string[] {
  if (!last) return [];
  const more = others.length === 0 ? '' : `, and ${counted(others.length, 'other')}`;
  const words = clean`The upload of ${nameOf(last)}${more} was not finished. Progress is kept`;
  return [`${words}${advise({ command: resume, words: 'resumes it' })}`];
}

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
