/** Standard input: read to its end, with a limited wait, and released on an interruption. */
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { readInput } from '../../src/commands/io.ts';
import { serviceDouble } from '../service/double.ts';
import { hostileServer, json, stream } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const { signal } = new AbortController();

describe('reading the input', () => {
  it('returns all of it, including characters split across chunks', async () => {
    const bytes = Buffer.from('größer\n');
    const input = Readable.from([bytes.subarray(0, 3), bytes.subarray(3)], { objectMode: false });
    expect(await readInput({ input, signal })).toBe('größer\n');
  });

  it('gives up on a pipe that nothing writes to, and closes it', async () => {
    const input = new PassThrough();
    expect(await readInput({ input, signal }, 1)).toBeUndefined();
    expect(input.destroyed).toBe(true);
  });

  it('waits for the end once data has arrived', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const input = new PassThrough();
      const read = readInput({ input, signal }, 1_000);
      input.write('first ');
      await new Promise(setImmediate);
      vi.advanceTimersByTime(60_000);
      input.end('last');
      expect(await read).toBe('first last');
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends when the user interrupts it', async () => {
    const stop = new AbortController();
    const read = readInput({ input: new PassThrough(), signal: stop.signal });
    stop.abort();
    await expect(read).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('chat', () => {
  const asked = async (words: readonly string[], input: string) => {
    const server = await hostileServer(json({ choices: [{ message: { role: 'assistant', content: 'ok' } }] }));
    const { code } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('chat', ['acme/m', ...words], { input });
    expect(code).toBe(exitCodes.done);
    return server.requests.map(({ body }) => JSON.parse(body).messages.at(-1).content);
  };

  it.each([
    [['explain', 'this:'], 'some context\n', 'explain this:\n\nsome context'],
    [['explain', '-'], 'some context\n', 'explain\n\nsome context'],
    [['-'], 'some context\n', 'some context'],
    [[], 'some context\n', 'some context'],
    [['hello'], '', 'hello'],
  ])('asks %j with the piped text', async (words, input, content) => {
    expect(await asked(words, input)).toEqual([content]);
  });

  it.each([[[]], [['--json']]])('continues a conversation piped in as %j', async flags => {
    const answer = (content: string) => json({ choices: [{ message: { role: 'assistant', content } }] });
    const server = await hostileServer(answer('one'), answer('two'));
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    await cli('chat', ['acme/m', ...flags], { input: 'first\nsecond\n\n', asked: true });
    expect(JSON.parse(server.requests[1]?.body ?? '').messages).toEqual([
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'one' },
      { role: 'user', content: 'second' },
    ]);
  });

  it('says that it also read standard input, and ignores it with -n (C10)', async () => {
    const server = await hostileServer(
      json({ choices: [{ message: { role: 'assistant', content: 'ok' } }] }),
      json({ choices: [{ message: { role: 'assistant', content: 'ok' } }] }),
    );
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const input = 'what is 2+2?\nwhat is 3+3?\n';
    expect((await cli('chat', ['acme/m', 'what is 1+1?'], { input })).notes).toContain(
      '25 B of standard input follow the text',
    );
    expect((await cli('chat', ['acme/m', 'what is 1+1?', '-n'], { input })).notes).toBe('');
    const asked = server.requests.map(({ body }) => JSON.parse(body).messages.at(-1).content);
    expect(asked).toEqual([`what is 1+1?\n\n${input.trim()}`, 'what is 1+1?']);
  });

  it('asks without streaming with --no-stream, and if the service refuses to stream (C5)', async () => {
    const whole = json({ choices: [{ message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] });
    const refused = json({ error: { message: 'streaming is not supported', param: 'stream' } }, 400);
    const server = await hostileServer(refused, whole, whole, whole);
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    expect(await cli('chat', ['acme/m'], { input: 'one\ntwo\n\n', asked: true })).toMatchObject({
      code: exitCodes.done,
      out: 'ok\nok\n',
    });
    expect((await cli('chat', ['acme/m', '--no-stream', 'hello'], {})).out).toBe('ok\n');
    expect(server.requests.map(({ body }) => JSON.parse(body).stream)).toEqual([true, false, false, false]);
  });

  it.each([
    [
      { message: { content: null }, finish_reason: 'content_filter' },
      'withheld the answer, or part of it: content_filter.',
    ],
    [{ message: { content: '' }, finish_reason: 'max_tokens' }, 'The answer was cut off at its token limit.'],
    [{ message: { content: '' }, finish_reason: 'error' }, 'The answer ended with an error.'],
    [{ message: { content: '' }, finish_reason: 'stop' }, 'The answer has no text: stop.'],
    [undefined, 'The answer has no text.'],
  ])('explains why there is no text: %j', async (choice, words) => {
    const server = await hostileServer(json({ choices: choice ? [choice] : [] }));
    const { notes, out, code } = await cliOn({ baseUrl: server.url, apiKey: 'key' })(
      'chat',
      ['acme/m', '--no-stream', 'hello'],
      {},
    );
    expect(notes).toContain(words);
    expect([code, out]).toEqual([exitCodes.failed, '']);
  });

  const chunks = (...deltas: object[]) =>
    stream([
      ...deltas.map(delta => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`),
      'data: [DONE]\n\n',
    ]);

  it('prints a refusal as part of the answer, and fails (B13)', async () => {
    const message = { role: 'assistant', content: null, refusal: 'I will not.' };
    const server = await hostileServer(
      json({ choices: [{ message, finish_reason: 'stop' }] }),
      chunks({ content: 'Well.' }, { refusal: 'I will ' }, { refusal: 'not.' }),
      json({ choices: [{ message }] }),
    );
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const refused = { code: exitCodes.failed, notes: expect.stringContaining('The model refused.') };
    expect(await cli('chat', ['acme/m', 'hi'], {})).toMatchObject({ ...refused, out: 'refusal: I will not.\n' });
    expect(await cli('chat', ['acme/m', 'hi'], {})).toMatchObject({
      ...refused,
      out: 'Well.\n\nrefusal: I will not.\n',
    });
    const asJson = await cli('chat', ['acme/m', 'hi', '--json'], {});
    expect(asJson).toMatchObject(refused);
    expect(JSON.parse(asJson.out).choices[0].message).toEqual(message);
  });

  it('prints the first of several choices, and says that others are left out (B13)', async () => {
    const other = (index: number, content: string) =>
      `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
    const streamed = stream([other(1, 'SECOND'), other(0, 'FIRST'), other(1, 'MORE'), 'data: [DONE]\n\n']);
    const whole = json({
      choices: [
        { index: 0, message: { content: 'FIRST' } },
        { index: 1, message: { content: 'B' } },
      ],
    });
    const server = await hostileServer(streamed, whole);
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    // The first to arrive, with any index (C3).
    for (const out of ['SECONDMORE\n', 'FIRST\n']) {
      expect(await cli('chat', ['acme/m', 'hi'], {})).toMatchObject({
        ...{ code: exitCodes.done, out },
        notes: expect.stringContaining('1 other choice was left out.'),
      });
    }
  });

  it('shows the reasoning before the answer, on standard error', async () => {
    const piece = (delta: object) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`;
    const reasoning = ['So\n', 'then.'].map(reasoning_content => piece({ reasoning_content }));
    const server = await hostileServer(stream([...reasoning, piece({ content: 'Yes.' }), 'data: [DONE]\n\n']));
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const { out, notes } = await cli('chat', ['acme/m', 'hi'], {});
    expect([out, notes]).toEqual(['Yes.\n', expect.stringMatching(/reasoning: So\s+reasoning: then\.\s*$/)]);
  });

  it('names the tools called by an answer without text, and fails (B13)', async () => {
    const server = await hostileServer(
      chunks(
        { tool_calls: [{ index: 0, function: { name: 'bash', arguments: '{"command":' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '"cd /repo && ls"}' } }] },
      ),
    );
    const { code, out, notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('chat', ['acme/m', 'hi'], {});
    expect([code, out]).toEqual([exitCodes.failed, 'bash  cd /repo && ls\n']);
    expect(notes).toContain('The model calls the tool bash with {"command":"cd /repo && ls"}.');
    expect(notes).toContain('The answer has no text');
  });

  it('asks nothing if there is no text', async () => {
    const { url, requests } = await serviceDouble();
    const cli = cliOn({ baseUrl: url, apiKey: 'key' });
    for (const words of [['m'], ['m', '-'], ['m', '']])
      expect((await cli('chat', words, { input: ' \n' })).code).toBe(exitCodes.usage);
    expect(requests).toEqual([]);
  });
});

it.each([
  ['no cursor', [null]],
  ['the cursor that led to it (C16)', ['c', 'c']],
])('says that a list continues if the service answers %s for the rest', async (of, cursors) => {
  const pages = cursors.map((next_cursor, page) =>
    json({ items: [{ bench_id: `b${page + 1}` }], has_more: true, next_cursor }),
  );
  const server = await hostileServer(...pages, ...pages);
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { out, notes } = await cli('list', ['benchmarks', '--ids', '--all']);
  expect({ out, notes }).toEqual({
    out: of.startsWith('the cursor') ? 'b1\nb2\n' : 'b1\n',
    notes: 'There may be more rows, but the service gives no way to read them',
  });
  expect((await cli('api', ['listBenchmarks', '--paginate'])).notes).toBe(notes);
});

it('prints no id for a row without one', async () => {
  const server = await hostileServer(json({ items: [{ bench_id: 'b\n1' }, { bench_id: 'b2' }], has_more: false }));
  const { out, notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('list', ['benchmarks', '--ids', '--all']);
  expect({ out, notes }).toEqual({ out: 'b2\n', notes: '1 id cannot be printed on one line: --json has it' });
});

it('does not call a list empty if its rows are unreadable', async () => {
  const server = await hostileServer(json({ items: [{ label: 'no id' }], has_more: false }));
  const { code, out, notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('list', ['benchmarks', '--json']);
  expect({ code, out: JSON.parse(out) }).toEqual({ code: exitCodes.failed, out: [] });
  expect(notes).toContain('1 row could not be read');
  expect(notes).not.toContain('There are no');
});

it('does not call a place in a file an id, next to the id that the file has', async () => {
  const read = async (record: object) => {
    const input = JSON.stringify({ messages: [{ role: 'user', content: 'a' }], ...record });
    return (await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', ['-'], { input })).out;
  };
  expect((await read({ id: 'chat-1' })).match(/^(?:id|place) .*$/gm)).toEqual(['place   line 1', 'id      chat-1']);
  expect(await read({ trajectory_id: 'traj_1' })).toMatch(/^id +traj_1$/m);
});

it('shows the messages of a file once, in its transcript (C9)', async () => {
  const { out } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', ['-'], {
    input: JSON.stringify({ task_id: 'a', reward: 1, messages: [{ role: 'user', content: 'a fox' }], seed: 7 }),
  });
  expect(out).toMatch(/^Other fields\nseed +7$/m);
  expect(out.match(/a fox/g)).toHaveLength(1);
});
