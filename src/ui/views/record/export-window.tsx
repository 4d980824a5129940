/** The window that offers export formats, and stops running exports. */

import { unlessAborted } from '../../../base/abort.ts';
import { errorMessage } from '../../../base/errors.ts';
import type { Waiter } from '../../../queries/lists/read-all.ts';
import type { LongRead } from '../../../rollouts/read.ts';
import { type ExportFormat, exportFileName, exportFormats, jsonFileParts } from '../../../text/export.ts';
import { clean } from '../../../text/sanitise.ts';
import type { Workbench } from '../../../workbench/workbench.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useExports, useWorkbench } from '../../data/workbench.tsx';
import { ChoiceWindow } from '../../windows/choice-window.tsx';
import { rowCount } from '../list/list-words.ts';
import type { Document } from './open-external.ts';
import { type Exportable, type ExportTitle, exportToFile, saveFile } from './save-file.ts';

export interface ExportableRows extends ExportTitle {
  /** @throws Error that says why rows are missing */
  readonly read: (waiter: Waiter) => Promise<Exportable<never>>;
}

export interface ExportOptions {
  /** The record and its id; undefined until they are known. */
  readonly record: { readonly id: string; readonly json: unknown } | undefined;
  /** The record as readable text, if this differs from its JSON. */
  readonly document?: (() => Document) | undefined;
  /** The rows to export, and how to read them all; by default, the record itself is exported. */
  readonly exportable?: ExportableRows | undefined;
  /** Files with more than the rows. */
  readonly files?: readonly (OtherFile | ExportWay)[] | undefined;
  /** Its resource, for stepping to neighbours in the list it was opened from. */
  readonly siblings?: string | undefined;
}

/** A file with more than the rows, e.g. a report. */
export interface OtherFile {
  readonly key: string;
  readonly label: string;
  /** What it is called among the running exports: `the report on first`. */
  readonly title: string;
  /**
   * Reads the data and writes the file. Returns words that describe what was saved and its path.
   *
   * @throws Error that says why nothing was saved
   */
  readonly save: (reading: FileReading) => Promise<string>;
}

/** Another way to export, with a window of its own. */
export interface ExportWay {
  readonly key: string;
  readonly label: string;
  readonly open: () => void;
}

export interface FileReading extends LongRead {
  readonly waiter: Waiter;
}

interface ExportWindowProps extends ExportOptions {
  readonly onClose: () => void;
}

const formatWords: Readonly<Record<ExportFormat, string>> = {
  json: 'JSON',
  jsonl: 'JSON Lines, one row per line',
  csv: 'CSV, as the table shows it',
  markdown: 'Markdown table',
};

/** Saves a file, and shows its progress among the exports. @param stopped also stops it */
export function saveOther<Result>(
  { exports, service: connect, remembered: memory, compare }: Workbench,
  { title, save }: { readonly title: string; readonly save: (reading: FileReading) => Promise<Result> },
  stopped?: AbortSignal,
): Promise<Result> {
  return exports.run(title, async ({ signal: ownSignal, onProgress }) => {
    const signal = stopped ? AbortSignal.any([ownSignal, stopped]) : ownSignal;
    const { background: service } = await unlessAborted(connect(), signal);
    const waiter = { signal, onProgress };
    return unlessAborted(
      save({ service, memory, compare, signal, onRead: onProgress, waiter, isFollowed: true }),
      signal,
    );
  });
}

/** The formats in which the record, or the rows, can be saved. */
function useFormats({ record, document, exportable, files = [], siblings }: ExportOptions) {
  const { toast } = useShell();
  const workbench = useWorkbench();
  const { exports } = workbench;
  const saving = async (save: () => Promise<string>): Promise<void> => {
    try {
      toast({ kind: 'success', text: `Saved ${await save()}`, news: true });
    } catch (error) {
      const reason = errorMessage(error);
      toast({ kind: 'danger', text: `Nothing was saved: ${reason}`, news: true });
    }
  };
  const saveAs = (key: string, label: string, save: () => Promise<string>) => ({
    key,
    label,
    value: () => void saving(save),
  });
  const others = files.map(file =>
    'open' in file
      ? { key: file.key, label: file.label, value: file.open }
      : saveAs(file.key, file.label, () => saveOther(workbench, file)),
  );
  if (exportable) {
    const formats = exportFormats.map(format =>
      saveAs(format, formatWords[format], () =>
        exports.run(exportable.kind, async waiter =>
          exportToFile(await exportable.read(waiter), format, waiter.signal),
        ),
      ),
    );
    return [...formats, ...others];
  }
  return [
    ...(document ? [saveAs('text', 'Plain text', () => saveFile(document()))] : []),
    saveAs('json', 'JSON', () =>
      saveFile({
        name: exportFileName(siblings ?? 'record', record?.id ?? '', 'json', new Date()),
        parts: jsonFileParts(record?.json),
      }),
    ),
    ...others,
  ];
}

export function ExportWindow(props: ExportWindowProps) {
  const formats = useFormats(props);
  const running = useExports().map(({ title, rows, stop }, index) => ({
    key: `stop.${index}`,
    label: clean`Stop the export of ${title} (${rowCount(rows)} so far)`,
    value: stop,
  }));
  return (
    <ChoiceWindow
      title={`Export as, into ${process.cwd()}`}
      choices={[...formats, ...running]}
      emptyWords="There is nothing to export."
      onChoose={choose => choose()}
      onClose={props.onClose}
    />
  );
}
