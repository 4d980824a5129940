/** The windows that offer export formats and stop running exports, and that ask for the file. */

import { dirname } from 'node:path';
import { unlessAborted } from '../../../base/abort.ts';
import { errorMessage } from '../../../base/errors.ts';
import { newFileProblem } from '../../../base/new-file.ts';
import type { Waiter } from '../../../queries/lists/read-all.ts';
import type { LongRead } from '../../../rollouts/read.ts';
import { type ExportFormat, exportFileName, exportFormats, jsonFileParts } from '../../../text/export.ts';
import { clean } from '../../../text/sanitise.ts';
import { wholePath } from '../../../uploads/local-files.ts';
import type { Workbench } from '../../../workbench/workbench.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useExports, useWorkbench } from '../../data/workbench.tsx';
import type { FormValues } from '../../widgets/form/form-state.ts';
import { ChoiceWindow } from '../../windows/choice-window.tsx';
import { PlainFormWindow } from '../../windows/form-window.tsx';
import { rowCount } from '../list/list-messages.ts';
import type { Document } from './open-external.ts';
import { type Exportable, type ExportTitle, exportToFile, saveParts } from './save-file.ts';

export interface ExportableRows extends ExportTitle {
  /** @throws Error with the reason if rows are missing */
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
  /** Its name in the list of running exports, e.g. `the report on first`. */
  readonly title: string;
  /** Suggests a file name. */
  readonly file: () => string;
  /**
   * Reads the data and writes the file. Returns words that describe the saved data and its path.
   *
   * @throws Error with the reason if nothing was saved
   */
  readonly save: (path: string, reading: FileReading) => Promise<string>;
}

/** Another way to export, with a window of its own. */
export interface ExportWay {
  readonly key: string;
  readonly label: string;
  readonly open: () => void;
}

export interface FileReading extends LongRead {
  readonly waiter: Waiter;
  /** How the file on screen was read. */
  readonly fileNotes?: readonly string[] | undefined;
}

interface ExportWindowProps extends ExportOptions {
  readonly onClose: () => void;
}

const formatLabels: Readonly<Record<ExportFormat, string>> = {
  json: 'JSON',
  jsonl: 'JSON Lines, one row per line',
  csv: 'CSV, as the table shows it',
  markdown: 'Markdown table',
};

/** Saves a file, and shows its progress among the exports. @param stopped a second signal that stops it */
export function saveOther<Result>(
  workbench: Workbench,
  title: string,
  save: (reading: FileReading) => Promise<Result>,
  stopped?: AbortSignal,
): Promise<Result> {
  return workbench.exports.run(title, async ({ signal: ownSignal, onProgress }) => {
    const signal = stopped ? AbortSignal.any([ownSignal, stopped]) : ownSignal;
    const { background } = await unlessAborted(workbench.service(), signal);
    const waiter = { signal, onProgress };
    const context = workbench.contextFor(background, signal);
    return unlessAborted(save({ ...context, onRead: onProgress, waiter, fileNotes: workbench.file?.notes }), signal);
  });
}

/** The formats in which the record, or the rows, can be saved. */
function useFormats({ record, document, exportable, files = [], siblings }: ExportOptions) {
  const { toast, showOverlay } = useShell();
  const workbench = useWorkbench();
  const { exports } = workbench;
  const saving = async (saved: Promise<string>): Promise<void> => {
    try {
      toast({ kind: 'success', text: `Saved ${await saved}`, news: true });
    } catch (error) {
      const reason = errorMessage(error);
      toast({ kind: 'danger', text: `Nothing was saved: ${reason}`, news: true });
    }
  };
  const saveAs = (key: string, label: string, file: () => string, save: (path: string) => Promise<string>) => ({
    key,
    label,
    value: () => {
      const name = file();
      showOverlay('export-file', close => (
        <FileWindow title={label} file={name} onChoose={path => void saving(save(path))} onClose={close} />
      ));
    },
  });
  const others = files.map(file =>
    'open' in file
      ? { key: file.key, label: file.label, value: file.open }
      : saveAs(file.key, file.label, file.file, path =>
          saveOther(workbench, file.title, reading => file.save(path, reading)),
        ),
  );
  const fileName = (kind: string, id: string, format: ExportFormat) => () =>
    exportFileName(kind, id, format, new Date());
  if (exportable) {
    const { kind, id = '', read } = exportable;
    const formats = exportFormats.map(format =>
      saveAs(format, formatLabels[format], fileName(kind, id, format), path =>
        exports.run(kind, async waiter => exportToFile(path, await read(waiter), format, waiter.signal)),
      ),
    );
    return [...formats, ...others];
  }
  const text =
    document &&
    saveAs(
      'text',
      'Plain text',
      () => document().name,
      path => saveParts(path, () => document().parts),
    );
  return [
    ...(text ? [text] : []),
    saveAs('json', 'JSON', fileName(siblings ?? 'record', record?.id ?? '', 'json'), path =>
      saveParts(path, () => jsonFileParts(record?.json)),
    ),
    ...others,
  ];
}

interface FileWindowProps {
  readonly title: string;
  /** The suggested name. */
  readonly file: string;
  readonly onChoose: (path: string) => void;
  readonly onClose: () => void;
}

/** The path that was typed. A final slash stays, because it means a folder. */
function typedPath({ path = '' }: FormValues): string {
  const typed = path.trim();
  return `${wholePath(typed)}${typed.endsWith('/') ? '/' : ''}`;
}

/** Asks where to save. Existing files are never replaced. */
export function FileWindow({ title, file, onChoose, onClose }: FileWindowProps) {
  return (
    <PlainFormWindow
      verb="save"
      title={title}
      fields={[
        {
          kind: 'text',
          name: 'path',
          label: 'Save as',
          initial: file,
          help: values => `In the folder ${dirname(typedPath(values))}`,
        },
      ]}
      warningOf={values => newFileProblem(typedPath(values))}
      onSubmit={values => onChoose(typedPath(values))}
      onClose={onClose}
    />
  );
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
      title="Export as"
      choices={[...formats, ...running]}
      emptyText="There is nothing to export."
      onChoose={choose => choose()}
      onClose={props.onClose}
    />
  );
}
