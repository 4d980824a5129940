import { describe, expect, it } from 'vitest';
import type { Command } from '../../../src/present/command.ts';
import { helpLines, helpSections } from '../../../src/ui/app/help-lines.ts';
import { generalLayers, listCommands } from '../../../src/ui/keys/general.ts';
import { overrideErrors } from '../../../src/ui/keys/key.ts';
import { compareCommands, rolloutCommands, sideCommands, triageCommands } from '../../../src/ui/views/commands.ts';
import { registry } from '../../../src/ui/views/registry.ts';

const sections = helpSections(registry, [], () => true);
const commands = [
  ...generalLayers.flatMap(table => Object.values(table)),
  ...registry.views.flatMap(view => view.commands),
];

describe('help', () => {
  it.each([74, 96])('shows every id that `keys` can name, in %i columns', width => {
    const lines = helpLines(sections, command => command.keys, width);
    const shown = new Set(lines.flatMap(({ text }) => text.split(/\s+/).at(-1) ?? []));
    expect(commands.map(({ id }) => id).filter(id => !shown.has(id))).toEqual([]);
  });

  it('explains the intervals if a comparison is shown (V44)', () => {
    const here = helpSections(registry, [compareCommands.swap], () => true);
    const text = helpLines(here.slice(0, 1), command => command.keys, 80)
      .map(line => line.text.trim())
      .join(' ');
    expect(text).toContain('swap base and new');
    expect(text).toContain('arXiv 1905.06208');
    expect(helpSections(registry, [], () => true)[0]?.about).toBeUndefined();
    // Lists of rollouts have some of its keys, but no interval (C1).
    const ofList = [...Object.values(rolloutCommands), sideCommands.pair, ...Object.values(triageCommands)];
    expect(helpSections(registry, ofList, () => true)[0]?.about).toBeUndefined();
  });

  it('omits the ids if they would take every other line', () => {
    const lines = helpLines([{ title: 'Lists', commands: [listCommands.down] }], command => command.keys, 54);
    expect(lines.at(-1)?.text).toMatch(/move down$/);
    expect(lines[0]?.text).toMatch(/^At 80 columns or more/);
  });

  it('names the groups of a section with several', () => {
    const textsOf = (shown: readonly Command[]): string[] =>
      helpLines([{ title: 'Lists', commands: shown }], command => command.keys, 54).map(({ text }) => text);
    expect(textsOf([listCommands.down]).slice(-2)).toEqual(['Lists', expect.stringContaining('move down')]);
    expect(textsOf([listCommands.down, listCommands.mark])).toEqual(expect.arrayContaining(['  Move', '  List']));
  });

  it('shows ids as the settings take them', () => {
    const [line] = helpLines([{ title: 'Lists', commands: [listCommands.down] }], command => command.keys, 96).slice(
      -1,
    );
    expect(line?.text).toMatch(/^ {4}↓ {2}j +move down +list\.down$/);
    const layers = generalLayers.map(table => Object.values(table));
    expect(overrideErrors(layers, { 'list.down': ['ctrl-n'] })).toEqual([]);
  });
});
