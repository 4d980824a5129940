/** Opens content in a pager or an editor, or saves it to a file. */

import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { errorCode } from '../../../text/errors.ts';
import { type ExportColumn, type ExportFormat, exportFileName, exportParts } from '../../../text/export.ts';
import { NewFileError, safeFileName, writeNewFile } from '../../../text/new-file.ts';
import type { Environment } from '../../../text/terminal.ts';
import type { TerminalPort } from '../../app/terminal-port.ts';
import { rowCount } from '../list/list-words.ts';

/** The content as a file. */
export interface Document {
  /** With its extension, for the editor's syntax colours. */
  readonly name: string;
  readonly text: string;
}

/**
 * Opens a document in the user's pager, which has the terminal until it exits; the program continues in the background.
 *
 * @throws Error with the reason if that fails
 */
export async function openInPager(document: Document, terminal: TerminalPort, environment: Environment = process.env) {
  const command = (environment['PAGER'] ?? 'less').trim();
  if (command === '') throw new Error('PAGER is empty: no pager is wanted. Unset it, or open the editor instead.');
  await openIn(command, document, terminal);
}

/** The same in the user's editor. Changes are discarded. @throws Error as `openInPager` does */
export function openInEditor(document: Document, terminal: TerminalPort, environment: Environment = process.env) {
  return openIn(environment['VISUAL'] || environment['EDITOR'] || 'vi', document, terminal);
}

/** The file is a copy, and removed even if the program ends first. */
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
    // Run by a shell, because the variables may hold flags (`less -R`).
    const code = await terminal.runExternal('sh', ['-c', `${command} "$1"`, 'sh', path]);
    if (code !== 0) throw new Error(`${command} ended with code ${code}`);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** What is exported, for the name of its file and for its progress. */
export interface ExportTitle {
  /** E.g. `runs`. */
  readonly kind: string;
  /** Id of their parent, if any. */
  readonly id?: string;
}

/** Rows to export, as the table shows them. */
export interface Exportable<Row> extends ExportTitle {
  readonly rows: readonly Row[];
  readonly columns: readonly ExportColumn<Row>[];
}

/**
 * Writes rows to a new file in the folder that the program was started in. Returns how many and its whole path, in
 * words.
 *
 * @throws NewFileError, and the reason of the signal once that aborts; there is no file then
 */
export async function exportToFile<Row>(
  { kind, id = '', rows, columns }: Exportable<Row>,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<string> {
  const name = exportFileName(kind, id, format, new Date());
  const parts = (): Iterable<string> => unlessStopped(exportParts(format, rows, columns), signal);
  return `${rowCount(rows.length)} to ${await writeNumbered(name, parts)}`;
}

/** Names to try if another export of the same second has taken the first one. */
const mostNames = 20;

async function writeNumbered(name: string, parts: () => Iterable<string>, number = 1): Promise<string> {
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

function* unlessStopped(parts: Iterable<string>, signal: AbortSignal): Generator<string, void> {
  for (const part of parts) {
    signal.throwIfAborted();
    yield part;
  }
}

/**
 * Saves a document to a new file in the current folder, whatever its name contains. Returns its absolute path.
 *
 * @throws NewFileError
 */
export function saveFile({ name, text }: Document): Promise<string> {
  return writeNewFile(safeFileName(name), [text]);
}
