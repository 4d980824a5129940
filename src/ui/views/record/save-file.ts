/** Saves rows or a document to a new file. */

import { extname } from 'node:path';
import { errorCode } from '../../../base/errors.ts';
import { NewFileError, writeNewFile } from '../../../base/new-file.ts';
import { type ExportColumn, type ExportFormat, exportParts } from '../../../text/export.ts';
import { rowCount } from '../list/list-messages.ts';

/** Names an export, for its file name and its progress. */
export interface ExportTitle {
  /** E.g. `runs`. */
  readonly kind: string;
  /** The parent's id, if the rows have one. */
  readonly id?: string;
}

/** Rows to export, as the table shows them. */
export interface Exportable<Row> extends ExportTitle {
  readonly rows: readonly Row[];
  readonly columns: readonly ExportColumn<Row>[];
}

/**
 * Writes rows to a new file. Returns their number and the absolute path, in words.
 *
 * @throws NewFileError, and the signal's reason if that aborts; no file is left then
 */
export async function exportToFile<Row>(
  path: string,
  { rows, columns }: Exportable<Row>,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<string> {
  const saved = await saveParts(path, () => exportParts(format, rows, columns), signal);
  return `${rowCount(rows.length)} to ${saved}`;
}

type Parts = Iterable<string> | AsyncIterable<string>;

/**
 * Writes a file in parts, under a similar name if the name is taken. Returns the absolute path.
 *
 * @param parts called again for another name
 * @throws the errors of `exportToFile` and of the parts
 */
export const saveParts = (path: string, parts: () => Parts, signal?: AbortSignal): Promise<string> =>
  writeNumbered(path, () => (signal ? unlessStopped(parts(), signal) : parts()));

/** How many names to try. */
const maxNames = 20;

async function writeNumbered(path: string, parts: () => Parts, number = 1): Promise<string> {
  const extension = extname(path);
  const numbered = number === 1 ? path : `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
  try {
    return await writeNewFile(numbered, parts());
  } catch (error) {
    const taken = error instanceof NewFileError && errorCode(error.cause) === 'EEXIST';
    if (!taken || number === maxNames) throw error;
    return writeNumbered(path, parts, number + 1);
  }
}

async function* unlessStopped(parts: Parts, signal: AbortSignal): AsyncGenerator<string, void> {
  for await (const part of parts) {
    signal.throwIfAborted();
    yield part;
  }
}
