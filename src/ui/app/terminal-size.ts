/** The size of the terminal, for layouts. */
import { useStdout, type WindowSize } from 'ink';
import { useCallback, useSyncExternalStore } from 'react';

/**
 * The size of the terminal; the caller is redrawn when it changes. Ink's `useWindowSize` also redraws once after the
 * first frame, although the size is the same.
 */
export function useTerminalSize(): WindowSize {
  // Ink passes a terminal, but its type allows any stream.
  const stdout = useStdout().stdout as NodeJS.WriteStream;
  const subscribe = useCallback(
    (changed: () => void) => {
      stdout.on('resize', changed);
      return () => void stdout.off('resize', changed);
    },
    [stdout],
  );
  const columns = useSyncExternalStore(subscribe, () => stdout.columns);
  const rows = useSyncExternalStore(subscribe, () => stdout.rows);
  return { columns, rows };
}
