/** Copying through the terminal. */
import { useCallback } from 'react';
import { useShell } from './shell-context.tsx';
import { copySequence } from './terminal/clipboard.ts';

/**
 * Returns a function that asks the terminal to copy a string, and shows a notice. The terminal does not reply, so
 * success is unknown.
 */
export function useCopy(): (text: string, what: string) => void {
  const { terminal, toast } = useShell();
  return useCallback(
    (text, what) => {
      const copied = copySequence(text, process.env);
      if (!copied.ok) {
        toast({ kind: 'warning', text: copied.message });
        return;
      }
      terminal.writeRaw(copied.sequence);
      const hint = process.env['TMUX'] ? '. tmux needs `set -g set-clipboard on`' : '';
      toast({ kind: 'info', text: `Sent to the clipboard: ${what}${hint}` });
    },
    [terminal, toast],
  );
}
