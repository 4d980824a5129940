/** What went wrong, beside the data that it concerns. */
import { Box, Text } from 'ink';
import type { Failure } from '../../../contract/errors.ts';
import type { Fault } from '../../../queries/fault.ts';
import { safeJson, sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { type Connection, useConnection } from '../../app/connection.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';

/** Failures of a batch that are shown by their own words. */
const shownFailures = 6;

function failureWords({ item_index, message, code }: Failure): string {
  const which = item_index == null ? '' : `item ${item_index}: `;
  return sanitiseLine(`${which}${message ?? code ?? 'not described'}`);
}

/** The lines of a fault: the message, what the service called it, the request id, and its context. */
export function faultLines(fault: Fault, width: number, { styles, glyphs }: Theme): string[] {
  const [first = '', ...rest] = wrap(sanitiseLine(fault.message), width - 2);
  const style = fault.unlisted ? styles.muted : styles.danger;
  const mark = fault.unlisted ? glyphs.bullet : glyphs.cross;
  const names = [fault.code, fault.param && `field ${fault.param}`, fault.requestId && `request ${fault.requestId}`];
  // What a service does not offer is no fault: there is nothing to report.
  const named = (fault.unlisted ? [] : names)
    .filter(Boolean)
    .map(name => sanitiseLine(String(name)))
    .join('  ');
  // The first failure is in the message, with how many there are.
  const failures = (fault.failures ?? []).slice(1, shownFailures);
  const { failures: _, ...others } = fault.context ?? {};
  const context = Object.keys(others).length > 0 ? safeJson(others) : '';
  return [
    style(`${mark} ${first}`),
    ...rest.map(line => style(`  ${line}`)),
    ...failures.map(failure => style(truncate(`  ${failureWords(failure)}`, width))),
    ...(named === '' ? [] : [styles.muted(truncate(`  ${named}`, width))]),
    ...(context === ''
      ? []
      : wrap(context, width - 2)
          .slice(0, 6)
          .map(line => styles.muted(`  ${line}`))),
  ];
}

/** Where the settings come from that may be wrong: the key where it is refused, the address where there is no answer. */
function settingLines(fault: Fault, { origins }: Connection, width: number, { styles }: Theme): string[] {
  const suspect = fault.kind === 'authentication' || fault.kind === 'permission' || fault.unreachable;
  if (!suspect || origins.length === 0) return [];
  return [...origins, 'Press ctrl-k to change them.'].flatMap(words =>
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
