/** A record above the list of its parts: what is wrong with it, and what the list says in its stead. */
import type { ResourceRef } from '../../../queries/remembered/store.ts';
import { isNotOffered } from '../../../service/errors.ts';
import { clean } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { noteLines, useDeleted, useSettingAdvice } from '../../app/error-note.tsx';
import type { Live } from '../../data/use-live.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';

export interface RecordWithParts {
  readonly isDeleted: boolean;
  /** Something of it has been read, now or before. */
  readonly isRead: boolean;
  /** Nothing of it has been read yet, and nothing stands against it. */
  readonly isUnread: boolean;
  readonly error: Error | undefined;
  /** Why it failed, that it is deleted, and the error. */
  readonly problems: (failure: string | null | undefined, width: number) => readonly string[];
}

/** @param reads the record and its progress: either shows what it is, and the first error of them is shown */
export function useRecordWithParts(
  { kind, id }: Pick<ResourceRef, 'kind' | 'id'>,
  reads: readonly Pick<Live<unknown>, 'data' | 'error'>[],
): RecordWithParts {
  const theme = useTheme();
  const advice = useSettingAdvice();
  const deleted = useDeleted(kind, id);
  const isRead = reads.some(({ data }) => data !== undefined);
  const failed = reads.map(({ error }) => error).find(each => each && !isNotOffered(each));
  const error = deleted && isRead ? undefined : failed;
  const { styles, glyphs } = theme;
  return {
    isDeleted: deleted !== undefined,
    isRead,
    isUnread: !isRead && !error && deleted === undefined,
    error,
    problems: (failure, width) => [
      ...(failure ? [styles.danger(truncate(clean`failed: ${failure}`, width))] : []),
      ...(deleted && !error ? [styles.danger(truncate(`${glyphs.cross} ${deleted}`, width))] : []),
      ...(error ? noteLines(error, { width, height: isRead ? 6 : 3 }, theme, advice) : []),
    ],
  };
}

/** What the list of the parts says of the record, which has its place where there is no row. */
export function partsProps(
  { isDeleted: deleted, error: headerError }: RecordWithParts,
  pin: ResourceRef,
  { resource, json }: { readonly resource: string; readonly json: unknown },
) {
  return { deleted, headerError, whole: { id: pin.id, json, pin, siblings: resource } };
}
