/** Confirms a change to rows, in its action's own words. */
import { useEffect, useState } from 'react';
import { unlessStopped } from '../../queries/action.ts';
import { fetchAnew, type LiveQuery } from '../../queries/live-query.ts';
import type { ChangeAction } from '../../resources/action.ts';
import { changeTitle, describeDone, describeOutages, outagesOf, typedFor } from '../../resources/change-messages.ts';
import { type ConfirmedRow, changeEach, isCertain, recheck, withOutages, withRead } from '../../resources/changes.ts';
import { idOf, labelOf, type Resource } from '../../resources/define.ts';
import { useShell } from '../app/shell-context.tsx';
import type { CheckInputs } from '../data/use-action.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { LoadingWindow } from './choice-window.tsx';
import { Confirm } from './confirm.tsx';
import { distinctNames, namesOf } from './names.ts';

/** Rows of one resource that the same change is made to. */
interface ChangedPart {
  readonly resource: Pick<Resource, 'get' | 'label' | 'list' | 'names'>;
  readonly action: ChangeAction<object>;
  readonly rows: readonly object[];
  /** Names the chosen rows that do not change, with the reason; empty if there are none. */
  readonly leftOut: string;
  readonly onRemoved?: (() => void) | undefined;
}

interface ConfirmChangeProps {
  readonly parts: readonly [ChangedPart, ...ChangedPart[]];
  readonly onClose: () => void;
}

/** A row in the state that the question shows. */
interface ChangedRow extends ConfirmedRow<object> {
  readonly part: ChangedPart;
}

/** The rows to change, which `check` reads again before anything is sent. */
function useChanges(parts: ConfirmChangeProps['parts']) {
  const workbench = useWorkbench();
  const [rows] = useState(() => parts.flatMap(part => part.rows.map((row): ChangedRow => ({ ...part, row, part }))));
  /**
   * The rows as read just before sending. The next question is about these, even if a list shows them differently: a
   * list may lag behind the records.
   */
  const [checked, setChecked] = useState<ReadonlyMap<ChangedRow, ChangedRow>>(new Map());
  const nowOf = (each: ChangedRow): ChangedRow => checked.get(each) ?? each;
  const onRead = (left: readonly ChangedRow[], now: readonly ChangedRow[]): void =>
    setChecked(last => new Map([...last, ...left.map((each, index) => [each, now[index] ?? each] as const)]));
  const check: CheckInputs<ChangedRow> = async (left, context) => {
    const read = (query: LiveQuery<object>) => unlessStopped(fetchAnew(workbench, query), context.signal);
    const { now, objection } = await recheck(left.map(nowOf), read, context);
    onRead(left, now);
    return objection;
  };
  const { named, isReady } = useReads(rows, now => onRead(rows, now));
  /** A row with its names, which a record lacks. */
  const namedRow = (each: ChangedRow): object => ({ ...named.get(each)?.row, ...nowOf(each).row });
  return { rows, nowOf, namedRow, check, isReady };
}

/**
 * Describes the change. On confirmation the rows are read again, and nothing is sent if the description was wrong.
 */
export function ConfirmChange({ parts, onClose }: ConfirmChangeProps) {
  const shell = useShell();
  const { rows, nowOf, namedRow, check, isReady } = useChanges(parts);
  const names = distinctNames(
    rows.map(nowOf).map(({ resource, row }) => ({ name: labelOf(resource, row), id: idOf(resource, row) })),
  );
  const nameOf = new Map(rows.map((each, index) => [each, names[index] ?? '']));
  const label = (each: ChangedRow): string => nameOf.get(each) ?? '';
  const outages = (left: readonly ChangedRow[]) => outagesOf(left.map(nowOf));
  const send = changeEach(rows);
  const [first, ...others] = parts;
  const rowsOf = (part: ChangedPart, left: readonly ChangedRow[]) => left.filter(each => each.part === part);
  const titleOf = (left: readonly ChangedRow[]): string => {
    const count = (part: ChangedPart) => ({ ...part, ...part.action, count: rowsOf(part, left).length });
    return changeTitle(count(first), ...others.map(count));
  };
  if (!isReady) return <LoadingWindow title={titleOf(rows)} onClose={onClose} />;
  return (
    <Confirm
      {...first.action.change}
      rows={rows}
      onClose={onClose}
      title={titleOf}
      question={left => {
        const words = parts.flatMap(part => {
          const { change } = part.action;
          const named = rowsOf(part, left).map(each => change.nameOfRow?.(namedRow(each)) ?? label(each));
          const changed = named.length === 0 ? '' : `${namesOf(named)}: ${change.consequence}`;
          return [changed, part.leftOut && `Not ${part.leftOut}.`].filter(Boolean);
        });
        return `${describeOutages(outages(left))}${words.join(' ')}`;
      }}
      typed={left => typedFor(outages(left))}
      action={send}
      check={check}
      labelOf={label}
      onDone={answers => {
        const words = parts.map(part => {
          const done = rowsOf(part, rows).map(each => ({ name: label(each), answer: answers.get(each) }));
          return describeDone(part.action.change, done, namesOf);
        });
        shell.toast({ kind: 'success', text: words.join('. ') });
        for (const part of parts)
          if (rowsOf(part, rows).some(each => send.removes?.resource(each, answers.get(each)))) part.onRemoved?.();
      }}
    />
  );
}

/**
 * Reads which rows are in production before the question is asked, if the change depends on it and it is uncertain; then
 * the names, while the question is shown.
 */
function useReads(rows: readonly ChangedRow[], onRead: (rows: readonly ChangedRow[]) => void) {
  const workbench = useWorkbench();
  const [isReady, setReady] = useState(rows.every(isCertain));
  const [named, setNamed] = useState<ReadonlyMap<ChangedRow, ChangedRow | undefined>>(new Map());
  // Only the rows from the first render count: the window is about them.
  const [read] = useState(() => async (signal: AbortSignal): Promise<void> => {
    const context = workbench.contextFor(await unlessStopped(workbench.service(), signal), signal);
    const found = isReady ? rows : await withOutages(rows, context);
    if (!isReady) onRead(found);
    setReady(true);
    const names = await withRead('withNames', found, context);
    setNamed(new Map(rows.map((each, index) => [each, names[index]])));
  });
  useEffect(() => {
    const stop = new AbortController();
    read(stop.signal).catch(() => {
      // If there is no connection, nothing can be deleted either.
      if (!stop.signal.aborted) setReady(true);
    });
    return () => stop.abort();
  }, [read]);
  return { named, isReady };
}
