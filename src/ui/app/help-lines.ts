/** Help as lines, generated from the commands that define the keys. Pure. */

import { pushAll } from '../../base/many.ts';
import type { Command } from '../../present/command.ts';
import { displayWidth, padEnd } from '../../text/width.ts';
import { wrap } from '../../text/wrap.ts';
import {
  columnCommands,
  confirmCommands,
  errorCommands,
  failureCommands,
  formCommands,
  globalCommands,
  listCommands,
  menuCommands,
  overlayCommands,
  paletteCommands,
  pickerCommands,
  recordCommands,
  referenceCommands,
  scrollCommands,
  typingCommands,
} from '../keys/general.ts';
import { keyLabel } from '../keys/key.ts';
import type { Registry } from './registry.ts';

interface HelpLine {
  readonly kind: 'heading' | 'command' | 'text';
  readonly text: string;
}

interface HelpSection {
  readonly title: string;
  readonly commands: readonly Command[];
  /** Text below the commands. */
  readonly about?: string | undefined;
}

const globalSections: readonly HelpSection[] = [
  { title: 'Everywhere', commands: Object.values(globalCommands) },
  { title: 'Any item', commands: [...Object.values(recordCommands), ...Object.values(errorCommands)] },
  { title: 'Lists', commands: Object.values(listCommands) },
  { title: 'Long text', commands: Object.values(scrollCommands) },
  { title: 'Facts that refer to other resources', commands: Object.values(referenceCommands) },
];
const inWindows: readonly HelpSection[] = [
  { title: 'While typing', commands: Object.values(typingCommands) },
  { title: 'Forms', commands: Object.values(formCommands) },
  { title: 'Confirmations', commands: Object.values(confirmCommands) },
  { title: 'Palette', commands: Object.values(paletteCommands) },
  { title: 'Choices', commands: Object.values(menuCommands) },
  { title: 'Choosing columns', commands: Object.values(columnCommands) },
  { title: 'Choosing files', commands: Object.values(pickerCommands) },
  { title: 'After a failure', commands: Object.values(failureCommands) },
  { title: 'Other windows', commands: Object.values(overlayCommands) },
];

/** The content of help: the keys that work here, then all others by scope, except disabled commands. */
export function helpSections(
  registry: Registry,
  here: readonly Command[],
  allows: (command: Command) => boolean,
): HelpSection[] {
  const known = new Set(globalSections.flatMap(section => section.commands.map(command => command.id)));
  const now = here.filter(command => !known.has(command.id));
  const views = registry.views.map(({ title, commands }) => ({ title, commands }));
  // The first command of a view is its own; others may work in any list.
  const about = registry.views.find(
    ({ about, commands: [own] }) => about !== undefined && own !== undefined && now.includes(own),
  )?.about;
  const sections: readonly HelpSection[] = [
    { title: 'Here', commands: now, about },
    ...globalSections,
    ...views,
    ...inWindows,
  ];
  return sections.map(section => ({ ...section, commands: section.commands.filter(allows) }));
}

const keyColumn = 22;

/** Minimum width at which command ids fit. */
const roomForIds = 70;
const aboutIds = 'The ids on the right are for changing keys with `keys` in config.json.';
const aboutRoom = 'At 80 columns or more, this window also shows the command ids for `keys` in config.json.';

/**
 * Help as lines: every section with its commands, by group if there are several, each command once. The command id is
 * at the right edge, or on its own line if it does not fit; a small terminal does not show it.
 */
export function helpLines(
  sections: readonly HelpSection[],
  keysOf: (command: Command) => readonly string[],
  width: number,
): HelpLine[] {
  const lines: HelpLine[] = wrap(width < roomForIds ? aboutRoom : aboutIds, width).map(text => ({
    kind: 'text',
    text,
  }));
  for (const { title, commands, about } of sections) {
    const once = commands.filter((command, index) => commands.findIndex(other => other.id === command.id) === index);
    if (once.length === 0) continue;
    if (lines.length > 0) lines.push({ kind: 'text', text: '' });
    lines.push({ kind: 'heading', text: title });
    const groups = new Set(once.map(command => command.group));
    for (const group of groups) {
      if (groups.size > 1) lines.push({ kind: 'text', text: `  ${group}` });
      for (const command of once.filter(candidate => candidate.group === group)) {
        const keys = keysOf(command).map(keyLabel).join('  ');
        const gap = displayWidth(keys) >= keyColumn ? `${keys}  ` : padEnd(keys, keyColumn);
        const text = `    ${gap}${command.title}`;
        const room = width - displayWidth(text);
        if (width < roomForIds) lines.push({ kind: 'command', text });
        else if (room > command.id.length) lines.push({ kind: 'command', text: text + command.id.padStart(room) });
        else lines.push({ kind: 'command', text }, { kind: 'text', text: command.id.padStart(width) });
      }
    }
    const words = about === undefined ? [] : ['', ...wrap(about.replaceAll('\n', ' '), width - 4)];
    pushAll(
      lines,
      words.map((text): HelpLine => ({ kind: 'text', text: text && `    ${text}` })),
    );
  }
  return lines;
}

/** The names that open each section from the palette. */
export function sectionLines({ sections }: Registry): HelpLine[] {
  return [
    { kind: 'text', text: '' },
    { kind: 'heading', text: 'Sections and their names in the palette' },
    ...sections.map(({ title, names }): HelpLine => {
      return { kind: 'command', text: `    ${padEnd(title, keyColumn)}${names.map(name => `:${name}`).join('  ')}` };
    }),
  ];
}
