/** Shared by upload views: lines about the whole upload, and a table of its parts. */

import { useErrorBindings } from '../../app/error-note.tsx';
import { usePane, View } from '../../app/view.tsx';
import type { Binding } from '../../keys/router.tsx';
import { Lines } from '../../widgets/lines.tsx';
import { TableView } from '../../widgets/table/table-view.tsx';
import { type Table, type TableOptions, useTable } from '../../widgets/table/use-table.ts';
import { minTableLines } from '../list/list-table.ts';

interface UploadViewProps<Row> extends Pick<TableOptions<Row>, 'rows' | 'columns' | 'id'> {
  readonly head: readonly string[];
  readonly emptyText: string;
  readonly bindings: readonly Binding[];
  /** The error that the head shows. */
  readonly error: Error | undefined;
  readonly onOpen?: (row: Row, table: Table<Row>) => void;
}

export function UploadView<Row>({ head, bindings, error, emptyText, onOpen, ...options }: UploadViewProps<Row>) {
  const { width, height, focused } = usePane('main');
  const table: Table<Row> = useTable({
    ...options,
    width,
    height: Math.max(minTableLines, height - head.length),
    opening: row => onOpen && (() => onOpen(row, table)),
  });
  const { rows, columns, id } = options;
  return (
    <View
      bindings={[...bindings, ...useErrorBindings(error)]}
      main={
        <>
          <Lines lines={head.map(line => ` ${line}`)} width={width} height={head.length} />
          <TableView {...{ table, columns, id, width, focused, emptyText }} total={rows.length} />
        </>
      }
    />
  );
}
