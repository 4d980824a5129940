/** Copying through the terminal. */
import { useCallback } from 'react';
import { copySequence } from '../../text/clipboard.ts';
import { useShell } from './shell-context.tsx';

/**
 * Returns a function that asks the terminal to copy a text, and reports it. Whether the terminal does so cannot be
 * known: it does not answer.
 */
export function useCopy(environment: NodeJS.ProcessEnv = process.env): (text: string, what: string) => void {
  const { terminal, toast } = useShell();
  return useCallback(
    (text, what) => {
      const copied = copySequence(text, environment);
      if (!copied.ok) {
        toast({ kind: 'warning', text: copied.message });
        return;
      }
      terminal.writeRaw(copied.sequence);
      const hint = environment['TMUX'] ? '. tmux needs `set -g set-clipboard on`' : '';
      toast({ kind: 'info', text: `Sent to the clipboard: ${what}${hint}` });
    },
    [terminal, toast, environment],
  );
}
