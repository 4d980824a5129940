/** A record above the list of its parts: its state, and its problems. */

import type { LineState } from '../../../resources/line-state.ts';
import { isNotOffered } from '../../../service/errors.ts';
import type { ResourceRef } from '../../../store/store.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { noteLines, useDeleted, useSettingAdvice } from '../../app/error-note.tsx';
import type { Live } from '../../data/use-live.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { useAlarmed } from './use-alarmed.ts';

export interface RecordWithParts {
  readonly isDeleted: boolean;
  /** Whether any of its data has been read, now or earlier. */
  readonly isRead: boolean;
  /** Whether it is still loading, without an error. */
  readonly isUnread: boolean;
  readonly error: Error | undefined;
  /** Its state in Watch, if it is in alarm. */
  readonly alarm: LineState | undefined;
  /** Why it failed or is in alarm, a note if it was deleted, and the error. */
  readonly problems: (failure: string | null | undefined, width: number) => readonly string[];
}

/**
 * Reports the first error among all reads.
 *
 * @param reads the record and its progress: either proves that it exists
 * @param parts its other reads, besides the list
 */
export function useRecordWithParts(
  { kind, id }: Pick<ResourceRef, 'kind' | 'id'>,
  reads: readonly Pick<Live<unknown>, 'data' | 'error'>[],
  parts: readonly Pick<Live<unknown>, 'error'>[] = [],
): RecordWithParts {
  const theme = useTheme();
  const advice = useSettingAdvice();
  const deleted = useDeleted(kind, id);
  const alarm = useAlarmed()({ kind, id });
  const isRead = reads.some(({ data }) => data !== undefined);
  const failed = [...reads, ...parts].map(({ error }) => error).find(each => each && !isNotOffered(each));
  const error = deleted && isRead ? undefined : failed;
  const { styles, glyphs } = theme;
  return {
    isDeleted: deleted !== undefined,
    isRead,
    isUnread: !isRead && !error && deleted === undefined,
    error,
    alarm,
    problems: (failure, width) => [
      ...(alarm?.reasons ?? []).map(words => styles.danger(truncate(sanitiseLine(words), width))),
      ...(failure ? [styles.danger(truncate(clean`failed: ${failure}`, width))] : []),
      ...(deleted && !error ? [styles.danger(truncate(`${glyphs.cross} ${deleted}`, width))] : []),
      ...(error ? noteLines(error, { width, height: isRead ? 6 : 3 }, theme, advice) : []),
    ],
  };
}
