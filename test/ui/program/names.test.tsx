/** Names of object properties, such as `constructor`, as names from a service: they are ordinary words. */
import { beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../../src/ui/views/registry.ts';
import { makeWorld, type World } from '../../conformance/samples.ts';
import { placeIn } from '../places.ts';
import { between, openProgram } from './rig.tsx';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
  return () => world.end();
}, 120_000);

/** Ids stay, because requests by id must succeed. Times and addresses have a form that is checked. */
const kept = /^[a-z]+_[\w-]{6,}$|^\d{4}-\d\d-\d\dT|^https?:/;

/** Every word of an answer becomes one of `words` in turn, and every object gets fields of those names besides. */
function renamed(text: string, words: readonly string[]): string {
  let count = 0;
  const change = (value: unknown): unknown => {
    if (typeof value === 'string') {
      if (kept.test(value) || value === '') return value;
      count += 1;
      return words[count % words.length];
    }
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([name, field]) => [name, change(field)]);
    // Like `JSON.parse`: an own field, even if it is called `__proto__`.
    return Object.fromEntries([...fields, ...words.map(word => [word, word])]);
  };
  return JSON.stringify(change(JSON.parse(text)));
}

const words = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'] as const;

describe('names of inherited properties', () => {
  it.each(registry.views.map(view => view.id))('are ordinary in the view %s', async name => {
    const wire = await between(world.local, text => renamed(text, words));
    const { screen, failed, close } = openProgram({ service: wire.service, start: placeIn(world.ids, name, words[0]) });
    await wire.quiet();
    await screen.waitFor(text => !text.includes('Loading'));
    await screen.press('s', 'j', 'right', 'C', 'esc', 'a', 'esc', 'e', 'esc', '?', 'esc');
    await wire.quiet();
    expect(failed.map(({ error }) => (error instanceof Error ? error.stack : error))).toEqual([]);
    expect(screen.text()).not.toMatch(/\[object|native code|undefined/);
    close();
    await wire.close();
  });

  it.each(words)('are shown unchanged: %s', async word => {
    const wire = await between(world.local, text => renamed(text, [word]));
    const { screen, close } = openProgram({ service: wire.service, start: { view: 'list', resource: 'deployments' } });
    await screen.waitFor(`▸ ${word}`);
    // The column of the status is narrow.
    expect(screen.text()).toContain(`• ${word.slice(0, 8)}`);
    close();
    await wire.close();
  });
});
