/** The built program in a pseudo-terminal whose every byte is checked. */
import { program, Terminal, type TerminalOptions } from '../rig/terminal.ts';
import { outputCheck } from '../rig/traces.ts';

export interface CheckedOptions extends Omit<TerminalOptions, 'command' | 'onOutput'> {
  readonly args: readonly string[];
  readonly onUnmeant: (what: string) => void;
}

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

export function openChecked({ args, onUnmeant, ...options }: CheckedOptions): Terminal {
  const command = [process.execPath, program, ...args] as const;
  return new Terminal({ ...options, command, onOutput: outputCheck(onUnmeant, { cleaned: withoutEcho }) });
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
