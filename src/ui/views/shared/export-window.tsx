/** The window that offers the formats of an export, and to stop the exports under way. */
import { useExports } from '../../../queries/use-workbench.ts';
import { clean } from '../../../text/sanitise.ts';
import { rowCount } from '../list/list-words.ts';
import { ChoiceWindow } from './windows.tsx';

export interface ExportFormatChoice {
  readonly key: string;
  readonly label: string;
  /** Begins the export. */
  readonly value: () => void;
}

export interface ExportWindowProps {
  readonly formats: readonly ExportFormatChoice[];
  readonly onClose: () => void;
}

export function ExportWindow({ formats, onClose }: ExportWindowProps) {
  const underWay = useExports().map(({ title, rows, stop }, index) => ({
    key: `stop.${index}`,
    label: clean`Stop the export of ${title} (${rowCount(rows)} so far)`,
    value: stop,
  }));
  return (
    <ChoiceWindow
      title="Export as"
      choices={[...formats, ...underWay]}
      emptyWords="There is nothing to export."
      onChoose={choose => choose()}
      onClose={onClose}
    />
  );
}
