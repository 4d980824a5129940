/** Saves rows or a document to a new file in the folder that the program was started in. */

import { extname } from 'node:path';
import { errorCode } from '../../../base/errors.ts';
import { NewFileError, safeFileName, writeNewFile } from '../../../base/new-file.ts';
import {
  type ExportColumn,
  type ExportFormat,
  exportFileName,
  exportParts,
  type FileFormat,
} from '../../../text/export.ts';
import { rowCount } from '../list/list-words.ts';

import type { Document } from './open-external.ts';

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
 * Writes rows to a new file in the folder that the program was started in. Returns their number and the absolute path,
 * in words.
 *
 * @throws NewFileError, and the signal's reason if that aborts; no file is left then
 */
export async function exportToFile<Row>(
  { kind, id = '', rows, columns }: Exportable<Row>,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<string> {
  const path = await saveParts({ kind, id }, format, () => exportParts(format, rows, columns), signal);
  return `${rowCount(rows.length)} to ${path}`;
}

type Parts = Iterable<string> | AsyncIterable<string>;

/**
 * Writes a file in parts to the folder that the program was started in. Returns the absolute path.
 *
 * @param parts called again if another export in the same second has taken the name
 * @throws the errors of `exportToFile` and of the parts
 */
export function saveParts(
  { kind, id = '' }: ExportTitle,
  format: FileFormat,
  parts: () => Parts,
  signal: AbortSignal,
): Promise<string> {
  return writeNumbered(exportFileName(kind, id, format, new Date()), () => unlessStopped(parts(), signal));
}

/** How many names to try if another export in the same second has taken the first one. */
const mostNames = 20;

async function writeNumbered(name: string, parts: () => Parts, number = 1): Promise<string> {
  const extension = extname(name);
  const numbered = number === 1 ? name : `${name.slice(0, -extension.length)}-${number}${extension}`;
  try {
    return await writeNewFile(numbered, parts());
  } catch (error) {
    const taken = error instanceof NewFileError && errorCode(error.cause) === 'EEXIST';
    if (!taken || number === mostNames) throw error;
    return writeNumbered(name, parts, number + 1);
  }
}

async function* unlessStopped(parts: Parts, signal: AbortSignal): AsyncGenerator<string, void> {
  for await (const part of parts) {
    signal.throwIfAborted();
    yield part;
  }
}

/**
 * Saves a document to a new file in the current folder; its name may contain anything. Returns the absolute path.
 *
 * @throws NewFileError
 */
export function saveFile({ name, parts }: Document): Promise<string> {
  return writeNewFile(safeFileName(name), parts);
}
