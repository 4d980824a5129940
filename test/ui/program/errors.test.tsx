/** Errors on screen: they cover nothing important, and show the whole request id, which can be copied. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeWorld, type World } from '../../conformance/samples.ts';
import { eventually } from '../../eventually.ts';
import { placeIn } from '../places.ts';
import { between, openProgram, type Refusal } from './rig.tsx';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
  return () => world.end();
}, 120_000);

const requestId = 'req_8a21d93c-aa0d-46db-8de3-660f1e2ab719';
const refusal: Refusal = {
  status: 401,
  headers: { 'x-request-id': requestId },
  body: {
    error: { type: 'authentication_error', code: 'invalid_api_key', message: 'The key is not known.', param: null },
  },
};

/** The program on a service that answers once, and then refuses everything. */
async function refusedIn(view: string, columns: number, rows: number) {
  let refuses = false;
  const wire = await between(
    world.local,
    text => text,
    () => (refuses ? refusal : undefined),
  );
  const start = placeIn(world.ids, view, 'a name');
  const rig = openProgram({ service: wire.service, start, columns, rows });
  onTestFinished(async () => {
    rig.close();
    await wire.close();
  });
  await rig.screen.waitFor(text => /live|final/.test(text));
  // Parts of the head come with other answers.
  await wire.quiet();
  await rig.screen.press();
  const before = rig.screen.text().split('\n');
  refuses = true;
  await eventually(async () => {
    await rig.screen.press('r');
    await wire.quiet();
    expect(rig.screen.text()).toContain('The key is not known.');
  });
  return { ...rig, before };
}

const main = (line: string | undefined): string => line?.split('│').at(2)?.trim() ?? '';

describe.each([
  [120, 36],
  [120, 40],
  [80, 24],
])('an error at %i×%i', (columns, rows) => {
  it.each(['record training', 'record runs', 'record benchmarks'])('leaves the head of %s unchanged', async view => {
    const { screen, before } = await refusedIn(view, columns, rows);
    const after = screen.text().split('\n');
    expect(main(after[1]), screen.text()).toBe(main(before[1]));
    expect(main(after[2]), screen.text()).toBe(main(before[2]));
  });

  it.each(['record training', 'list benchmarks', 'list runs', 'record runs'])(
    'shows the whole request id in %s, which a key copies',
    async view => {
      const { screen, sent } = await refusedIn(view, columns, rows);
      expect(screen.text().replaceAll(/│\s*/g, ''), screen.text()).toContain(requestId);
      await screen.press('ctrl-y');
      await screen.waitFor('Sent to the clipboard: req_');
      expect(atob(sent.at(-1)?.match(/;c;([^\u0007]*)/)?.[1] ?? '')).toBe(requestId);
    },
  );
});
