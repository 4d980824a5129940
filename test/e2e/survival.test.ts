/**
 * One session that outlives its local service four times, while a run is on screen, a chat streams and an upload is in
 * progress: no manual restart, and nothing is lost.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findService, type LocalAddress } from '../../src/local/daemon/client.ts';
import { eventually } from '../eventually.ts';
import { freshHome, newerProgram, openSession, run, type Session } from './session.ts';

/** While this file exists, no service starts. */
const gate = (): string => join(home.home, 'gate');

/** Once this file exists, files are stored without delay. */
const swift = (): string => join(home.home, 'swift');

/**
 * Slows the service down: each word of a chat, each file, and each step of a training run takes a while. An answer that has
 * begun does not end, so that it is always in the middle when the service goes.
 */
const slowness = `
import { existsSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
const post = parentPort?.postMessage;
if (post) {
  parentPort.postMessage = message => {
    if (message.news?.kind === 'step') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    post.call(parentPort, message);
  };
}
while (process.argv.includes('--background') && existsSync(process.env.HOME + '/gate')) await wait(10);
const emit = http.Server.prototype.emit;
http.Server.prototype.emit = function (name, request, response) {
  if (name !== 'request') return emit.apply(this, arguments);
  if (request.url.startsWith('/v1/')) slowDown(response);
  if (request.method !== 'PUT' || existsSync(process.env.HOME + '/swift')) return emit.apply(this, arguments);
  setTimeout(() => emit.call(this, name, request, response), 250);
  return true;
};
function slowDown(response) {
  const { write, end } = response;
  let queue = Promise.resolve();
  let [hasWords, isHeld] = [false, false];
  response.write = chunk => {
    const text = Buffer.from(chunk).toString();
    isHeld ||= hasWords && text.includes('"finish_reason":"');
    hasWords ||= /"content":" ?[\\w.,;:!?'-]/.test(text);
    if (isHeld) return true;
    queue = queue.then(() => wait(400)).then(() => write.call(response, chunk));
    return true;
  };
  response.end = (...rest) => {
    if (isHeld) return response;
    queue = queue.then(() => end.apply(response, rest));
    return response;
  };
}
`;
const fileCount = 300;

let home: ReturnType<typeof freshHome>;
let dataFolder: string;
let session: Session;

beforeAll(async () => {
  home = freshHome();
  dataFolder = join(home.home, '.local/share/benchtop');
  const slow = join(home.home, 'slow.mjs');
  writeFileSync(slow, slowness);
  home.env['NODE_OPTIONS'] = `--import=${pathToFileURL(slow)}`;
  const folder = join(home.home, 'work', 'survivor');
  mkdirSync(join(folder, 'data'), { recursive: true });
  const files = Array.from({ length: fileCount }, (_, index) => `data/${index}.txt`);
  for (const file of files) writeFileSync(join(folder, file), `the content of ${file}`);
  const task = {
    name: 'one',
    split: 'test',
    input_messages: [{ role: 'user', content: 'say yes' }],
    run_command: 'x',
    grader: { kind: 'exact', expected: 'yes' },
    files,
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ name: 'survivor', tasks: [task] }));
  session = openSession(home.env, { columns: 140, rows: 40, cwd: join(home.home, 'work') });
  await session.waitFor('▸ t-words');
});
afterAll(async () => {
  session.signal('SIGTERM');
  await session.ended;
  await home.remove();
});

/** The service held by this screen. */
const held = (other?: LocalAddress): Promise<LocalAddress> =>
  eventually(async () => {
    const found = await findService(dataFolder);
    if (!found || found.leases === 0 || found.pid === other?.pid) throw new Error('no service holds the screen yet');
    return found;
  });

async function ask(path: string, body?: object) {
  const { baseUrl, apiKey } = await held();
  const answer = await fetch(`${baseUrl}/api/v1/${path}`, {
    headers: { 'X-API-Key': apiKey },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { items: { bench_id: string; label: string }[] };
}

/** The progress of the run on screen. */
const step = (): number => Number(/step (\d+) of 900/.exec(session.text())?.[1] ?? -1);

async function watchTheRun(): Promise<void> {
  session.type(':training\r');
  await session.waitFor('▸ endless');
  session.press('enter');
  await session.waitFor(/step \d+ of 900/);
}

/** Leaves the composer and goes back to the previous view, which does not stop an answer. */
const back = '\t-';

/**
 * Asks the model something, and goes back to the run once the first words of the answer have arrived. The answer is
 * random: if it is empty, asks again. Returns the question.
 */
async function talk(about: string): Promise<string> {
  session.type(':chat\r');
  // The model is known once the list of models has been read.
  await session.waitFor('<ctrl-t> parameters');
  await session.waitFor(/│ benchtop\/\S+ /);
  for (let attempt = 1; attempt < 9; attempt += 1) {
    const question = `what is the ${about} thing, ${attempt}`;
    session.type(`${question}\r`);
    // The model's name, and a line of its answer, which may begin with a sign.
    const said = new RegExp(
      `${question}.*benchtop/\\S+ [^\\n]*\\n[^\\n]*│ {2}([\\d,;:!?'-]|[.] ?[a-z]|[a-z]|\\(no text)`,
      's',
    );
    await session.waitFor(said);
    if (said.exec(session.text())?.[1] !== '(no text') {
      session.type(back);
      await session.waitFor(/step \d+ of 900/);
      return question;
    }
  }
  throw new Error(`The model has nothing to say:\n${session.text()}`);
}

/** The last answer broke off, and says so below the text received. */
async function brokeOff(question: string): Promise<void> {
  session.type(':chat\r');
  await session.waitFor(question);
  const after = new RegExp(`${question}.*(lost in the middle|broke off before)`, 's');
  await session.waitFor(after);
  session.type(back);
  await session.waitFor(/step \d+ of 900/);
}

/** The run continues, on the screen and in the service. */
async function goesOn(): Promise<void> {
  const before = step();
  await eventually(() => expect(step()).not.toBe(before));
  await session.waitFor('live');
  expect(session.text()).not.toMatch(/failing|ECONN|refused/);
}

describe('a session', () => {
  /** Asked last. */
  let question: string;

  it('starts an upload, a training run and a chat', async () => {
    const { items } = await ask('benchmarks');
    const bench_id = items.find(({ label }) => label === 't-words')?.bench_id;
    const options = { num_steps: 900, train_batch_size: 4, samples_per_instance: 4, held_out_every: 5 };
    await ask('train', { bench_id, base_model_slug: 'benchtop/tutor-base', display_name: 'endless', options });
    session.press('u');
    await session.waitFor('survivor/');
    session.press('enter');
    await session.waitFor('ctrl-o reads this folder');
    session.press('ctrl-o');
    await session.waitFor('not sent yet');
    session.press('enter');
    await session.waitFor(/[1-9]\d* of 300 files/);
    await watchTheRun();
    question = await talk('first');
  });

  it('survives `serve --stop` elsewhere', async () => {
    const first = await held();
    await run(['serve', '--stop'], home.env);
    await held(first);
    await goesOn();
    await brokeOff(question);
  });

  it('survives kill -9', async () => {
    question = await talk('second');
    const first = await held();
    process.kill(first.pid, 'SIGKILL');
    await held(first);
    await goesOn();
    await brokeOff(question);
  });

  it('survives an upgrade from another screen', async () => {
    question = await talk('third');
    const first = await held();
    const other = openSession(home.env, { program: newerProgram(join(home.home, 'newer'), '0.2.0') });
    await other.waitFor('Benchmarks');
    expect((await held(first)).version).toBe('0.2.0');
    await goesOn();
    other.signal('SIGTERM');
    await other.ended;
    await brokeOff(question);
  });

  it('survives a slow start, and says what it waits for', async () => {
    question = await talk('fourth');
    const first = await held();
    writeFileSync(gate(), '');
    await run(['serve', '--stop'], home.env);
    session.press('r');
    await session.waitFor('The local service has stopped; restarting it…');
    rmSync(gate());
    await held(first);
    await goesOn();
    await brokeOff(question);
  });

  it('has lost nothing: questions, the results of their answers, and the whole upload', async () => {
    writeFileSync(swift(), '');
    session.type(':chat\r');
    await session.waitFor('what is the fourth thing');
    session.press('esc');
    await session.waitFor('<i> write');
    session.press('g');
    await session.waitFor('what is the first thing');
    const uploaded = await eventually(async () => {
      const { items } = await ask('benchmarks');
      const found = items.find(({ label }) => label === 'survivor');
      expect(found).toBeDefined();
      return found;
    });
    expect(uploaded?.bench_id).toMatch(/^bench_/);
    const { items } = await ask('benchmarks');
    expect(items.filter(({ label }) => label === 'survivor')).toHaveLength(1);
  });
});
