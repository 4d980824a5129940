/** Every resource is found wherever resources are listed, through its declaration alone. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { placeOfRef, refOf, resourceNamed, resources } from '../src/resources/catalogue.ts';
import { idOf, labelOf, type Resource, titleOf } from '../src/resources/define.ts';
import { cliOn } from './commands/cli.ts';
import { recordSamples, storeSamples } from './conformance/records.ts';
import { clientOf, startService, type TestService } from './local/server/running.ts';
import { openProgram } from './ui/program/rig.tsx';

let local: TestService;
beforeAll(async () => {
  local = await startService();
  storeSamples(local);
});
afterAll(() => local.end());

const listed = resources.filter(({ needs }) => needs === undefined);

/** The program on the local service, wide enough for three panes. */
function openScreen() {
  const service = clientOf(local);
  const rig = openProgram({ service, columns: 140, rows: 40 });
  onTestFinished(async () => {
    rig.close();
    await service.close();
  });
  return rig;
}

describe.each(listed.map(resource => [resource.names[0], resource] as const))('%s', (name, resource) => {
  it('are a section, and in the palette under each of their names', async () => {
    const { screen } = openScreen();
    await screen.waitFor(titleOf(resource));
    for (const alias of resource.names) {
      await screen.type(`:${alias}`);
      await screen.waitFor(text => text.includes(`▸ ${titleOf(resource)}`));
      await screen.press('esc');
    }
  });

  it('are in help with their names', async () => {
    const { screen } = openScreen();
    await screen.waitFor('▸');
    await screen.press('?');
    await screen.waitFor('Help');
    await screen.press('G');
    await screen.waitFor(text => resource.names.every(alias => text.includes(`:${alias}`)));
  });

  it('open from the palette as a list with columns', async () => {
    const { screen } = openScreen();
    await screen.waitFor('▸');
    await screen.type(`:${name}\r`);
    await screen.waitFor(resource.columns[0]?.title ?? '');
    expect(screen.text()).toContain(titleOf(resource));
  });
});

async function sampleOf(resource: Resource): Promise<object> {
  const { row } = recordSamples.find(sample => sample.resource === resource.names[0]) ?? {};
  const ids: unknown[] = Object.values(row ?? {});
  const service = clientOf(local);
  const { signal } = new AbortController();
  const memory = openProgram().workbench.remembered;
  const page = await resource.list({}).readPage({ service, signal, memory, query: { limit: 200 } });
  await service.close();
  const found = page.items.find(each => ids.includes(idOf(resource, each)));
  if (!found) throw new Error(`the sample of ${resource.names[0]} is not listed`);
  return found;
}

const sampled = recordSamples.flatMap(sample => resourceNamed(sample.resource) ?? []);

describe.each(sampled.map(resource => [resource.names[0], resource] as const))('a sample of %s', (name, resource) => {
  it('has cells in its columns and values in its facts', async () => {
    const sample = await sampleOf(resource);
    const [first] = resource.columns;
    expect(first?.value(sample)).toBeTruthy();
    expect(resource.facts(sample).map(({ value }) => value)).toContain(idOf(resource, sample));
  });

  it('is listed and printed on the command line', async () => {
    const sample = await sampleOf(resource);
    const id = idOf(resource, sample);
    const cli = cliOn(local);
    expect((await cli('list', [name, '--ids'])).out.split('\n')).toContain(id);
    expect((await cli('get', [resource.names[1], labelOf(resource, sample)])).out).toContain(id);
  });

  it('is in its list on screen, opens if it can be read, and can be pinned to Watch if it has a kind', async () => {
    const sample = await sampleOf(resource);
    const label = labelOf(resource, sample);
    const { screen, workbench } = openScreen();
    await screen.waitFor('▸');
    await screen.type(`:${name}\r`);
    await screen.waitFor(label);
    if (resource.get) {
      await screen.type(`:${resource.names[1]} ${idOf(resource, sample)}\r`);
      await screen.waitFor(`${titleOf(resource)} › `);
      await screen.waitFor(text => /final|live/.test(text) && text.includes(label));
    }
    const ref = refOf(resource, sample);
    if (!ref) return;
    expect(placeOfRef(ref)).toMatchObject({ view: 'record', id: ref.id });
    await screen.press('p');
    expect(workbench.pins.has(ref.kind, ref.id)).toBe(true);
    await screen.type(':watch\r');
    await screen.waitFor(text => /WATCHED/.test(text) && text.includes(label));
  });
});
