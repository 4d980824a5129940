/** Nothing is out of reach: every endpoint has a place on the screen, every command a place in help and in the key map. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { endpoints, type Operation } from '../../../src/contract/endpoints.ts';
import type { Command } from '../../../src/present/command.ts';
import type { Caller } from '../../../src/service/caller.ts';
import { benchmarkResource } from '../../../src/service/resources/benchmarks.ts';
import { datasetResource } from '../../../src/service/resources/datasets.ts';
import { deploymentResource } from '../../../src/service/resources/deployments.ts';
import { evaluationResource } from '../../../src/service/resources/evaluations.ts';
import { modelResource } from '../../../src/service/resources/models.ts';
import { secretResource } from '../../../src/service/resources/secrets.ts';
import { trainingResource } from '../../../src/service/resources/training.ts';
import { trajectoryResource } from '../../../src/service/resources/trajectories.ts';
import { helpSections } from '../../../src/ui/app/help-lines.ts';
import { overrideFaults } from '../../../src/ui/keys/command.ts';
import { generalLayers } from '../../../src/ui/keys/general.ts';
import { isKeyName } from '../../../src/ui/keys/key.ts';
import { Router } from '../../../src/ui/keys/key-router.ts';
import { registry } from '../../../src/ui/views/registry.ts';

const source = fileURLToPath(new URL('../../../src', import.meta.url));

function textOf(folder: string): string {
  return readdirSync(`${source}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => readFileSync(`${source}/${folder}/${name}`, 'utf8'))
    .join('\n');
}

/** The operation that a method of the service layer asks for, learnt by calling it. */
function operationsOf(resources: Readonly<Record<string, (caller: Caller) => object>>): Map<string, Operation> {
  const found = new Map<string, Operation>();
  for (const [name, make] of Object.entries(resources)) {
    let asked: Operation | undefined;
    const caller = {
      call: (endpoint: { operation: Operation }) => {
        asked = endpoint.operation;
        return Promise.resolve({ items: [], has_more: false, next_cursor: null });
      },
    } as unknown as Caller;
    for (const [method, call] of Object.entries(make(caller))) {
      asked = undefined;
      // Whatever the method takes, this has its fields.
      const given = { value: '', reward_id: '', items: [] };
      const answer = (call as (...values: unknown[]) => unknown)(given, given, given);
      if (typeof answer === 'object' && answer !== null && 'next' in answer)
        void (answer as AsyncIterator<unknown>).next();
      if (asked) found.set(`${name}.${method}`, asked);
    }
  }
  return found;
}

describe('the screen', () => {
  it('names no path of the service itself: what it previews is made from the call', () => {
    expect(textOf('ui')).not.toContain('/api/v1');
  });

  it('reaches every endpoint of the service layer', () => {
    const operations = operationsOf({
      benchmarks: benchmarkResource,
      datasets: datasetResource,
      deployments: deploymentResource,
      evaluations: evaluationResource,
      models: modelResource,
      secrets: secretResource,
      training: trainingResource,
      trajectories: trajectoryResource,
    });
    const screen = textOf('queries') + textOf('ui');
    const reached = [...operations]
      .filter(([method]) => new RegExp(`service\\.${method.replace('.', '\\.')}\\(`).test(screen))
      .map(([, operation]) => operation);
    // Chat is a class of its own, and streams.
    if (screen.includes('service.chat.stream(')) reached.push('createChatCompletion');
    expect([...new Set(reached)].sort()).toEqual(Object.keys(endpoints).sort());
  });

  it('uploads to signed addresses', () => {
    expect(textOf('queries')).toContain('service.putUpload(');
  });
});

const general = generalLayers.flatMap(table => Object.values<Command>(table));
const ofViews = registry.flatMap(view => view.commands);
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
      ...registry.map(view => view.commands),
    ];
    expect(overrideFaults(layers, {})).toEqual([]);
  });

  it('that destroys asks first: nothing destructive has the key of a harmless neighbour', () => {
    for (const command of all.filter(each => each.destructive)) expect(command.writes, command.id).toBe(true);
  });
});

describe('every view', () => {
  it('has a name of its own, and no alias leads to two', () => {
    const sections = registry.filter(view => view.section);
    const names = sections.flatMap(view => [view.name, ...view.aliases]);
    expect(new Set(names).size).toBe(names.length);
  });
});
