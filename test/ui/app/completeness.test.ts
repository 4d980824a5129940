/** Every command has its place in help and in the key map. That every operation has a place on the screen is tested in ../program. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Command } from '../../../src/present/command.ts';
import { resources } from '../../../src/resources/catalogue.ts';
import { helpSections } from '../../../src/ui/app/help-lines.ts';
import { keyLayers } from '../../../src/ui/app/registry.ts';
import { generalLayers } from '../../../src/ui/keys/general.ts';
import { isKeyName, type KeyOverrides, keyClashes, overrideErrors } from '../../../src/ui/keys/key.ts';
import { Router } from '../../../src/ui/keys/key-router.ts';
import { registry } from '../../../src/ui/views/registry.ts';

const source = fileURLToPath(new URL('../../../src', import.meta.url));

function textOf(folder: string): string {
  return readdirSync(`${source}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => readFileSync(`${source}/${folder}/${name}`, 'utf8'))
    .join('\n');
}

describe('the screen', () => {
  it('names no path of the service itself, as previews come from the call', () => {
    expect(textOf('ui')).not.toContain('/api/v1');
  });
});

const general = generalLayers.flatMap(table => Object.values<Command>(table));
const ofViews = registry.views.flatMap(view => view.commands);
const all = [...general, ...ofViews];

describe('every command', () => {
  it('is in help', () => {
    const inHelp = new Set(
      helpSections(registry, [], () => true).flatMap(section => section.commands.map(({ id }) => id)),
    );
    expect(all.map(({ id }) => id).filter(id => !inHelp.has(id))).toEqual([]);
  });

  it('that writes is not in the help of a read-only program', () => {
    const { allows } = new Router({ overrides: {}, readOnly: true });
    const commands = helpSections(registry, all, allows).flatMap(section => section.commands);
    expect(commands.filter(command => command.writes)).toEqual([]);
    expect(all.some(command => command.writes)).toBe(true);
  });

  it('of a view is known to the registry, so that help lists it and its keys can be changed', () => {
    const known = new Set(all.map(({ id }) => id));
    const declared = [...textOf('ui').matchAll(/\bid: '([a-z-]+\.[a-z-]+)'/g)].map(([, id]) => id ?? '');
    expect(declared.length).toBeGreaterThan(100);
    expect(declared.filter(id => !known.has(id))).toEqual([]);
  });

  it('has keys that exist', () => {
    for (const { id, keys } of all) for (const key of keys) expect([id, key, isKeyName(key)]).toEqual([id, key, true]);
  });
});

/** Never active together, or active in this order: the first belongs to the window that was opened last. */
const sharedKeys = [
  'enter: confirm.no, confirm.typed',
  'esc: confirm.leave, confirm.no',
  'esc: list.clear-filter, list.stop',
  'esc: go.up, list.clear-filter, list.stop',
  'esc: go.up, scroll.clear-search',
  'enter: list.open, upload.open, upload.start',
  // The input of a chat has the keys to itself, and an answer is stopped before the program.
  'enter: chat.send, chat.write',
  'esc: chat.cancel, chat.leave, go.up, scroll.clear-search',
  'ctrl-c: app.quit, chat.cancel',
  // A line of Watch has the actions of its own kind only.
  'c: run.cancel, training.cancel',
  'e: benchmark.evaluate, deployment.promote, training.evaluate',
  't: benchmark.train, deployment.chat, training.continue',
  'v: benchmark.images, training.rollouts',
  // While lengths or texts are read.
  'esc: go.up, lengths.stop, list.clear-filter, list.stop',
  'esc: go.up, list.clear-filter, list.stop, regrade.stop',
  'esc: go.up, list.clear-filter, list.stop, texts.stop',
  // Of a comparison by the stored rewards, and of one by other rewards.
  'R: compare.stored, rollouts.regrade',
  // Of two marked rollouts, and of their run.
  '=: rollouts.pair, run.compare',
  // Of runs of one kind.
  '=: run.compare, training.overlay',
  // Of a list of trajectories, and of one.
  'V: rollouts.tasks, trajectory.image',
  // Of a trajectory that was opened from a comparison.
  'tab: pane.right, trajectory.twin',
  // In a list, its facts are the pane on the right.
  'tab: list.references, pane.right',
  // In a compared task's rollouts, those of the base.
  'tab: list.references, pane.right, trajectory.twin',
  // So has a line of the tree.
  'D: checkpoint.deploy, training.deploy',
  'e: benchmark.evaluate, checkpoint.evaluate, deployment.promote, training.evaluate',
  't: benchmark.train, checkpoint.continue, deployment.chat, training.continue',
  // Only after a search.
  'N: chat.clear, scroll.previous',
];

/** By key, all commands of a layer that have it, if there are several. */
function sharedIn(commands: readonly Command[]): string[] {
  const clashes = Map.groupBy(keyClashes(commands), ({ key }) => key);
  return [...clashes].map(([key, each]) => {
    const ids = new Set(each.flatMap(({ commands: both }) => both.map(({ id }) => id)));
    return `${key}: ${[...ids].sort().join(', ')}`;
  });
}

describe('a key', () => {
  it('belongs to one of the commands that are active together', () => {
    const shared = new Set(keyLayers(registry).flatMap(sharedIn));
    expect([...shared].sort()).toEqual([...sharedKeys].sort());
  });

  it('shared by two commands is found, even across their tables', () => {
    const [benchmarks = []] = keyLayers(registry).filter(layer => layer.some(({ id }) => id === 'benchmark.evaluate'));
    const more: Command = { id: 'benchmark.more', title: 'more', keys: ['s'], group: 'Benchmark' };
    expect(sharedIn([more, ...benchmarks])).toContain('s: benchmark.more, list.sort');
  });

  it('in the settings cannot be that of another command in the same view, but can be swapped or shared as by default', () => {
    const errors = (keys: KeyOverrides) => overrideErrors(keyLayers(registry), keys);
    expect(errors({ 'list.columns': ['e'] })).toContain('keys.list.columns: “e” already means benchmark.evaluate');
    expect(errors({ 'benchmark.evaluate': ['C'] })).toEqual([
      'keys.benchmark.evaluate: “C” already means list.columns',
    ]);
    expect(errors({ 'benchmark.evaluate': ['C'], 'list.columns': ['ctrl-g'] })).toEqual([]);
    expect(errors({ 'go.up': ['esc', 'ctrl-g'] })).toEqual([]);
  });

  it.each<KeyOverrides>([
    { 'list.mark': ['H'] },
    { 'chat.write': ['s'] },
    { 'chat.write': ['a'] },
    { 'list.half-down': ['J'] },
    { 'list.columns': ['N'] },
    { 'item.pin': ['ctrl-o'] },
  ])('in the settings can be that of a command that is never active with it: %j', keys => {
    expect(overrideErrors(keyLayers(registry), keys)).toEqual([]);
  });

  it('in the settings cannot be that of a command that scrolls the same text', () => {
    expect(overrideErrors(keyLayers(registry), { 'trajectory.tools': ['n'] })).toEqual([
      'keys.trajectory.tools: “n” already means scroll.next',
    ]);
    expect(overrideErrors(keyLayers(registry), { 'scroll.search': ['i'] })).toEqual([
      'keys.scroll.search: “i” already means chat.write',
    ]);
  });
});

describe('every view', () => {
  it('has its own name, and no alias is ambiguous', () => {
    const names = [...registry.sections, ...resources.filter(({ needs }) => needs)].flatMap(({ names: all }) => all);
    const ids = registry.views.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(names).size).toBe(names.length);
  });
});
