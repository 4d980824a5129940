/** A session of the built program on a stand-in of each generation of the service. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { standIn } from '../generations/stand-in.ts';
import { apiKey } from '../service/hostile-server.ts';
import { freshHome, openSession } from './session.ts';

let home: ReturnType<typeof freshHome>;
beforeEach(() => {
  home = freshHome();
});
afterEach(() => home.remove());

describe.each([
  ['document', 'images 1/2 ready, 1 failed', '/api/v1/eval/bench_1/start'],
  ['newest', 'images 1/3 ready, 1 failed', '/api/v1/eval'],
] as const)('on a service of generation %s', (generation, images, start) => {
  it('a benchmark is opened and evaluated, and the connect window says which it is', async () => {
    const service = await standIn(generation);
    const env = { ...home.env, BENCHTOP_BASE_URL: service.url, BENCHTOP_API_KEY: apiKey };
    const session = openSession(env, { columns: 140, rows: 40 });
    await session.waitFor('1 row could not be read');
    session.press('enter');
    await session.waitFor(images);
    session.press('e');
    await session.waitFor('Evaluate on t-words');
    // Each field as it is proposed; the last one sends it.
    session.press('enter', 'enter', 'enter');
    await session.waitFor(/0\.500 of 6 graded/);
    const started = service.requests.filter(({ method, url }) => method === 'POST' && url.startsWith('/api/v1/eval'));
    expect(started.map(({ url }) => url)).toEqual([start]);
    expect(service.refused).toEqual([]);
    session.press('ctrl-k');
    await session.waitFor(`generation ${generation}`);
    session.press('esc');
    await session.gone(`generation ${generation}`);
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
  });
});
