/** Help as lines, made from the very commands that the keys are looked up in. Pure. */

import { displayWidth, padEnd } from '../../text/width.ts';
import type { Command } from '../keys/command.ts';
import { keyLabel } from '../keys/key.ts';

export interface HelpLine {
  readonly kind: 'heading' | 'command' | 'text';
  readonly text: string;
}

export interface HelpSection {
  readonly title: string;
  readonly commands: readonly Command[];
}

/** Width of the column with the keys. */
const keyColumn = 22;

/** The lines of help: every section with its commands by group, each command once. */
export function helpLines(
  sections: readonly HelpSection[],
  keysOf: (command: Command) => readonly string[],
): HelpLine[] {
  const lines: HelpLine[] = [];
  for (const { title, commands } of sections) {
    const once = commands.filter((command, index) => commands.findIndex(other => other.id === command.id) === index);
    if (once.length === 0) continue;
    if (lines.length > 0) lines.push({ kind: 'text', text: '' });
    lines.push({ kind: 'heading', text: title });
    for (const group of new Set(once.map(command => command.group))) {
      lines.push({ kind: 'text', text: `  ${group}` });
      for (const command of once.filter(candidate => candidate.group === group)) {
        const keys = keysOf(command).map(keyLabel).join('  ');
        const gap = displayWidth(keys) >= keyColumn ? `${keys}  ` : padEnd(keys, keyColumn);
        lines.push({ kind: 'command', text: `    ${gap}${command.title}` });
      }
    }
  }
  return lines;
}
