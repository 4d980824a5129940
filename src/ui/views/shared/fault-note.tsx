/** What went wrong, beside the data that it concerns. */
import { Box, Text } from 'ink';
import type { Fault } from '../../../queries/fault.ts';
import { safeJson, sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { type Connection, useConnection } from '../../app/connection.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';

/** The lines of a fault: the message, what the service called it, the request id, and its context. */
export function faultLines(fault: Fault, width: number, { styles, glyphs }: Theme): string[] {
  const [first = '', ...rest] = wrap(sanitiseLine(fault.message), width - 2);
  const style = fault.unlisted ? styles.muted : styles.danger;
  const mark = fault.unlisted ? glyphs.bullet : glyphs.cross;
  const names = [fault.code, fault.param && `field ${fault.param}`, fault.requestId && `request ${fault.requestId}`];
  const named = names
    .filter(Boolean)
    .map(name => sanitiseLine(String(name)))
    .join('  ');
  const context = fault.context && Object.keys(fault.context).length > 0 ? safeJson(fault.context) : '';
  return [
    style(`${mark} ${first}`),
    ...rest.map(line => style(`  ${line}`)),
    ...(named === '' ? [] : [styles.muted(truncate(`  ${named}`, width))]),
    ...(context === ''
      ? []
      : wrap(context, width - 2)
          .slice(0, 6)
          .map(line => styles.muted(`  ${line}`))),
  ];
}

/** Where the settings come from that may be what is wrong: the key where it is refused, the address where nobody answers. */
function settingLines(fault: Fault, { origins }: Connection, width: number, { styles }: Theme): string[] {
  const suspect = fault.type === 'authentication_error' || fault.type === 'permission_error' || fault.unreachable;
  if (!suspect || origins.length === 0) return [];
  return [...origins, 'ctrl-k mends them.'].flatMap(words =>
    wrap(sanitiseLine(words), width - 2).map(line => styles.muted(`  ${line}`)),
  );
}

/** A fault in at most `height` lines. */
export function FaultNote({ fault, width, height }: { fault: Fault; width: number; height: number }) {
  const theme = useTheme();
  const connection = useConnection();
  return (
    <Box flexDirection="column" height={height} width={width} overflow="hidden">
      {[...faultLines(fault, width, theme), ...settingLines(fault, connection, width, theme)]
        .slice(0, height)
        .map((line, index) => (
          <Text key={index} wrap="truncate">
            {line}
          </Text>
        ))}
    </Box>
  );
}
