/** Shows an error next to the data it concerns. */

import { useSyncExternalStore } from 'react';
import { isRecord } from '../../base/own-property.ts';
import type { Failure } from '../../contract/errors.ts';
import { type ErrorDetails, isNotOffered, mayBeMisconfigured, ServiceError } from '../../service/errors.ts';
import { clean, safeJson, sanitiseLine } from '../../text/sanitise.ts';
import { displayWidth, truncate } from '../../text/width.ts';
import { wrap } from '../../text/wrap.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { errorCommands, globalCommands, recordCommands } from '../keys/general.ts';
import { type Binding, type KeyOf, KeyScope, useKeyOf } from '../keys/router.tsx';
import { Lines } from '../widgets/lines.tsx';
import { type Theme, useTheme } from '../widgets/theme/theme.tsx';
import { type Connection, useConnection } from './connection.ts';
import type { Size } from './layout.ts';
import { useCopy } from './use-copy.ts';

/** Maximum number of batch failures, and of context lines. */
const shownFailures = 6;
const contextLines = 6;

function formatFailure({ item_index, message, code }: Failure): string {
  const which = item_index == null ? '' : `item ${item_index}: `;
  return clean`${which}${message ?? code ?? 'not described'}`;
}

/** Whether the error message repeats every issue. */
const isRepeatedBy = (issues: unknown, message: string): boolean =>
  Array.isArray(issues) &&
  issues.every(issue => {
    const words = isRecord(issue) ? issue['message'] : undefined;
    return typeof words === 'string' && message.includes(words);
  });

/**
 * An error as lines: the message, the field, the request id with the code, and its context. If they exceed `height`,
 * drops the context first and the end of the message last; the request id always stays complete.
 */
export function errorLines(error: Error, width: number, { styles, glyphs }: Theme, height: number): string[] {
  const wrapped = (text: string | false | undefined): string[] => (text ? wrap(sanitiseLine(text), width - 2) : []);
  // A missing capability is not an error, so there is nothing to report.
  const quiet = isNotOffered(error);
  const {
    requestId,
    code,
    param,
    failures = [],
    context,
  } = error instanceof ServiceError && !quiet ? error : noDetails;
  const request = wrapped(requestId && formatRequest(requestId, code, width - 2));
  // The message includes the first failure and how many there are.
  const others = failures.slice(1, shownFailures).map(failure => truncate(formatFailure(failure), width - 2));
  const { failures: _, issues, ...more } = context ?? {};
  const rest = issues === undefined || isRepeatedBy(issues, error.message) ? more : { issues, ...more };
  const detail = Object.keys(rest).length > 0 ? wrap(safeJson(rest), width - 2).slice(0, contextLines) : [];
  const room = Math.max(1, height - request.length);
  const message = wrapped(error.message);
  const shown = message.slice(0, room);
  if (message.length > room) shown[room - 1] = truncate(`${shown[room - 1]} ${glyphs.ellipsis}`, width - 2);
  const style = quiet ? styles.muted : styles.danger;
  const mark = quiet ? glyphs.bullet : glyphs.cross;
  const listed = others.slice(0, room - shown.length);
  const names = wrapped(param && !error.message.includes(param) && `field ${param}`);
  const named = names.slice(0, room - shown.length - listed.length);
  return [
    ...shown.map((line, index) => style(`${index === 0 ? mark : ' '} ${line}`)),
    ...listed.map(line => style(`  ${line}`)),
    ...[...named, ...request, ...detail].map(line => styles.muted(`  ${line}`)),
  ].slice(0, height);
}

/** The request id with the error code. The code helps support, not the user, so it is left out if there is no room. */
function formatRequest(requestId: string, code: string | undefined, width: number): string {
  const id = `request ${requestId}`;
  const both = `${id}  ${code ?? ''}`.trimEnd();
  return displayWidth(both) > width ? id : both;
}

const noDetails: ErrorDetails = {};

/** Sentences about the origin of the address and the key, and the keys to press; none if the origin is unknown. */
export function settingAdvice(
  { origins, isLocal }: Pick<Connection, 'origins' | 'isLocal'>,
  keyOf: KeyOf,
): readonly string[] {
  if (origins.length === 0) return [];
  const [connect, refresh] = [keyOf(globalCommands.connect), keyOf(recordCommands.refresh)];
  // The local service's address and key are not settings.
  const change = isLocal ? '' : `${connect} to change them, or `;
  return [...origins, `Press ${change}${refresh} to try again.`];
}

export function useSettingAdvice(): readonly string[] {
  return settingAdvice(useConnection(), useKeyOf());
}

/** Binds the key that copies an error's request id; empty if there is none. */
export function useErrorBindings(...errors: readonly (Error | undefined)[]): readonly Binding[] {
  const copy = useCopy();
  const requestId = errors.map(error => (error instanceof ServiceError ? error.requestId : undefined)).find(Boolean);
  if (requestId === undefined) return [];
  return [{ command: errorCommands.copyRequest, run: () => copy(requestId, requestId) }];
}

/** A note as lines: the error, then advice on the settings if those may be wrong. */
export function noteLines(error: Error, { width, height }: Size, theme: Theme, advice: readonly string[]): string[] {
  const settings = mayBeMisconfigured(error) ? advice.flatMap(each => wrap(sanitiseLine(each), width - 2)) : [];
  const lines = settings.map(line => theme.styles.muted(`  ${line}`));
  return [...errorLines(error, width, theme, height), ...lines].slice(0, height);
}

/** A note that the resource was deleted; undefined while it may still exist. The frame shows the age of the data. */
export function useDeleted(kind: string, id: string): string | undefined {
  const { statuses } = useWorkbench();
  const isGone = useSyncExternalStore(statuses.subscribe, () => statuses.get({ kind, id })?.gone ?? false);
  return isGone ? 'Deleted from the service.' : undefined;
}

interface ErrorNoteProps extends Size {
  readonly error: Error;
  /** Whether to omit keys: in a form, they would be typed into a field. */
  readonly inForm?: boolean;
}

/** An error in at most `height` lines. */
export function ErrorNote({ error, width, height, inForm = false }: ErrorNoteProps) {
  const advice = useSettingAdvice();
  const { origins } = useConnection();
  const lines = noteLines(error, { width, height }, useTheme(), inForm ? origins : advice);
  return (
    <KeyScope bindings={useErrorBindings(error)}>
      <Lines lines={lines} width={width} height={height} />
    </KeyScope>
  );
}
