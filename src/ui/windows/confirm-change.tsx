/** Confirms a change of rows, in the words of its action. */
import type { Change } from '../../resources/action.ts';
import { changeTitle, doneWords, outageWords } from '../../resources/change-words.ts';
import { labelOf, type ResourceOf } from '../../resources/define.ts';
import { useShell } from '../app/shell-context.tsx';
import { Confirm, type ConfirmProps } from './confirm.tsx';
import { namesOf } from './names.ts';

export interface ConfirmChangeProps<Row extends object> extends Pick<ConfirmProps<Row>, 'rows' | 'onClose'> {
  readonly resource: Pick<ResourceOf<Row>, 'label' | 'list' | 'names'>;
  readonly change: Change<Row>;
  readonly onRemoved?: (() => void) | undefined;
}

export function ConfirmChange<Row extends object>(props: ConfirmChangeProps<Row>) {
  const { resource, change, rows, onRemoved } = props;
  const shell = useShell();
  const label = (row: Row): string => labelOf(resource, row);
  const slugs = change.outage?.(rows);
  return (
    <Confirm
      {...props}
      {...change}
      title={changeTitle(change, resource, rows.length)}
      question={`${outageWords(slugs)}${namesOf(rows.map(change.called ?? label))}: ${change.loses}`}
      typed={slugs?.join(' ')}
      action={change.send}
      labelOf={label}
      onDone={answers => {
        const changed = rows.map(row => ({ name: label(row), answer: answers.get(row) }));
        shell.toast({ kind: 'success', text: doneWords(change, changed, namesOf) });
        if (rows.some(row => change.send.removes?.resource(row, answers.get(row)))) onRemoved?.();
      }}
    />
  );
}
