/** SIGTERM and similar signals end the program in any state, and the terminal is restored. */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findService } from '../../src/local/daemon/client.ts';
import { lockFolder } from '../../src/local/daemon/files.ts';
import { eventually } from '../eventually.ts';
import { freshHome, openSession, type Session } from './session.ts';

/** Long enough for a busy machine; a hanging program never ends. */
const hangsMs = 120_000;

let home: ReturnType<typeof freshHome>;
let server: Server | undefined;
beforeAll(() => {
  home = freshHome();
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});
afterAll(() => home.remove());

async function serviceOf(answer: RequestListener): Promise<Record<string, string>> {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { ...home.env, BENCHTOP_BASE_URL: `http://127.0.0.1:${port}`, BENCHTOP_API_KEY: 'sk-test-0123456789' };
}

const models = { items: [{ model_slug: 'acme/slow', model_name: 'slow' }] };

/** Streams a chat answer endlessly, a word every few milliseconds; everything else is an empty list. */
const endlessChat: RequestListener = (request, response) => {
  if (!request.url?.startsWith('/v1/')) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url?.includes('/models/') ? models : { items: [], has_more: false }));
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  const word = { choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] };
  const timer = setInterval(() => response.write(`data: ${JSON.stringify(word)}\n\n`), 3);
  response.on('close', () => clearInterval(timer));
};

/** Answers immediately with unrequested content, deep and long. */
const nonsense: RequestListener = (_, response) => {
  response.setHeader('content-type', 'application/json');
  const items = Array.from({ length: 2_000 }, (_row, index) => ({ [`${index}`]: [[[[index]]]], bench_id: index }));
  response.end(JSON.stringify({ items, has_more: true, next_cursor: 'again', error: items.slice(0, 50) }));
};

async function endsBy(session: Session, signal: 'SIGTERM' | 'SIGHUP' | 'SIGINT', code: number): Promise<void> {
  session.signal(signal);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${signal} was not heard:\n${session.text()}`)), hangsMs);
  expect((await Promise.race([session.ended, late.promise])).exitCode).toBe(code);
  clearTimeout(timer);
  expect(session.leftOn()).toEqual([]);
}

/** A program that starts its local service, which waits until `unlock`. */
async function starting(): Promise<{ session: Session; unlock: () => Promise<void> }> {
  // Of its own: in the end the service does start, and only then can it be stopped.
  const own = freshHome();
  onTestFinished(own.remove);
  const folder = join(own.home, '.local/share/benchtop');
  mkdirSync(folder, { recursive: true });
  const unlock = lockFolder(folder);
  const session = openSession(own.env);
  await session.waitFor('Starting the local service…');
  return {
    session,
    unlock: async () => {
      unlock?.();
      await eventually(async () => expect(await findService(folder)).toBeDefined());
    },
  };
}

describe.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
  ['SIGINT', 130],
] as const)('%s ends the program', (signal, code) => {
  it('while a chat streams', async () => {
    const session = openSession(await serviceOf(endlessChat));
    await session.waitFor('Benchmarks');
    session.type(':chat\r');
    await session.waitFor('acme/slow');
    session.type('tell me everything\r');
    await session.waitFor('word word word');
    await endsBy(session, signal, code);
  });

  it('while the service does not answer', async () => {
    const session = openSession(await serviceOf(() => {}));
    await session.waitFor('Benchmarks');
    await endsBy(session, signal, code);
  });

  it('while the service sends garbage, and keys never stop', async () => {
    const session = openSession(await serviceOf(nonsense));
    await session.waitFor('Benchmarks');
    const enough = Promise.withResolvers<void>();
    let left = 100;
    const typing = setInterval(() => {
      session.type('jjkkGg:runs\rsS/x\u001b:traj\r[]');
      left -= 1;
      if (left === 0) enough.resolve();
    }, 2);
    await enough.promise;
    await endsBy(session, signal, code);
    clearInterval(typing);
  });

  it('while the local service is being started', async () => {
    const { session, unlock } = await starting();
    await endsBy(session, signal, code);
    await unlock();
  });

  it('while a new service is being tested', async () => {
    const env = await serviceOf(() => {});
    const session = openSession(env);
    await session.waitFor('Benchmarks');
    session.press('ctrl-k');
    await session.waitFor('Connect to a service');
    session.type('lab\t');
    session.type(`\u0015${env['BENCHTOP_BASE_URL']}\t`);
    session.press('right', 'right', 'right');
    session.type('\tsk-lab\r');
    await session.waitFor('Testing the service…');
    await endsBy(session, signal, code);
  });

  it('while it waits for the last reply of the terminal', async () => {
    const session = openSession(await serviceOf(endlessChat));
    await session.waitFor('Benchmarks');
    session.stall();
    session.press('j', 'ctrl-l', 'q');
    session.signal(signal);
    await session.ended;
  });
});

describe('q ends the program', () => {
  it('while a request hangs', async () => {
    const session = openSession(await serviceOf(() => {}));
    await session.waitFor('Benchmarks');
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
  });

  it('while the local service is being started', async () => {
    const { session, unlock } = await starting();
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
    await unlock();
  });
});
