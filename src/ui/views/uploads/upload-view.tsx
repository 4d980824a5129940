/** The parts of an upload view: lines about the whole upload, and a table of its parts. */

import { useErrorBindings } from '../../app/error-note.tsx';
import { usePane, View } from '../../app/view.tsx';
import type { Binding } from '../../keys/router.tsx';
import { Lines } from '../../widgets/lines.tsx';
import { TableView, type TableViewProps } from '../../widgets/table/table-view.tsx';

interface UploadViewProps<Row> extends Pick<TableViewProps<Row>, 'table' | 'columns' | 'id' | 'total' | 'emptyWords'> {
  readonly head: readonly string[];
  readonly bindings: readonly Binding[];
  /** The error that the head shows. */
  readonly error: Error | undefined;
}

export function UploadView<Row>({ head, bindings, error, ...table }: UploadViewProps<Row>) {
  const pane = usePane('main');
  return (
    <View
      bindings={[...bindings, ...useErrorBindings(error)]}
      main={
        <>
          <Lines lines={head} width={pane.width} height={head.length} />
          <TableView {...table} width={pane.width} focused={pane.focused} />
        </>
      }
    />
  );
}
