/** The built program in a pseudo-terminal whose every byte is checked. */
import { SequenceReader } from '../rig/sequences.ts';
import { program, Terminal, type TerminalOptions } from '../rig/terminal.ts';

export interface CheckedOptions extends Omit<TerminalOptions, 'command' | 'onOutput'> {
  readonly args: readonly string[];
  readonly onUnmeant: (what: string) => void;
  /** Texts that must never be written. */
  readonly secrets: readonly string[];
}

/** Bytes at the end of a chunk that may be the beginning of a secret. */
const overlap = 64;

/**
 * While the terminal is lent or given back, the kernel itself echoes what is typed: keys, including tabs, which it erases
 * with `\b \b`, and pastes, whose marks it writes with a caret.
 */
function withoutEcho(data: string): string {
  return data
    .replaceAll('\b \b', '')
    .replace(/^\t+(?=\u001b|$)/, '')
    .replace(/\^\[\[200~.*?(?:\^\[\[201~?|$)/gs, '');
}

export function openChecked({ args, onUnmeant, secrets, ...options }: CheckedOptions): Terminal {
  const reader = new SequenceReader(onUnmeant);
  let tail = '';
  const onOutput = (data: string): void => {
    const text = tail + data;
    tail = text.slice(-overlap);
    for (const secret of secrets) if (text.includes(secret)) onUnmeant('a credential');
    reader.take(withoutEcho(data));
  };
  return new Terminal({ ...options, command: [process.execPath, program, ...args], onOutput });
}

/** What the program left changed in its terminal: modes, the title, the style of later output. */
export async function changedIn(terminal: Terminal): Promise<readonly string[]> {
  // Later output is plain, and where the shell would write it.
  await new Promise<void>(resolve => terminal.emulator.write('\r\n#', resolve));
  const { baseY, cursorY } = terminal.emulator.buffer.active;
  const cell = terminal.emulator.buffer.active.getLine(baseY + cursorY)?.getCell(0);
  const plain = cell?.getChars() === '#' && cell.isAttributeDefault();
  return [...terminal.leftOn(), ...(plain ? [] : ['style'])];
}
