/** `upload` of trajectories: sends them unchanged, never twice unless asked, and never without a record. */
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { apiKey, type Behaviour, hostileServer } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

/** A service that stores all, with the body of each request. */
async function storing(agents?: unknown) {
  const bodies: string[] = [];
  // There is nothing but uploads, and agents if any.
  const store: Behaviour = (response, { body, url }) => {
    if (body === '') {
      if (agents === undefined || !url.startsWith('/api/v1/agents')) return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(agents));
    }
    bodies.push(body);
    const { trajectories } = JSON.parse(body) as { trajectories: unknown[] };
    response.writeHead(200, { 'content-type': 'application/json' });
    const rows = trajectories.map((_, request_index) => ({ request_index, status: 'uploaded' }));
    response.end(JSON.stringify({ uploaded: rows.length, skipped: 0, trajectories: rows }));
  };
  const { url } = await hostileServer(store);
  return { url, bodies };
}

/** A file with these lines. */
function fileOf(...lines: readonly string[]): string {
  const path = join(testFolder(), 'sent.jsonl');
  writeFileSync(path, lines.join('\n'));
  return path;
}

const lineOf = (content: string, more = ''): string => `{"messages":[{"role":"user","content":"${content}"}]${more}}`;

it('sends 64-bit integers unchanged, and tells close ones apart', async () => {
  const { url, bodies } = await storing();
  const cli = cliOn({ baseUrl: url, apiKey });
  const seeds = ['9007199254740993', '9007199254740992', '-12345678901234567891'];
  const lines = seeds.map(seed => lineOf('a', `,"metadata":{"seed":${seed},"small":[1.50,1e20]}`));
  const path = fileOf(...lines);
  expect((await cli('upload', [path, '--dataset', 'seeds'])).out).toBe('3 stored, 0 skipped, 0 failed\n');
  for (const seed of seeds) expect(bodies[0]).toContain(`{"seed":${seed},"small":[1.5,100000000000000000000]}`);
  const [, other = ''] = lines;
  await cli('upload', [fileOf(other.replace('992', '994')), '--dataset', 'seeds']);
  expect(bodies).toHaveLength(2);
  const read = await cli('read', [path, '--json']);
  for (const seed of seeds) expect(read.out).toContain(`"seed":${seed}`);
  const turns = '[{"from":"human","value":"q"},{"from":"gpt","value":"a"}]';
  await cli('upload', [fileOf(`{"id":${seeds[2]},"conversations":${turns}}`), '--dataset', 'seeds']);
  expect(bodies[2]).toContain(`"conversation_id":"${seeds[2]}"`);
});

it('never sends the notes of an export, and recognises a trajectory with them (A13)', async () => {
  const { url, bodies } = await storing();
  const cli = cliOn({ baseUrl: url, apiKey });
  const noted = lineOf('a', ',"benchtop_notes":[{"author":"ann","text":"private"}],"seed":1');
  expect((await cli('upload', [fileOf(noted), '--dataset', 'd'])).out).toBe('1 stored, 0 skipped, 0 failed\n');
  expect(JSON.parse(bodies[0] ?? '').trajectories).toEqual([JSON.parse(lineOf('a', ',"seed":1'))]);
  expect((await cli('upload', [fileOf(lineOf('a', ',"seed":1')), '--dataset', 'd'])).out).toMatch(/ 1 sent before\n$/);
});

it('sends nothing twice to a service with several names (A8)', async () => {
  const { url, bodies } = await storing();
  const cli = cliOn({ baseUrl: url, apiKey });
  for (const [name, address] of [
    ['one', url],
    ['two', `${url}/`],
    ['three', `${url}/?`],
  ] as const)
    await cli('profile add', [name, '--base-url', address, '--api-key-env', 'BENCHTOP_API_KEY', '--unchecked']);
  const path = fileOf(lineOf('a'));
  const upload = async (...args: string[]) => (await cli('upload', [path, '--dataset', 'd', ...args])).out;
  expect(await upload('--profile', 'one')).toBe('1 stored, 0 skipped, 0 failed\n');
  const before = '0 stored, 0 skipped, 0 failed, 1 sent before\n';
  for (const flags of [['--profile', 'two'], ['--profile', 'three'], []]) expect(await upload(...flags)).toBe(before);
  expect(bodies).toHaveLength(1);
});

/** A service that refuses trajectories with this text, and stores all others. */
async function refusing(text: string) {
  const { url } = await hostileServer((response, { body }) => {
    if (body === '') return void response.writeHead(404).end();
    const { trajectories } = JSON.parse(body) as { trajectories: unknown[] };
    const rows = trajectories.map((each, request_index) =>
      JSON.stringify(each).includes(text)
        ? { request_index, status: 'error', failure: { code: 'no', message: 'refused', item_index: request_index } }
        : { request_index, status: 'uploaded' },
    );
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ trajectories: rows }));
  });
  return url;
}

it('prints three lines that fail for the same reason, and counts the rest', async () => {
  const cli = cliOn({ baseUrl: await refusing('bad'), apiKey });
  const damaged = Array.from({ length: 6 }, (_, index) => `no JSON ${index}`);
  const refused = Array.from({ length: 4 }, (_, index) => lineOf(`bad${index}`));
  const { notes, code } = await cli('upload', [fileOf(...damaged, ...refused), '--dataset', 'd']);
  expect(code).toBe(1);
  expect(notes.match(/^line \d+: (?:It is not JSON|refused)/gm)).toEqual([
    ...[1, 2, 3].map(line => `line ${line}: It is not JSON`),
    ...[7, 8, 9].map(line => `line ${line}: refused`),
  ]);
  expect(notes).toContain('and 3 more: It is not JSON.');
  expect(notes).toContain('and 1 more: refused (no).');
});

it('names and saves the lines as they are in a file that it converts (attack31 B5)', async () => {
  const cli = cliOn({ baseUrl: await refusing('bad'), apiKey });
  const [good, bad] = ['good', 'bad'].map(completion => `{"prompt":"hi", "completion":"${completion}", "reward":1}`);
  const failures = join(testFolder(), 'failures.jsonl');
  const args = [fileOf('no', good ?? '', bad ?? ''), '--dataset', 'd', '--failures', failures];
  const { notes, code } = await cli('upload', args);
  expect(notes).toContain('line 1: It is not JSON');
  expect(notes).toContain('line 3: refused');
  expect(code).toBe(1);
  expect(readFileSync(failures, 'utf8')).toBe(`no\n${bad}\n`);
  const { out } = await cli('upload', [fileOf('no', good ?? '', bad ?? ''), '--dataset', 'other', '--json']);
  expect(JSON.parse(out).trajectories).toMatchObject([
    { line: 1, status: 'failed' },
    { line: 2, status: 'uploaded' },
    { line: 3, place: 'line 3', status: 'error' },
  ]);
});

it('saves only the failed trajectories of a record (attack31 B5)', async () => {
  const cli = cliOn({ baseUrl: await refusing('bad'), apiKey });
  const choices = ['good', 'bad'].map(content => ({ message: { role: 'assistant', content } }));
  const failures = join(testFolder(), 'failures.jsonl');
  const path = fileOf(JSON.stringify({ choices }));
  const { notes } = await cli('upload', [path, '--dataset', 'd', '--failures', failures]);
  expect(notes).toContain('line 1, rollout 2: refused');
  expect(
    readFileSync(failures, 'utf8')
      .trim()
      .split('\n')
      .map(each => JSON.parse(each)),
  ).toEqual([{ steps: [{ messages: [{ role: 'assistant', content: 'bad' }] }] }]);
});

it('recognises what it has sent before from a file that it converts, and sends the rest (attack31 A3)', async () => {
  const { url, bodies } = await storing();
  const cli = cliOn({ baseUrl: url, apiKey });
  const scored = lineOf('a', ',"score":1');
  expect((await cli('upload', [fileOf(scored, lineOf('b')), '--dataset', 'd'])).out).toMatch(/^2 stored/);
  const again = await cli('upload', [fileOf(scored, lineOf('b'), lineOf('c', ',"score":0')), '--dataset', 'd']);
  expect(again.out).toBe('1 stored, 0 skipped, 0 failed, 2 sent before\n');
  expect((await cli('upload', [fileOf(lineOf('d'), scored), '--dataset', 'd'])).out).toBe(
    '1 stored, 0 skipped, 0 failed, 1 sent before\n',
  );
  expect(JSON.parse(bodies[2] ?? '').trajectories).toEqual([JSON.parse(lineOf('d'))]);
});

it('skips what only another key has sent, and says so, unless everything is wanted', async () => {
  const { url, bodies } = await storing();
  const home = testFolder();
  const path = fileOf(lineOf('a'));
  const upload = (key: string, ...args: string[]) =>
    cliOn({ baseUrl: url, apiKey: key, home })('upload', [path, '--dataset', 'd', ...args]);
  const [stored, before] = ['1 stored, 0 skipped, 0 failed\n', '0 stored, 0 skipped, 0 failed, 1 sent before\n'];
  expect(await upload('key-of-one')).toMatchObject({ out: stored, notes: '' });
  expect((await upload('key-of-one')).out).toBe(before);
  expect(await upload('key-of-two')).toEqual({
    code: 6,
    out: '0 stored, 0 skipped, 0 failed, 1 sent before with another API key\n',
    notes: expect.stringMatching(/^1 sent before with another API key, maybe to another organization\. --new sends/m),
  });
  const { code, out } = await upload('key-of-two', '--json');
  expect([code, JSON.parse(out)]).toMatchObject([6, { stored: 0, sent_before: 0, sent_before_with_another_key: 1 }]);
  expect(bodies).toHaveLength(1);
  expect(await upload('key-of-two', '--new')).toMatchObject({ code: 0, out: stored });
  for (const key of ['key-of-two', 'key-of-one'])
    expect(await upload(key)).toMatchObject({ code: 0, out: before, notes: expect.not.stringContaining('API key') });
  expect(bodies).toHaveLength(2);
  const state = join(home, '.local', 'state', 'benchtop');
  const written = readdirSync(state).map(name =>
    name.includes('.db') ? readFileSync(join(state, name), 'latin1') : '',
  );
  expect(written.join('')).toContain('sent_lines');
  expect(written.join('')).not.toContain('key-of-');
});

it('skips what was sent only with another agent, or without one, and says so, unless everything is wanted', async () => {
  const { url, bodies } = await storing({ items: [{ agent_id: 'agent_1', name: 'alice' }], has_more: false });
  const path = fileOf(lineOf('a'));
  const cli = cliOn({ baseUrl: url, apiKey, home: testFolder() });
  const upload = (agent: string, ...args: string[]) =>
    cli('upload', [path, '--dataset', 'd', ...args], { environment: { BENCHTOP_AGENT: agent } });
  const [stored, before] = ['1 stored, 0 skipped, 0 failed\n', '0 stored, 0 skipped, 0 failed, 1 sent before\n'];
  expect(await upload('alice')).toMatchObject({ code: 0, out: stored });
  expect(await upload('name:carol', '--agent', 'alice')).toMatchObject({ code: 0, out: before });
  for (const agent of ['agent_1', 'name:alice', 'name:carol', '']) {
    expect(await upload(agent)).toEqual({
      code: 6,
      out: '0 stored, 0 skipped, 0 failed, 1 sent before for another agent\n',
      notes: expect.stringMatching(
        /^1 sent before for another agent, maybe the same agent under another name\. --new sends/m,
      ),
    });
  }
  const { code, out } = await upload('agent_1', '--json');
  expect([code, JSON.parse(out)]).toMatchObject([6, { stored: 0, sent_before: 0, sent_before_for_another_agent: 1 }]);
  expect(await upload('name:carol', '--new')).toMatchObject({ code: 0, out: stored });
  for (const agent of ['name:carol', 'alice']) expect(await upload(agent)).toMatchObject({ code: 0, out: before });
  expect(bodies.map(body => JSON.parse(body))).toMatchObject([{ agent_id: 'agent_1' }, { agent_name: 'carol' }]);
});

it('takes a command as one API key, whatever it prints', async () => {
  const { url, bodies } = await storing();
  const home = testFolder();
  const path = fileOf(lineOf('a'));
  const folder = join(home, '.config', 'benchtop');
  mkdirSync(folder, { recursive: true });
  const apiKeyCommand = [process.execPath, '-e', 'process.stdout.write(String(process.hrtime.bigint()))'];
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles: { lab: { baseUrl: url, apiKeyCommand } } }));
  const cli = cliOn({ baseUrl: '', apiKey: '', home });
  const upload = () => cli('upload', [path, '--dataset', 'd', '--profile', 'lab']);
  expect(await upload()).toMatchObject({ code: 0, out: '1 stored, 0 skipped, 0 failed\n' });
  expect(await upload()).toMatchObject({ code: 0, out: '0 stored, 0 skipped, 0 failed, 1 sent before\n' });
  expect(bodies).toHaveLength(1);
});

it('sends nothing if the record of sent trajectories is damaged, and doctor reports it', async () => {
  const { url, bodies } = await storing();
  const home = testFolder();
  const path = fileOf(lineOf('a'));
  const cli = cliOn({ baseUrl: url, apiKey, home });
  const upload = (...args: string[]) => cli('upload', [path, '--dataset', 'd', ...args]);
  expect((await upload()).code).toBe(0);
  expect((await cli('doctor', [])).out).not.toContain('damaged');
  const name = join(home, '.local', 'state', 'benchtop', 'remembered.db');
  const database = new DatabaseSync(name);
  database.exec('pragma wal_checkpoint(truncate)');
  const [size, root] = [
    'page_size as n from pragma_page_size',
    "rootpage as n from sqlite_schema where name = 'sent_lines'",
  ].map(each => Number(database.prepare(`select ${each}`).get()?.['n']));
  database.close();
  const file = openSync(name, 'r+');
  writeSync(file, Buffer.alloc(2000, 0xa5), 0, 2000, ((root ?? 0) - 1) * (size ?? 0));
  closeSync(file);
  const refused = await upload();
  expect([refused.code, refused.notes, bodies.length]).toEqual([1, expect.stringContaining('cannot be read'), 1]);
  expect((await cli('doctor', [])).out).toMatch(/warn\s+memory\s+remembered\.db in .* is damaged \(/);
  expect((await upload('--new')).notes).toContain('This upload is not recorded');
  expect(bodies).toHaveLength(2);
});

const twice = (why: string) =>
  expect.stringMatching(
    new RegExp(
      `^This upload is not recorded, so do not upload the file into d again, .* stored twice\\. ${why}\\.$`,
      'm',
    ),
  );

it.each([
  ['a full disk', 'History cannot be saved: database or disk is full'],
  ['a state folder that cannot be used', 'History is kept only while the program runs: .*state.*'],
])('says what is not recorded because of %s, and that a repeat would store it twice', async (fault, why) => {
  const { url, bodies } = await storing();
  const home = testFolder();
  const [path, earlier] = [fileOf(lineOf('a')), fileOf(lineOf('b'))];
  const state = join(home, '.local', 'state');
  const cli = cliOn({ baseUrl: url, apiKey, home });
  const upload = (...args: string[]) => cli('upload', [...args, '--dataset', 'd']);
  const onDisk = (sql: string): void => {
    const database = new DatabaseSync(join(state, 'benchtop', 'remembered.db'));
    database.exec(sql);
    database.close();
  };
  if (fault === 'a full disk') {
    await upload(earlier);
    bodies.length = 0;
    for (const table of ['sent_requests', 'sent_lines'])
      onDisk(`create trigger full_${table} before insert on ${table}
        begin select raise(abort, 'database or disk is full'); end`);
  } else {
    mkdirSync(join(home, '.local'));
    writeFileSync(state, '');
  }
  const refused = await upload(path);
  expect([refused.code, refused.notes, bodies]).toEqual([
    1,
    expect.stringMatching(`^benchtop: Nothing was sent: .*${why}`),
    [],
  ]);
  const sent = await upload(path, '--new');
  expect([sent.code, sent.out, sent.notes]).toEqual([0, '1 stored, 0 skipped, 0 failed\n', twice(why)]);
  if (fault === 'a full disk') {
    // There is room again once the answer has come: it is recorded.
    onDisk('drop trigger full_sent_lines');
    expect(await upload(fileOf(lineOf('c')), '--new')).toMatchObject({
      out: '1 stored, 0 skipped, 0 failed\n',
      notes: '',
    });
    onDisk('drop trigger full_sent_requests');
    bodies.length = 1;
  } else rmSync(state);
  // Once the fault is gone, the file is taken for one that was never sent.
  const again = await upload(path);
  expect([again.notes, bodies.length]).toEqual([expect.not.stringContaining('not recorded'), 2]);
  await upload(path);
  expect(bodies).toHaveLength(2);
});

it('does not mention the record if nothing was sent', async () => {
  const { url } = await hostileServer(response => void response.writeHead(403).end());
  const home = testFolder();
  mkdirSync(join(home, '.local'));
  writeFileSync(join(home, '.local', 'state'), '');
  const { notes } = await cliOn({ baseUrl: url, apiKey, home })('upload', [
    fileOf(lineOf('a')),
    '--dataset',
    'd',
    '--new',
  ]);
  expect(notes).not.toContain('not recorded');
});

it('groups skipped trajectories by reason (attack35)', async () => {
  const { url } = await hostileServer((response, { body }) => {
    if (body === '') return void response.writeHead(404).end();
    const { trajectories } = JSON.parse(body) as { trajectories: unknown[] };
    const rows = trajectories.map((_, request_index) => ({
      ...{ request_index, status: 'skipped' },
      failure: { message: request_index < 5 ? 'It is a duplicate.' : 'It is too old.', item_index: request_index },
    }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ trajectories: rows }));
  });
  const cli = cliOn({ baseUrl: url, apiKey });
  const { notes } = await cli('upload', [fileOf(...Array.from('0123456789', each => lineOf(each))), '--dataset', 'd']);
  expect(notes.match(/^(?:line|and) .*/gm)).toEqual([
    ...[1, 2, 3].map(line => `line ${line}: skipped: It is a duplicate.`),
    'and 2 more: It is a duplicate.',
    ...[6, 7, 8].map(line => `line ${line}: skipped: It is too old.`),
    'and 2 more: It is too old.',
  ]);
});

it.each([[[]], [['--dry-run']]])('refuses a file without trajectories, as read does (attack37 C1) %s', async flag => {
  const { url, bodies } = await storing();
  const { code, out, notes } = await cliOn({ baseUrl: url, apiKey })('upload', [
    ...[fileOf('', ' ', ''), '--dataset', 'd'],
    ...flag,
  ]);
  expect([code, out, notes, bodies]).toEqual([2, '', 'benchtop: The file holds no trajectories.', []]);
});
