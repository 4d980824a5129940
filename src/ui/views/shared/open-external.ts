/** Opens what is shown in a pager or an editor, and saves it to a file. */

import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ExportColumn, type ExportFormat, exportFileName, exportParts } from '../../../text/export.ts';
import type { TerminalPort } from '../../app/terminal-port.ts';
import { rowCount } from './list-words.ts';

/** What is shown, as a file. */
export interface Document {
  /** With its extension: editors colour by it. */
  readonly name: string;
  readonly text: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

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
    const path = join(folder, document.name.replaceAll(/[^\w.-]/g, '_'));
    await writeFile(path, document.text, { mode: 0o600 });
    // By a shell, as the variables may hold flags (`less -R`).
    const code = await terminal.runExternal('sh', ['-c', `${command} "$1"`, 'sh', path]);
    if (code !== 0) throw new Error(`${command} ended with code ${code}`);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Characters written at a time. */
const batchLength = 256 * 1024;

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
 * Writes rows to a new file in the folder that the program was started in, some at a time: keys are heard meanwhile. Gives
 * how many and its whole path, in words. Where it fails, there is no file.
 */
export async function exportToFile<Row>(
  { kind, id = '', rows, columns }: Exportable<Row>,
  format: ExportFormat,
): Promise<string> {
  const path = resolve(exportFileName(kind, id, format, new Date()));
  const file = await open(path, 'wx', 0o600);
  try {
    let batch = '';
    for (const part of exportParts(format, rows, columns)) {
      batch += part;
      if (batch.length < batchLength) continue;
      await file.write(batch);
      batch = '';
    }
    await file.write(batch);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return `${rowCount(rows.length)} to ${path}`;
}

/** Never writes over a file that is there. */
export function saveFile({ name, text }: Document): string {
  const path = resolve(name);
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  return path;
}
