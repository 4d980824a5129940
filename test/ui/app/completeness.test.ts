/** Every command has its place in help and in the key map. That every operation has a place on the screen is tested in ../program. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Command } from '../../../src/present/command.ts';
import { resources } from '../../../src/resources/catalogue.ts';
import { helpSections } from '../../../src/ui/app/help-lines.ts';
import { generalLayers } from '../../../src/ui/keys/general.ts';
import { isKeyName, overrideErrors } from '../../../src/ui/keys/key.ts';
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
  it('names no path of the service itself: what it previews is made from the call', () => {
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

  it('of a view is known by the registry, so that help has it and its keys can be changed', () => {
    const known = new Set(all.map(({ id }) => id));
    const declared = [...textOf('ui').matchAll(/\bid: '([a-z-]+\.[a-z-]+)'/g)].map(([, id]) => id ?? '');
    expect(declared.length).toBeGreaterThan(100);
    expect(declared.filter(id => !known.has(id))).toEqual([]);
  });

  it('has keys that there are', () => {
    for (const { id, keys } of all) for (const key of keys) expect([id, key, isKeyName(key)]).toEqual([id, key, true]);
    const layers = [
      ...generalLayers.map(table => Object.values<Command>(table)),
      ...registry.views.map(view => view.commands),
    ];
    expect(overrideErrors(layers, {})).toEqual([]);
  });
});

describe('every view', () => {
  it('has a name of its own, and no alias leads to two', () => {
    const names = [...registry.sections, ...resources.filter(({ needs }) => needs)].flatMap(({ names: all }) => all);
    const ids = registry.views.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(names).size).toBe(names.length);
  });
});
