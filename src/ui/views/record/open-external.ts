/** Opens content in a pager or an editor. */

import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { safeFileName } from '../../../base/new-file.ts';
import type { TerminalPort } from '../../app/terminal-port.ts';

/** The content as a file. */
export interface Document {
  /** With its extension, for the editor's syntax colours. */
  readonly name: string;
  readonly parts: Iterable<string>;
}

/**
 * Opens a document in the user's pager, which has the terminal until it exits. The program continues in the background.
 *
 * @throws Error with the reason if that fails
 */
export async function openInPager(document: Document, terminal: TerminalPort): Promise<void> {
  const command = (process.env['PAGER'] ?? 'less').trim();
  if (command === '') throw new Error('PAGER is empty: the pager is disabled. Unset it, or open the editor instead.');
  await openIn(command, document, terminal);
}

/** Like `openInPager`, with the user's editor. Discards changes. */
export function openInEditor(document: Document, terminal: TerminalPort): Promise<void> {
  return openIn(process.env['VISUAL'] || process.env['EDITOR'] || 'vi', document, terminal);
}

/** Opens a copy of the document, and removes it even if the program ends first. */
async function openIn(command: string, document: Document, terminal: TerminalPort): Promise<void> {
  let folder: string | undefined;
  const remove = (): void => {
    if (folder) rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove);
  try {
    folder = await mkdtemp(join(tmpdir(), 'benchtop-'));
    const path = join(folder, safeFileName(document.name));
    await writeFile(path, document.parts, { mode: 0o600 });
    // Run by a shell, because the variables may hold flags (`less -R`).
    const code = await terminal.runExternal('sh', ['-c', `${command} "$1"`, 'sh', path]);
    if (code !== 0) throw new Error(`${command} exited with code ${code}`);
  } finally {
    process.off('exit', remove);
    remove();
  }
}
