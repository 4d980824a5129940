/** Asks before the program is left while something would be cut short. */
import { Text } from 'ink';
import { sanitiseLine } from '../../text/sanitise.ts';
import { wrap } from '../../text/wrap.ts';
import { confirmCommands } from '../keys/general.ts';
import { KeyScope } from '../keys/router.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { useShell } from './shell-context.tsx';

export interface QuitWindowProps {
  /** What is under way, in words. */
  readonly busy: readonly string[];
  readonly onClose: () => void;
}

export function QuitWindow({ busy, onClose }: QuitWindowProps) {
  const { layout, terminal } = useShell();
  const { styles } = useTheme();
  const width = Math.min(layout.columns - 4, 64);
  const question = `${busy.join(' and ')} would stop here. What was sent is kept, and sending again goes on from there. What runs on the service goes on anyway.`;
  const lines = wrap(sanitiseLine(question), width - windowMargin.columns);
  return (
    <KeyScope
      modal
      bindings={[
        { command: confirmCommands.yes, run: () => terminal.quit() },
        { command: confirmCommands.no, run: onClose },
      ]}
    >
      <Window title="Quit?" width={width} height={lines.length + 2 + windowMargin.lines} danger>
        {lines.map((line, index) => (
          <Text key={index}>{line}</Text>
        ))}
        <Text> </Text>
        <Text>{`${styles.key('<esc>')} stay   ${styles.key('<y>')} ${styles.danger('quit')}`}</Text>
      </Window>
    </KeyScope>
  );
}
