/** Asks before the program exits or switches services, if work would be lost. */
import { Text } from 'ink';
import { clean } from '../../text/sanitise.ts';
import { firstLines, wrap } from '../../text/wrap.ts';
import { confirmCommands } from '../keys/general.ts';
import { useKeyOf } from '../keys/router.tsx';
import { Lines } from '../widgets/lines.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { useWindowRoom } from './shell-context.tsx';

interface LeaveWindowProps {
  /** The action, e.g. `quit` or `show prod`. */
  readonly verb: string;
  /** The work that would be lost, in words. */
  readonly lost: readonly string[];
  readonly onLeave: () => void;
  readonly onClose: () => void;
}

export function LeaveWindow({ verb, lost, onLeave, onClose }: LeaveWindowProps) {
  const { styles } = useTheme();
  const keyOf = useKeyOf();
  const { width, inner, height } = useWindowRoom(64);
  const note = wrap('Work on the service continues.', inner);
  const most = height - windowMargin.lines - note.length - 3;
  const shown = firstLines(
    lost.flatMap(words => wrap(clean`- ${words}`, inner)),
    most,
  );
  const lines = [...shown, '', ...note];
  const leave = (): void => {
    onClose();
    onLeave();
  };
  return (
    <Window
      title="This would be interrupted"
      width={width}
      height={lines.length + 2 + windowMargin.lines}
      danger
      bindings={[
        { command: confirmCommands.yes, run: leave },
        { command: confirmCommands.no, run: onClose },
      ]}
    >
      <Lines lines={lines} width={inner} height={lines.length} />
      <Text> </Text>
      <Text>{`${styles.key(`<${keyOf(confirmCommands.no)}>`)} stay   ${styles.key(`<${keyOf(confirmCommands.yes)}>`)} ${styles.danger(verb)}`}</Text>
    </Window>
  );
}
