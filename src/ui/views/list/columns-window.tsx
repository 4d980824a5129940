/** The chooser of columns in a window that follows the size of the terminal. */
import { windowRoom } from '../../app/layout.ts';
import { useShell } from '../../app/shell-context.tsx';
import { ColumnChooser, type ColumnChooserProps } from '../../widgets/table/column-chooser.tsx';

export function ColumnsWindow<Row>(props: Omit<ColumnChooserProps<Row>, 'room'>) {
  const { layout } = useShell();
  return <ColumnChooser {...props} room={windowRoom(layout)} />;
}
