/** Starts the built program with a known service that answers late, or never. */
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshHome, openSession, program, type Session } from './session.ts';

const listed = {
  items: [{ bench_id: 'bench_1', label: 't-words', family: 'style', eval_run_count: 3 }],
  has_more: false,
  next_cursor: null,
};

/** Answers held back until released. */
let held: ServerResponse[];
let holds: boolean;
let server: Server;
let home: ReturnType<typeof freshHome>;
const sessions: Session[] = [];

const answer = (response: ServerResponse): void => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(listed));
};

const listener: RequestListener = (request, response) => {
  if (request.url?.split('?')[0] !== '/api/v1/benchmarks') {
    response.writeHead(404).end();
  } else if (holds) held.push(response);
  else answer(response);
};

function start(): Session {
  const session = openSession(home.env);
  sessions.push(session);
  return session;
}

async function end(session: Session): Promise<void> {
  session.signal('SIGTERM');
  await session.ended;
}

beforeEach(async () => {
  held = [];
  holds = false;
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  home = freshHome();
  Object.assign(home.env, { BENCHTOP_BASE_URL: `http://127.0.0.1:${port}`, BENCHTOP_API_KEY: 'sk-test-0123456789' });
  const session = start();
  await session.waitFor('▸ t-words');
  await session.waitFor('live');
  session.press('q');
  await session.ended;
});
afterEach(async () => {
  for (const session of sessions.splice(0)) await end(session);
  server.closeAllConnections();
  server.close();
  await home.remove();
});

/** The first frame sent to the terminal. */
const firstFrame = (session: Session): string => session.sent().split('\u001b[?2026l')[0] ?? '';

/** The files that a module of the bundle imports statically, including itself. */
function importedBy(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  // Later imports are `require` calls inside a function.
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/(?<!=>)require\("(\.\.?\/[^"]+)"\)/g)) {
    importedBy(join(dirname(path), name), found);
  }
  return found;
}

it('compiles little before the compile cache is enabled', () => {
  const bytes = [...importedBy(program)].reduce((sum, path) => sum + statSync(path).size, 0);
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThan(12_000);
});

/** Loaded before the program: writes which parts of Node are loaded when the first frame is sent, and at the end. */
const listLoaded = `
  const list = name => require('node:fs').writeFileSync(process.env.LOADED + name, process.moduleLoadList.join('\\n'));
  process.on('exit', () => list('-at-end'));
  const { _write: write } = require('node:net').Socket.prototype;
  let isDrawn = false;
  require('node:net').Socket.prototype._write = function (data, ...rest) {
    if (!isDrawn && String(data).includes('Benchmarks')) list('');
    isDrawn ||= String(data).includes('Benchmarks');
    return write.call(this, data, ...rest);
  };
`;

it('loads no schemas, HTTP or cryptography before the first frame, and no web streams for an answer', async () => {
  const chunks = join(dirname(program), 'chunks');
  const screen = readdirSync(chunks).find(name => name.startsWith('screen-')) ?? '';
  const code = [...importedBy(join(chunks, screen))].map(path => readFileSync(path, 'utf8')).join('\n');
  expect(code.includes('listBenchmarks')).toBe(true);
  expect(code.includes('/api/v1/')).toBe(false);
  const [hook, list] = [join(home.home, 'hook.cjs'), join(home.home, 'loaded')];
  writeFileSync(hook, listLoaded);
  holds = true;
  const session = openSession({ ...home.env, NODE_OPTIONS: `--require ${hook}`, LOADED: list });
  sessions.push(session);
  await session.waitFor('Benchmarks');
  const loaded = readFileSync(list, 'utf8').split('\n');
  expect(loaded).toContain('NativeModule tty');
  expect(loaded.filter(name => /^NativeModule (assert|crypto|https?|tls|fs\/promises)$/.test(name))).toEqual([]);
  await expect.poll(() => held.length).toBeGreaterThan(0);
  holds = false;
  for (const response of held.splice(0)) answer(response);
  await session.waitFor('live');
  await end(session);
  const atEnd = readFileSync(`${list}-at-end`, 'utf8').split('\n');
  expect(atEnd).toContain('NativeModule http');
  expect(atEnd).not.toContain('NativeModule internal/webstreams/readablestream');
});

describe('compiled code', () => {
  /** The cached code for screens, by file. */
  function cached(): Map<string, Buffer> {
    const root = join(home.home, '.cache/benchtop/compiled');
    const [folder = ''] = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name => /screen$/.test(name));
    return new Map(readdirSync(join(root, folder)).map(name => [name, readFileSync(join(root, folder, name))]));
  }

  async function startAndEnd(): Promise<void> {
    const session = start();
    await session.waitFor('live');
    await end(session);
  }

  it('is written by the first start, and used by the next', async () => {
    const written = cached();
    expect([...written.keys()].map(name => name.split('-')[0])).toEqual(expect.arrayContaining(['screen', 'service']));
    await startAndEnd();
    expect(cached()).toEqual(written);
  });

  it('is compiled and written again if it is damaged', async () => {
    const root = join(home.home, '.cache/benchtop/compiled');
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.cjs')) continue;
      const code = readFileSync(join(root, name));
      writeFileSync(join(root, name), code.fill('?', code.length / 2));
    }
    const damaged = cached();
    await startAndEnd();
    for (const [name, code] of cached()) expect(code.equals(damaged.get(name) ?? code)).toBe(false);
  });
});

describe('a start that a signal ended', () => {
  it('leaves no file that the next one must recover', async () => {
    const session = start();
    await session.waitFor('live');
    await end(session);
    expect(readdirSync(join(home.home, '.local/state/benchtop'))).toEqual(['remembered.db']);
  });
});

describe('the first frame', () => {
  it('has the rows with their age while the answer is on its way, which replaces them in place', async () => {
    holds = true;
    const session = start();
    await session.waitFor('▸ t-words');
    expect(firstFrame(session)).toMatch(/stale, read \d+[sm] ago/);
    expect(firstFrame(session)).toContain('t-words');
    await expect.poll(() => held.length).toBeGreaterThan(0);
    const before = session.sent().length;
    holds = false;
    for (const response of held.splice(0)) answer(response);
    await session.waitFor('live');
    expect(session.sent().slice(before)).not.toContain('t-words');
    expect(session.text()).toContain('▸ t-words');
  });

  it('has the rows with their age if nothing answers, and says what is wrong', async () => {
    server.closeAllConnections();
    server.close();
    const session = start();
    await session.waitFor('▸ t-words');
    expect(firstFrame(session)).toMatch(/stale, read \d+[sm] ago/);
    await session.waitFor(/failing, read \d+[sm] ago/);
    expect(session.text()).toContain('▸ t-words');
  });
});
