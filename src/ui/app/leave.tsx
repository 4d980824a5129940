/** Exits the program or switches services; asks first if work would be lost. */

import { errorMessage } from '../../base/errors.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { useConnection } from './connection.ts';
import { lazyWindow } from './lazy.tsx';
import { type Shell, useShell } from './shell-context.tsx';

const LeaveWindow = lazyWindow(async () => (await import('./leave-window.tsx')).LeaveWindow);

export function leaveOrAsk(
  lost: readonly string[],
  { showOverlay }: Pick<Shell, 'showOverlay'>,
  verb: string,
  onLeave: () => void,
): void {
  if (lost.length === 0) onLeave();
  else showOverlay('leave', close => <LeaveWindow verb={verb} lost={lost} onLeave={onLeave} onClose={close} />);
}

/** Returns a function that shows another profile's service. */
export function useShowProfile(): (name: string) => void {
  const workbench = useWorkbench();
  const shell = useShell();
  const { switchTo } = useConnection();
  const show = (name: string): void => {
    try {
      switchTo(name);
    } catch (error) {
      shell.toast({ kind: 'danger', text: errorMessage(error) });
    }
  };
  return name => leaveOrAsk(workbench.unfinishedWork(), shell, `show ${sanitiseLine(name)}`, () => show(name));
}
