/**
 * `upload` of trajectories to a service that loses an answer: nothing that may be stored is sent again unless asked.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRecord } from '../../src/base/own-property.ts';
import { exitCodes } from '../../src/commands/exit.ts';
import { apiKey, type Behaviour, hostileServer, json, refusal, resetAtOnce } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

/** A service that stores all but `bad`, and loses the answer to the second request. */
async function losing() {
  const stored: string[] = [];
  const store = (body: string): object[] => {
    const { trajectories } = JSON.parse(body) as { trajectories: { messages: { content: string }[] }[] };
    return trajectories.map(({ messages: [message] }, request_index) => {
      if (message?.content === 'bad') return { request_index, status: 'error', failure: { code: 'invalid' } };
      stored.push(String(message?.content));
      return { request_index, status: 'uploaded' };
    });
  };
  const answer: Behaviour = (response, { body }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ trajectories: store(body) }));
  };
  const lose: Behaviour = (response, request) => {
    store(request.body);
    return resetAtOnce(response, request);
  };
  const server = await hostileServer(answer, lose, answer);
  const path = join(testFolder(), 'many.jsonl');
  const contents = Array.from({ length: 250 }, (_, index) => (index === 5 ? 'bad' : `number ${index}`));
  writeFileSync(path, contents.map(content => JSON.stringify({ messages: [{ content }] })).join('\n'));
  const cli = cliOn({ baseUrl: server.url, apiKey });
  return { stored, upload: (...flags: string[]) => cli('upload', [path, '--dataset', 'd', ...flags]) };
}

it('holds back what may be stored, counts it as unknown and names the flag that sends it (A1)', async () => {
  const { stored, upload } = await losing();
  const first = await upload();
  expect(first).toMatchObject({ code: exitCodes.endUnseen, out: '99 stored, 0 skipped, 1 failed, 100 unknown\n' });
  expect(first.notes).toContain('100 trajectories may or may not be stored: the service did not report it.');
  expect(first.notes).toContain('--resend-unknown');
  const second = await upload('--json');
  const { trajectories, ...counts } = JSON.parse(second.out) as { trajectories: unknown[] };
  expect(counts).toEqual({
    dataset: 'd',
    phase: 'done',
    stored: 50,
    skipped: 0,
    failed: 1,
    unknown: 100,
    sent_before: 99,
    sent_before_for_another_agent: 0,
    sent_before_with_another_key: 0,
    reports: [],
  });
  expect(trajectories.filter(each => isRecord(each) && each['status'] === 'unknown')).toHaveLength(100);
  expect([second.code, stored.length, new Set(stored).size]).toEqual([exitCodes.failed, 249, 249]);
  const third = await upload('--resend-unknown');
  expect(third.out).toBe('100 stored, 0 skipped, 1 failed, 149 sent before\n');
  expect(stored).toHaveLength(349);
  // Only the rejected one is left.
  await upload();
  expect(stored).toHaveLength(349);
  const whole = await upload('--new');
  expect([whole.out, stored.length]).toEqual(['249 stored, 0 skipped, 1 failed\n', 598]);
});

it('counts as unknown, not as sent before, what another key or agent may have stored', async () => {
  const server = await hostileServer(resetAtOnce, json({ uploaded: 1, items: [] }));
  const [home, path] = [testFolder(), join(testFolder(), 'one.jsonl')];
  writeFileSync(path, '{"messages":[{"content":"a"}]}');
  const upload = (key: string, ...flags: string[]) =>
    cliOn({ baseUrl: server.url, apiKey: key, home })('upload', [path, '--dataset', 'd', ...flags]);
  await upload(apiKey);
  for (const result of [await upload('another-key'), await upload(apiKey, '--agent', 'name:alice')]) {
    expect(result).toMatchObject({ code: exitCodes.endUnseen, out: '0 stored, 0 skipped, 0 failed, 1 unknown\n' });
    expect(result.notes).toContain('1 trajectory may or may not be stored');
  }
  const resent = await upload('another-key', '--resend-unknown');
  expect(resent).toMatchObject({ code: exitCodes.done, out: '1 stored, 0 skipped, 0 failed\n' });
});

const reason = { code: 'too_long', message: 'one trajectory is too long', context: { field: 'steps', got: 900 } };

/** A service that stores the first trajectory of a request, and gives this answer. */
async function storingFirst(answer: Behaviour) {
  const stored: string[] = [];
  const server = await hostileServer((response, request) => {
    const { trajectories } = JSON.parse(request.body) as { trajectories: { messages: { content: string }[] }[] };
    stored.push(...trajectories.slice(0, 1).map(({ messages: [message] }) => String(message?.content)));
    return answer(response, request);
  });
  const path = join(testFolder(), 'two.jsonl');
  writeFileSync(path, ['first', 'second'].map(content => JSON.stringify({ messages: [{ content }] })).join('\n'));
  const cli = cliOn({ baseUrl: server.url, apiKey });
  return { stored, upload: (...flags: string[]) => cli('upload', [path, '--dataset', 'd', ...flags]) };
}

it('blames no trajectory for a failure without an index, and resends nothing by itself (A11)', async () => {
  const message = '1 of 2 stored';
  const { stored, upload } = await storingFirst(json({ uploaded: 1, skipped: 0, failures: [reason], message }));
  const first = await upload();
  expect(first).toMatchObject({ code: exitCodes.failed, out: '1 stored, 0 skipped, 0 failed, 1 unknown\n' });
  expect(first.notes).toContain(
    'lines 1 to 2: a failure of the batch: one trajectory is too long (too_long)  {"field":"steps","got":900}',
  );
  expect(first.notes).toContain('lines 1 to 2: the service reports: 1 of 2 stored');
  expect(first.notes).not.toContain('line 1: ');
  const second = await upload();
  expect(second).toMatchObject({
    code: exitCodes.endUnseen,
    out: '0 stored, 0 skipped, 0 failed, 1 unknown, 1 sent before\n',
  });
  expect(second.notes).toContain('--resend-unknown');
  expect(second.notes).toContain('does not say which are stored');
  expect(stored).toEqual(['first']);
});

it('reports the failure of a batch whose trajectories are all accounted for, and sends none again (A11)', async () => {
  const { stored, upload } = await storingFirst(
    json({ uploaded: 1, skipped: 1, trajectories: [], failures: [reason] }),
  );
  const first = await upload('--json');
  expect([first.code, JSON.parse(first.out)]).toMatchObject([
    exitCodes.failed,
    {
      ...{ stored: 1, skipped: 1, failed: 0, unknown: 0 },
      reports: [{ kind: 'failure', first_line: 1, last_line: 2, ...reason }],
    },
  ]);
  expect(await upload()).toMatchObject({ code: exitCodes.done, out: '0 stored, 0 skipped, 0 failed, 2 sent before\n' });
  expect(stored).toEqual(['first']);
});

it('prints the code, the context and the page of a refused upload (B12)', async () => {
  const error = {
    ...{ type: 'invalid_request_error', code: 'invalid_trajectory_upload', message: 'The batch is refused.' },
    doc_url: 'https://docs.example/errors/7',
    context: { quota: 10, failures: [{ item_index: 1, ...reason }] },
  };
  const { upload } = await storingFirst(json({ error }, 422));
  const { notes, out, code } = await upload();
  expect([code, out]).toEqual([exitCodes.failed, '0 stored, 0 skipped, 2 failed\n']);
  expect(notes).toContain('line 2: one trajectory is too long (too_long)  {"field":"steps","got":900}');
  expect(notes).toMatch(
    /lines 1 to 2: the request failed: The batch is refused\..*\(invalid_trajectory_upload\) {2}\{"quota":10\} {2}https:\/\/docs\.example\/errors\/7/,
  );
  const { trajectories, reports } = JSON.parse((await upload('--json')).out) as Record<string, unknown[]>;
  expect(trajectories?.[1]).toMatchObject({ line: 2, ...reason });
  expect(reports).toMatchObject([
    { kind: 'error', code: 'invalid_trajectory_upload', context: { quota: 10 }, doc_url: error.doc_url },
  ]);
});

/** A service that stores everything, and skips stored trace ids if it `skips`. */
async function storing(skips: boolean, ...lost: readonly Behaviour[]) {
  const stored: string[] = [];
  const answer: Behaviour = (response, { body }) => {
    const { trajectories } = JSON.parse(body) as { trajectories: { trace_id: string }[] };
    const rows = trajectories.map(({ trace_id }) => {
      const isSkipped = skips && stored.includes(trace_id);
      if (!isSkipped) stored.push(trace_id);
      return { trace_id, status: isSkipped ? 'skipped' : 'uploaded' };
    });
    return json({ trajectories: rows })(response, { body } as never);
  };
  const server = await hostileServer(
    ...lost.map(
      (lose): Behaviour =>
        (response, request) => {
          const { trajectories } = JSON.parse(request.body) as { trajectories: { trace_id: string }[] };
          stored.push(...trajectories.map(({ trace_id }) => trace_id));
          return lose(response, request);
        },
    ),
    answer,
  );
  const path = join(testFolder(), 'traced.jsonl');
  const write = (...traces: string[]): string => {
    const text = traces.map(trace_id => JSON.stringify({ trace_id, messages: [] })).join('\n');
    writeFileSync(path, text);
    return text;
  };
  write('t1', 't2');
  const cli = cliOn({ baseUrl: server.url, apiKey });
  const upload = (...flags: string[]) => cli('upload', [path, '--dataset', 'd', ...flags]);
  const pipe = (input: string) => cli('upload', ['-', '--dataset', 'd'], { input });
  return { stored, server, write, upload, pipe };
}

it('exits with the code for an unknown outcome after a server error, and again when repeated (B2)', async () => {
  const { stored, upload } = await storingFirst(json({ error: { type: 'api_error', message: 'down' } }, 503));
  const unknown = { code: exitCodes.endUnseen, out: '0 stored, 0 skipped, 0 failed, 2 unknown\n' };
  expect(await upload()).toMatchObject(unknown);
  expect(await upload()).toMatchObject(unknown);
  expect(stored).toEqual(['first']);
});

it('does not retry after a lost answer because of trace ids alone (A5)', async () => {
  const { stored, upload } = await storing(false, resetAtOnce);
  const first = await upload();
  expect(first).toMatchObject({ code: exitCodes.endUnseen, out: '0 stored, 0 skipped, 0 failed, 2 unknown\n' });
  expect(await upload()).toMatchObject({
    code: exitCodes.endUnseen,
    out: '0 stored, 0 skipped, 0 failed, 2 unknown\n',
  });
  expect(stored).toEqual(['t1', 't2']);
});

it('says that a file was sent before, and sends it again only with --new or after skipped ones', async () => {
  const { stored, server, upload } = await storing(true);
  await upload();
  const again = await upload();
  expect(again).toMatchObject({ code: exitCodes.done, out: '0 stored, 0 skipped, 0 failed, 2 sent before\n' });
  expect(again.notes).toMatch(/^This file was sent to d before \(.*\): nothing was sent.* --new sends it again\.$/);
  expect(server.requests).toHaveLength(1);
  expect(await upload('--new')).toMatchObject({ code: exitCodes.done, out: '0 stored, 2 skipped, 0 failed\n' });
  expect(await upload()).toMatchObject({ out: '0 stored, 2 skipped, 0 failed\n', notes: '' });
  expect([server.requests.length, stored]).toEqual([3, ['t1', 't2']]);
});

it('sends the new lines of a file that has grown, from standard input too, and says which were sent before', async () => {
  const { stored, write, upload, pipe } = await storing(false);
  await upload();
  const text = write('t1', 't2', 't3');
  const grown = await upload();
  expect(grown).toMatchObject({ code: exitCodes.done, out: '1 stored, 0 skipped, 0 failed, 2 sent before\n' });
  expect(grown.notes).toMatch(
    /^2 of 3 trajectories were sent to d before \(.*\) and not sent again\. --new sends the whole file again\.$/,
  );
  expect(await pipe(text)).toMatchObject({
    out: '0 stored, 0 skipped, 0 failed, 3 sent before\n',
    notes: expect.stringContaining('was sent to d before'),
  });
  expect((await pipe(`${text}\n${JSON.stringify({ trace_id: 't4', messages: [] })}`)).notes).toContain('3 of 4');
  write('t1', 't5');
  expect((await upload()).notes).toContain('1 of 2 trajectories was sent to d before');
  expect(stored).toEqual(['t1', 't2', 't3', 't4', 't5']);
});

it('records how many were sent before', async () => {
  const { write, upload } = await storing(false);
  const record = async () => JSON.parse((await upload('--json')).out) as object;
  expect(await record()).toMatchObject({ phase: 'done', stored: 2, sent_before: 0 });
  expect(await record()).toMatchObject({ phase: 'done', stored: 0, sent_before: 2, trajectories: [] });
  write('t1', 't2', 't3');
  expect(await record()).toMatchObject({ stored: 1, sent_before: 2, trajectories: [{ line: 3 }] });
});

it('holds back lines from standard input that may be stored, until the flag sends them', async () => {
  const { stored, write, upload, pipe } = await storing(false, resetAtOnce);
  const text = write('t1', 't2');
  const unknown = '0 stored, 0 skipped, 0 failed, 2 unknown\n';
  expect((await pipe(text)).out).toBe(unknown);
  expect((await pipe(text)).out).toBe(unknown);
  expect((await upload()).out).toBe(unknown);
  expect(stored).toEqual(['t1', 't2']);
  expect((await upload('--resend-unknown')).out).toBe('2 stored, 0 skipped, 0 failed\n');
  expect((await pipe(text)).out).toBe('0 stored, 0 skipped, 0 failed, 2 sent before\n');
  expect(stored).toHaveLength(4);
});

it('sends again what the service refused with a message, with both counts 0', async () => {
  const refusal = { uploaded: 0, skipped: 0, failures: [{ message: 'whole batch refused' }], trajectories: [] };
  const { upload } = await storingFirst(json(refusal));
  for (let time = 0; time < 2; time += 1) {
    const { code, out, notes } = await upload();
    expect([code, out]).toEqual([exitCodes.failed, '0 stored, 0 skipped, 2 failed\n']);
    expect(notes).toContain('a failure of the batch: whole batch refused');
  }
});

it.each([405, 501])('stops at once if a %i says that the service takes no uploads (B3)', async status => {
  const server = await hostileServer(json({ error: { type: 'api_error', message: 'No' } }, status));
  const path = join(testFolder(), 'two.jsonl');
  writeFileSync(path, ['a', 'b'].map(content => JSON.stringify({ messages: [{ content }] })).join('\n'));
  const { code, out, notes } = await cliOn({ baseUrl: server.url, apiKey })('upload', [path, '--dataset', 'd']);
  expect([code, out]).toEqual([exitCodes.unsupported, '0 stored, 0 skipped, 0 failed\n']);
  expect(notes).toContain('This service does not offer POST /api/v1/trajectories/upload.');
});

it('does not exit with the code for no change once a batch is stored (attack30 B5)', async () => {
  const limited = refusal(429, 'rate_limit_error', 'rate_limited', {}, { 'service-should-retry': 'false' });
  const stored: Behaviour = (response, { body }) =>
    json({ uploaded: (JSON.parse(body) as { trajectories: unknown[] }).trajectories.length })(response, {} as never);
  const path = join(testFolder(), 'many.jsonl');
  writeFileSync(path, Array.from({ length: 150 }, (_, index) => `{"messages":[{"content":"${index}"}]}`).join('\n'));
  const upload = async (...script: Behaviour[]) => {
    const { url } = await hostileServer(...script);
    return (await cliOn({ baseUrl: url, apiKey })('upload', [path, '--dataset', 'd'])).code;
  };
  expect(await upload(limited)).toBe(exitCodes.unreachable);
  expect(await upload(stored, limited)).toBe(exitCodes.endUnseen);
});
