/** Opens what is shown in a pager or an editor, and saves it to a file. */

import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExportColumn, type ExportFormat, exportFileName, exportParts } from '../../../text/export.ts';
import { safeFileName, writeNewFile } from '../../../text/new-file.ts';
import type { Environment } from '../../../text/terminal.ts';
import type { TerminalPort } from '../../app/terminal-port.ts';
import { rowCount } from './list-words.ts';

/** What is shown, as a file. */
export interface Document {
  /** With its extension: editors colour by it. */
  readonly name: string;
  readonly text: string;
}

/**
 * Shows a document in the user's pager, which has the terminal meanwhile; the program continues its work.
 *
 * @throws Error saying why it could not be shown
 */
export async function openInPager(document: Document, terminal: TerminalPort, environment: Environment = process.env) {
  const command = (environment['PAGER'] ?? 'less').trim();
  if (command === '') throw new Error('PAGER is empty: no pager is wanted. Unset it, or press O for the editor.');
  await openIn(command, document, terminal);
}

/** The same in the user's editor. What is changed there is not kept. @throws Error as `openInPager` does */
export function openInEditor(document: Document, terminal: TerminalPort, environment: Environment = process.env) {
  return openIn(environment['VISUAL'] || environment['EDITOR'] || 'vi', document, terminal);
}

/** The file is a copy, and removed also where the program is ended first. */
async function openIn(command: string, document: Document, terminal: TerminalPort): Promise<void> {
  let folder: string | undefined;
  const remove = (): void => {
    if (folder) rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove);
  try {
    folder = await mkdtemp(join(tmpdir(), 'benchtop-'));
    const path = join(folder, safeFileName(document.name));
    await writeFile(path, document.text, { mode: 0o600 });
    // By a shell, as the variables may hold flags (`less -R`).
    const code = await terminal.runExternal('sh', ['-c', `${command} "$1"`, 'sh', path]);
    if (code !== 0) throw new Error(`${command} ended with code ${code}`);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Rows that can be exported, as the table shows them. */
export interface Exportable<Row> {
  /** What they are, for the name of the file, e.g. `runs`. */
  readonly kind: string;
  /** Of what they are, where they are of something. */
  readonly id?: string;
  readonly rows: readonly Row[];
  readonly columns: readonly ExportColumn<Row>[];
}

/**
 * Writes rows to a new file in the folder that the program was started in. Gives how many and its whole path, in words.
 *
 * @throws NewFileError
 */
export async function exportToFile<Row>(
  { kind, id = '', rows, columns }: Exportable<Row>,
  format: ExportFormat,
): Promise<string> {
  const name = exportFileName(kind, id, format, new Date());
  return `${rowCount(rows.length)} to ${await writeNewFile(name, exportParts(format, rows, columns))}`;
}

/**
 * Saves a document to a new file in the folder that the program was started in, wherever its name would lead. Gives its
 * whole path.
 *
 * @throws NewFileError
 */
export function saveFile({ name, text }: Document): Promise<string> {
  return writeNewFile(safeFileName(name), [text]);
}
