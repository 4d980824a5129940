/** An image on the terminal, in place of the screen. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SequenceReader } from '../../tools/rig/sequences.ts';
import { pngOf } from '../ui/views/trajectories/png.ts';
import { freshHome, openSession, type Session } from './session.ts';

const png = pngOf(640, 480, 20_000);
const shown = /\u001b_Ga=T,f=100,[^;]*;[\w+/=]*\u001b\\(?:\u001b_Gq=2,m=[01];[\w+/=]*\u001b\\)*/;
const removed = /\u001b_Gq=2,m=0;\u001b\\\u001b_Ga=d,d=I,i=\d+,q=2\u001b\\/;

let home: ReturnType<typeof freshHome>;
let file: string;
beforeAll(() => {
  home = freshHome();
  file = join(home.home, 'rollouts.jsonl');
  const part = { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } };
  writeFileSync(file, `${JSON.stringify({ task_id: 'tea', messages: [{ role: 'user', content: [part] }] })}\n`);
});
afterAll(() => home.remove());

async function opened(TERM: string): Promise<Session> {
  const session = openSession({ ...home.env, TERM }, { args: ['read', file] });
  await session.waitFor('▸ tea');
  session.press('enter');
  await session.waitFor('[image png 20 KB]');
  return session;
}

describe('an image', () => {
  it('is drawn by kitty until a key is pressed, which does nothing else', async () => {
    const session = await opened('xterm-kitty');
    session.press('V');
    await session.waitFor('image png 20 KB in message 1; any key returns');
    expect(session.text()).not.toContain('[image png 20 KB]');
    const base64 = (shown.exec(session.sent())?.[0] ?? '').replaceAll(/\u001b_G[^;]*;|\u001b\\/g, '');
    expect(Buffer.from(base64, 'base64').equals(png)).toBe(true);
    session.press('q');
    await session.waitFor('[image png 20 KB]');
    expect(session.text()).not.toContain('any key returns');
    expect(session.sent()).toMatch(removed);
    // The next key is one of the screen again.
    session.press('?');
    await session.waitFor('show the image below');
    session.press('esc');
    await session.gone('show the image below');
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
    const others: string[] = [];
    new SequenceReader(what => others.push(what)).take(session.sent().replace(shown, '').replace(removed, ''));
    expect(others).toEqual([]);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('does not keep the terminal after %s', async (signal, code) => {
    const session = await opened('xterm-kitty');
    session.press('V');
    await session.waitFor('any key returns');
    session.signal(signal);
    expect((await session.ended).exitCode).toBe(code);
    expect(session.leftOn()).toEqual([]);
    expect(session.sent().split('\u001b[?1049l').at(-1)).not.toContain('\u001b_');
  });

  it('is saved to a file in other terminals', async () => {
    const session = await opened('xterm-256color');
    session.press('V');
    await session.waitFor('The image is in ');
    expect(session.sent()).not.toMatch(/\u001b_|\u001b\]1337/);
    session.press('q');
    await session.ended;
  });
});
