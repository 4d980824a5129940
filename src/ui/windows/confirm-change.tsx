/** Confirms a change of rows, in the words of its action. */
import { useEffect, useState } from 'react';
import { unlessStopped } from '../../queries/action.ts';
import { fetchAnew } from '../../queries/live-query.ts';
import type { ChangeAction } from '../../resources/action.ts';
import { changeTitle, doneWords, outagesOf, outageWords, typedFor } from '../../resources/change-words.ts';
import { idOf, labelOf, type ResourceOf } from '../../resources/define.ts';
import { isRechecked, recheck, withProduction } from '../../resources/recheck.ts';
import { useShell } from '../app/shell-context.tsx';
import type { CheckInputs } from '../data/use-action.ts';
import { useNewestRows } from '../data/use-newest-rows.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { LoadingWindow } from './choice-window.tsx';
import { Confirm, type ConfirmProps } from './confirm.tsx';
import { apart, namesOf } from './names.ts';

export interface ConfirmChangeProps<Row extends object> extends Pick<ConfirmProps<Row>, 'rows' | 'onClose'> {
  readonly resource: Pick<ResourceOf<Row>, 'get' | 'label' | 'list' | 'names'>;
  readonly action: ChangeAction<Row>;
  readonly onRemoved?: (() => void) | undefined;
}

/**
 * Describes the current state of the rows. After the confirmation they are read again, and nothing is sent if the
 * description was wrong.
 */
export function ConfirmChange<Row extends object>({
  resource,
  action,
  rows,
  onRemoved,
  onClose,
}: ConfirmChangeProps<Row>) {
  const { change } = action;
  const shell = useShell();
  const workbench = useWorkbench();
  const newest = useNewestRows(resource, rows);
  /**
   * The rows as they were read again. The next question is about these, whatever a list says afterwards: they are
   * compared with the same records, and a list may lag behind.
   */
  const [checked, setChecked] = useState<ReadonlyMap<Row, Row>>(new Map());
  const nowOf = (row: Row): Row => checked.get(row) ?? newest.get(row) ?? row;
  const shown = rows.map(nowOf);
  const names = apart(shown.map(row => ({ name: labelOf(resource, row), id: idOf(resource, row) })));
  const nameOf = new Map(rows.map((row, index) => [row, names[index] ?? '']));
  const label = (row: Row): string => nameOf.get(row) ?? '';
  const isKnown = useProduction(change, rows, setChecked);
  const { called } = change;
  const outages = (left: readonly Row[]) => outagesOf(change, left.map(nowOf));
  const check: CheckInputs<Row> = async (left, service, signal) => {
    const asked = left.map(row => ({ resource, change, row: nowOf(row) }));
    const context = { service, signal, memory: workbench.remembered };
    const read = await recheck(asked, query => unlessStopped(fetchAnew(workbench, query), signal), context);
    if (resource.get) {
      setChecked(
        new Map(
          left.flatMap((row, index) => {
            const now = read.rows[index];
            return now ? [[row, now] as const] : [];
          }),
        ),
      );
    }
    if (read.objection !== undefined) throw new Error(read.objection);
  };
  if (!isKnown) return <LoadingWindow title={changeTitle(change, resource, rows.length)} onClose={onClose} />;
  return (
    <Confirm
      {...change}
      rows={rows}
      onClose={onClose}
      title={left => changeTitle(change, resource, left.length)}
      question={left => {
        const named = left.map(row => (called ? called(nowOf(row)) : label(row)));
        return `${outageWords(outages(left))}${namesOf(named)}: ${change.loses}`;
      }}
      typed={left => typedFor(outages(left))}
      action={change.send}
      check={isRechecked(action) ? check : undefined}
      labelOf={label}
      onDone={answers => {
        const changed = rows.map(row => ({ name: label(row), answer: answers.get(row) }));
        shell.toast({ kind: 'success', text: doneWords(change, changed, namesOf) });
        if (rows.some(row => change.send.removes?.resource(row, answers.get(row)))) onRemoved?.();
      }}
    />
  );
}

/**
 * Reads what is in production of the rows before the question, if the change needs it.
 *
 * @returns whether it is known, or cannot be
 */
function useProduction<Row extends object>(
  change: ChangeAction<Row>['change'],
  rows: readonly Row[],
  onRead: (found: ReadonlyMap<Row, Row>) => void,
): boolean {
  const workbench = useWorkbench();
  const [isRead, setRead] = useState(change.withProduction === undefined);
  // Only the first rows count: the window is about them.
  const [read] = useState(() => async (signal: AbortSignal): Promise<void> => {
    const service = await unlessStopped(workbench.service(), signal);
    const asked = rows.map(row => ({ change, row, was: row }));
    const found = await withProduction(asked, { service, signal, memory: workbench.remembered });
    onRead(new Map(found.map(({ was, row }) => [was, row])));
  });
  useEffect(() => {
    const stop = new AbortController();
    const done = (): void => {
      if (!stop.signal.aborted) setRead(true);
    };
    // Without a connection, nothing can be deleted either.
    if (!isRead) read(stop.signal).then(done, done);
    return () => stop.abort();
  }, [isRead, read]);
  return isRead;
}
