/** Confirms a change to rows, in its action's own words. */
import { useEffect, useState } from 'react';
import { type Action, action, unlessStopped } from '../../queries/action.ts';
import { fetchAnew } from '../../queries/live-query.ts';
import type { ChangeAction } from '../../resources/action.ts';
import { changeTitle, doneWords, outagesOf, outageWords, typedFor } from '../../resources/change-words.ts';
import { idOf, labelOf, type Resource } from '../../resources/define.ts';
import { type ConfirmedRow, isRechecked, recheck, withProduction } from '../../resources/recheck.ts';
import { useShell } from '../app/shell-context.tsx';
import type { CheckInputs } from '../data/use-action.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { LoadingWindow } from './choice-window.tsx';
import { Confirm } from './confirm.tsx';
import { apart, namesOf } from './names.ts';

/** Rows of one resource that the same change is made to. */
interface ChangedPart {
  readonly resource: Pick<Resource, 'get' | 'label' | 'list' | 'names'>;
  readonly action: ChangeAction<object>;
  readonly rows: readonly object[];
  /** Names the chosen rows that do not change, with the reason; empty if there are none. */
  readonly leftOut: string;
  readonly onRemoved?: (() => void) | undefined;
}

export interface ConfirmChangeProps {
  readonly parts: readonly [ChangedPart, ...ChangedPart[]];
  readonly onClose: () => void;
}

const partsByRow = (parts: ConfirmChangeProps['parts']): ReadonlyMap<object, ChangedPart> =>
  new Map(parts.flatMap(part => part.rows.map(row => [row, part] as const)));

/** Sends the request for each row as its own action declares it. */
function sendToEach(parts: ConfirmChangeProps['parts']): Action<object> {
  const [first, ...others] = parts;
  if (others.length === 0) return first.action.change.send;
  const partOf = partsByRow(parts);
  return action(async (service, row, options) => partOf.get(row)?.action.change.send(service, row, options), {
    touches: parts.flatMap(({ action: { change } }) => change.send.touches),
  });
}

/** The changes to the rows, which `check` reads again before anything is sent. */
function useChanges(parts: ConfirmChangeProps['parts']) {
  const workbench = useWorkbench();
  /**
   * The rows as read just before sending. The next question is about these, even if a list shows them differently: a
   * list may lag behind the records.
   */
  const [checked, setChecked] = useState<ReadonlyMap<object, object>>(new Map());
  const partOf = partsByRow(parts);
  const nowOf = (row: object): object => checked.get(row) ?? row;
  const changesOf = (left: readonly object[]) =>
    left.flatMap(was => {
      const { resource, action: own } = partOf.get(was) ?? {};
      return resource && own ? [{ resource, change: own.change, was, row: nowOf(was) }] : [];
    });
  const check: CheckInputs<object> = async (left, service, signal) => {
    const changes = changesOf(left);
    const context = { service, signal, memory: workbench.remembered };
    const read = await recheck(changes, query => unlessStopped(fetchAnew(workbench, query), signal), context);
    const now = changes.flatMap(({ resource, was }, index) => {
      const row = resource.get && read.rows[index];
      return row ? [[was, row] as const] : [];
    });
    setChecked(last => new Map([...last, ...now]));
    if (read.objection !== undefined) throw new Error(read.objection);
  };
  const rows = parts.flatMap(part => part.rows);
  return { rows, nowOf, changesOf, check, isReady: useProduction(changesOf(rows), setChecked) };
}

/**
 * Describes the change. On confirmation the rows are read again, and nothing is sent if the description was wrong.
 */
export function ConfirmChange({ parts, onClose }: ConfirmChangeProps) {
  const shell = useShell();
  const { rows, nowOf, changesOf, check, isReady } = useChanges(parts);
  const names = apart(
    changesOf(rows).map(({ resource, row }) => ({ name: labelOf(resource, row), id: idOf(resource, row) })),
  );
  const nameOf = new Map(rows.map((row, index) => [row, names[index] ?? '']));
  const label = (row: object): string => nameOf.get(row) ?? '';
  const outages = (left: readonly object[]) => changesOf(left).flatMap(({ change, row }) => outagesOf(change, [row]));
  const [first, ...others] = parts;
  const leftOf = ({ rows: own }: ChangedPart, left: ReadonlySet<object>): readonly object[] =>
    own.filter(row => left.has(row));
  const titleOf = (left: readonly object[]): string => {
    const remaining = new Set(left);
    const count = (part: ChangedPart) => ({ ...part, ...part.action, count: leftOf(part, remaining).length });
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
        const remaining = new Set(left);
        const words = parts.flatMap(part => {
          const { change } = part.action;
          const named = leftOf(part, remaining).map(row => change.called?.(nowOf(row)) ?? label(row));
          const changed = named.length === 0 ? '' : `${namesOf(named)}: ${change.loses}`;
          return [changed, part.leftOut && `Not ${part.leftOut}.`].filter(Boolean);
        });
        return `${outageWords(outages(left))}${words.join(' ')}`;
      }}
      typed={left => typedFor(outages(left))}
      action={sendToEach(parts)}
      check={parts.some(({ action: each }) => isRechecked(each)) ? check : undefined}
      labelOf={label}
      onDone={answers => {
        const words = parts.map(({ action: { change }, rows: own }) =>
          doneWords(
            change,
            own.map(row => ({ name: label(row), answer: answers.get(row) })),
            namesOf,
          ),
        );
        shell.toast({ kind: 'success', text: words.join('. ') });
        for (const { action: each, rows: own, onRemoved } of parts)
          if (own.some(row => each.change.send.removes?.resource(row, answers.get(row)))) onRemoved?.();
      }}
    />
  );
}

/**
 * Reads which rows are in production before the question is asked, if the change depends on it.
 *
 * @returns whether that has been read, or has failed
 */
function useProduction(
  changes: readonly (Pick<ConfirmedRow<object>, 'change' | 'row'> & { readonly was: object })[],
  onRead: (found: ReadonlyMap<object, object>) => void,
): boolean {
  const workbench = useWorkbench();
  const [isRead, setRead] = useState(changes.every(({ change }) => change.withProduction === undefined));
  // Only the rows from the first render count: the window is about them.
  const [read] = useState(() => async (signal: AbortSignal): Promise<void> => {
    const service = await unlessStopped(workbench.service(), signal);
    const found = await withProduction(changes, { service, signal, memory: workbench.remembered });
    onRead(new Map(found.map(({ was, row }) => [was, row])));
  });
  useEffect(() => {
    const stop = new AbortController();
    const done = (): void => {
      if (!stop.signal.aborted) setRead(true);
    };
    // If there is no connection, nothing can be deleted either.
    if (!isRead) read(stop.signal).then(done, done);
    return () => stop.abort();
  }, [isRead, read]);
  return isRead;
}
