/** What went wrong, next to the data that it concerns. */
import { Box, Text } from 'ink';
import type { Failure } from '../../../contract/errors.ts';
import type { Fault } from '../../../queries/fault.ts';
import { safeJson, sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import { type Connection, useConnection } from '../../app/connection.ts';
import type { Size } from '../../app/layout.ts';
import { useCopy } from '../../app/use-copy.ts';
import { faultCommands } from '../../keys/general.ts';
import { type Binding, KeyScope } from '../../keys/router.tsx';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';

/** Failures of a batch that are shown by their own words, and lines of the context. */
const shownFailures = 6;
const contextLines = 6;

function failureWords({ item_index, message, code }: Failure): string {
  const which = item_index == null ? '' : `item ${item_index}: `;
  return sanitiseLine(`${which}${message ?? code ?? 'not described'}`);
}

/**
 * The lines of a fault: the message, what the service called it, the request id, and its context. Where there are more
 * than `height`, the context goes first and the end of the message last; the request id is whole in any case.
 */
export function faultLines(fault: Fault, width: number, { styles, glyphs }: Theme, height = Infinity): string[] {
  const wrapped = (text: string): string[] => (text === '' ? [] : wrap(sanitiseLine(text), width - 2));
  // What a service does not offer is no fault: there is nothing to report.
  const request = wrapped(fault.requestId && !fault.unlisted ? `request ${fault.requestId}` : '');
  const names = fault.unlisted ? [] : [fault.code, fault.param && `field ${fault.param}`];
  // The first failure is in the message, with how many there are.
  const failures = (fault.failures ?? [])
    .slice(1, shownFailures)
    .map(failure => truncate(failureWords(failure), width - 2));
  const { failures: _, ...others } = fault.context ?? {};
  const context = Object.keys(others).length > 0 ? wrap(safeJson(others), width - 2).slice(0, contextLines) : [];
  const room = Math.max(1, height - request.length);
  const message = wrapped(fault.message);
  const told = message.slice(0, room);
  if (message.length > room) told[room - 1] = truncate(`${told[room - 1]} ${glyphs.ellipsis}`, width - 2);
  const style = fault.unlisted ? styles.muted : styles.danger;
  const mark = fault.unlisted ? glyphs.bullet : glyphs.cross;
  const listed = failures.slice(0, room - told.length);
  const named = wrapped(names.filter(Boolean).join('  ')).slice(0, room - told.length - listed.length);
  return [
    ...told.map((line, index) => style(`${index === 0 ? mark : ' '} ${line}`)),
    ...listed.map(line => style(`  ${line}`)),
    ...[...named, ...request, ...context].map(line => styles.muted(`  ${line}`)),
  ].slice(0, height);
}

/** Where the settings come from that may be wrong: the key where it is refused, the address where nothing answers. */
function settingLines(fault: Fault, { origins }: Connection, width: number, { styles }: Theme): string[] {
  if (!(fault.kind === 'authentication' || fault.kind === 'permission' || fault.unreachable) || origins.length === 0)
    return [];
  return [...origins, 'Press ctrl-k to change them.'].flatMap(words =>
    wrap(sanitiseLine(words), width - 2).map(line => styles.muted(`  ${line}`)),
  );
}

/** The key that copies the request id of what went wrong; nothing where there is none. */
export function useFaultBindings(...faults: readonly (Fault | undefined)[]): readonly Binding[] {
  const copy = useCopy();
  const requestId = faults.find(fault => fault?.requestId)?.requestId;
  if (requestId === undefined) return [];
  return [{ command: faultCommands.copyRequest, run: () => copy(requestId, requestId) }];
}

/** The lines of a note: the fault, and where the settings come from that may be what is wrong. */
export function noteLines(fault: Fault, { width, height }: Size, theme: Theme, connection: Connection): string[] {
  return [...faultLines(fault, width, theme, height), ...settingLines(fault, connection, width, theme)].slice(
    0,
    height,
  );
}

/** A fault in at most `height` lines. */
export function FaultNote({ fault, width, height }: { fault: Fault; width: number; height: number }) {
  const lines = noteLines(fault, { width, height }, useTheme(), useConnection());
  return (
    <KeyScope bindings={useFaultBindings(fault)}>
      <Box flexDirection="column" height={height} width={width} flexShrink={0} overflow="hidden">
        {lines.map((line, index) => (
          <Text key={index} wrap="truncate">
            {line}
          </Text>
        ))}
      </Box>
    </KeyScope>
  );
}
