/** The upload of trajectories: every line has its outcome, and the failed ones are saved unchanged. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NetworkError, RateLimitError, RequestError, ServerError, ValidationError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import type { UploadCounts } from '../../src/store/sent-record.ts';
import { type Item, lineAt, type ReadBytes, readItems } from '../../src/uploads/trajectory-file.ts';
import { TrajectoryUpload, type TrajectoryUploadOptions } from '../../src/uploads/trajectory-upload.ts';
import { clientOf, startService, type TestService } from '../local/server/running.ts';
import { withAnswers } from '../service/fake-service.ts';
import { hostileServer, json, refusal, serviceAt } from '../service/hostile-server.ts';
import { remembered } from './world.ts';

let local: TestService;
let service: Service;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-trajectories-'));
  local = await startService();
  service = clientOf(local);
});
afterAll(async () => {
  await service.close();
  await local.end();
  rmSync(folder, { recursive: true, force: true });
});

const line = (content: string) => JSON.stringify({ messages: [{ role: 'user', content }] });

async function uploaded(text: string, dataset = 'lines'): Promise<TrajectoryUpload> {
  const path = join(folder, 'file.jsonl');
  writeFileSync(path, text);
  const upload = new TrajectoryUpload('job', path, dataset);
  await upload.run(async () => service);
  return upload;
}

it('refuses a trajectory with a number that JSON does not have, instead of storing it without', async () => {
  const upload = await uploaded(`${line('a')}\n${line('b').replace(/}$/, ',"reward":1e999}')}`, 'finite');
  expect(upload.state.counts).toMatchObject({ stored: 1, failed: 1 });
  expect(upload.outcomes).toMatchObject([
    { line: 1 },
    { line: 2, message: 'It has 1 number that is NaN or infinite, which JSON cannot represent.' },
  ]);
});

it('is over once its state says so, so that the keys for a completed upload work', async () => {
  const path = join(folder, 'ended.jsonl');
  writeFileSync(path, line('a'));
  const upload = new TrajectoryUpload('job', path, 'ended');
  const run = upload.run(async () => service);
  while (upload.state.phase !== 'done') await new Promise(setImmediate);
  expect(upload.busy).toBe(false);
  await run;
});

/** Reads from memory in chunks of this size. */
const reading =
  (bytes: Uint8Array, piece: number): ReadBytes =>
  async position =>
    bytes.subarray(position, position + piece);

async function itemsOf(text: string | Uint8Array, piece = 7): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of readItems(reading(Buffer.from(text), piece))) items.push(item);
  return items;
}

describe('a file', () => {
  it('is one trajectory per line, or a list of them; what is unreadable keeps its line number', async () => {
    const items = await itemsOf(`\uFEFF${line('a')}\n\nnonsense\n[1]\n${line('b')}`);
    expect(items.map(({ line: place, error }) => [place, error === undefined])).toEqual([
      [1, true],
      [3, false],
      [4, false],
      [5, true],
    ]);
    const list = await itemsOf(`[${line('a')}, ${line('b')}, 3]`);
    expect(list.map(({ error }) => error === undefined)).toEqual([true, true, false]);
  });

  it('has a trajectory refused in its place if it is nested too deeply', async () => {
    const deep = (levels: number) =>
      `{"messages":[{"role":"user","content":${'['.repeat(levels)}${']'.repeat(levels)}}]}`;
    const upload = await uploaded([line('a'), deep(985), deep(986), deep(10_000)].join('\n'), 'deep');
    expect(upload.state.counts).toEqual({ stored: 2, skipped: 0, failed: 2, unknown: 0 });
    expect(upload.outcomes[2]?.message).toBe('It is nested more than 988 levels deep, and could not be read back.');
  });

  const tricky = [
    { a: 'braces } ] , in text', b: [1, [2, { c: '"quoted" \\\\' }]] },
    { empty: {}, list: [], text: '' },
    { odd: 'one " quote, and a brace }' },
    { wide: '日本語 🙂 \u0000 \\u0041' },
  ];
  const written: readonly (readonly [string, string])[] = [
    ['JSON Lines', tricky.map(value => JSON.stringify(value)).join('\r\n')],
    ['a list', JSON.stringify(tricky)],
    ['a list with indents', `  ${JSON.stringify(tricky, undefined, 2)}\n`],
    ['objects with indents', tricky.map(value => JSON.stringify(value, undefined, 2)).join('\n')],
  ];
  it.each(written)('written as %s is read in chunks of any size', async (_, text) => {
    for (const piece of [1, 2, 3, 5, 16, 64, 100_000]) {
      // The first bytes decide the format; a real chunk is never this small.
      const bytes = Buffer.from(text);
      const items: Item[] = [];
      const read: ReadBytes = async at => bytes.subarray(at, at === 0 ? Math.max(piece, 16) : at + piece);
      for await (const item of readItems(read)) items.push(item);
      expect(items.map(({ value }) => value)).toEqual(tricky);
    }
  });

  it.each([
    ['cut off in the middle of a list', `[${line('a')}, {"b": 1`, 2],
    ['with more after the end of its list', `[${line('a')}] ${line('b')} ${line('c')}`, 2],
    ['with a list of more after the end of its list', `[${line('a')}] ${line('b')}, ${line('c')}`, 2],
    ['with brackets that do not fit', `[${line('a')}, {"b": ]}, ${line('c')}]`, 3],
    ['that is not UTF-8', Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]), 1],
  ])('%s has failures, and nothing is skipped silently', async (_, text, place) => {
    const items = await itemsOf(text, 16);
    expect(items.find(({ error }) => error !== undefined)?.line).toBeLessThanOrEqual(place);
    const covered = items.reduce((sum, { start, end }) => sum + end - start, 0);
    expect(covered).toBeGreaterThan(Buffer.from(text).length - 8);
  });

  it('is uploaded in batches, with an outcome for each line', async () => {
    const many = Array.from({ length: 250 }, (_, index) => line(`number ${index}`));
    const upload = await uploaded([...many, 'broken', JSON.stringify({ nothing: 1 }), line('number 0')].join('\n'));
    const { outcomes } = upload;
    const { phase, size, handled, hasSent } = upload.state;
    expect([phase, outcomes.length, handled, hasSent]).toEqual(['done', 253, size, true]);
    expect(upload.share).toBe(1);
    expect(new TrajectoryUpload('job', upload.path, 'mine').share).toBe(0);
    expect(outcomes.map(({ line: place }) => place)).toEqual(Array.from({ length: 253 }, (_, index) => index + 1));
    expect(outcomes.filter(({ status }) => status === 'uploaded')).toHaveLength(251);
    expect(outcomes.slice(-3).map(({ status }) => status)).toEqual(['failed', 'error', 'uploaded']);
    const path = await upload.saveFailures(join(folder, 'failed.jsonl'));
    expect(readFileSync(path, 'utf8')).toBe('broken\n{"nothing":1}\n');
    await expect(upload.saveFailures(path)).rejects.toThrow('already exists');
    writeFileSync(upload.path, 'something else');
    await expect(upload.saveFailures(join(folder, 'other.jsonl'))).rejects.toThrow('has changed');
  });

  it.each([
    ['{"a": [1, 2]}', '{"a": [1, 2]}'],
    ['{\r\n  "a": 1\n}', '{"a":1}'],
    ['{\r\n  "a": \n', '{    "a":  '],
  ])('has %j as one line: %j', async (item, expected) => {
    const bytes = Buffer.from(item);
    expect(String(Buffer.from(await lineAt(reading(bytes, 3), { start: 0, end: bytes.length })))).toBe(expected);
  });

  it('without a readable line is not sent', async () => {
    const { state, outcomes } = await uploaded('broken\n3\n');
    expect(state).toMatchObject({
      phase: 'done',
      hasSent: false,
      counts: { stored: 0, skipped: 0, failed: 2, unknown: 0 },
    });
    expect(outcomes.map(({ line: place }) => place)).toEqual([1, 2]);
  });

  it('that was uploaded already is skipped', async () => {
    await uploaded(line('once'), 'again');
    const { outcomes } = await uploaded(`${line('once')}\n${line('new')}`, 'again');
    expect(outcomes.map(({ status }) => status)).toEqual(['skipped', 'uploaded']);
  });

  it('keeps equal trajectories, even across several requests (X2)', async () => {
    const many = Array.from({ length: 900 }, () => line('equal')).join('\n');
    const counts = async (text: string) => (await uploaded(text, 'equal')).state.counts;
    expect(await counts(many)).toEqual({ stored: 900, skipped: 0, failed: 0, unknown: 0 });
    expect(await counts(many)).toEqual({ stored: 0, skipped: 900, failed: 0, unknown: 0 });
    // Written in another way it is equal too.
    const rewritten = '{"trace_id":null,"messages":[{"content":"equal","role":"user"}]}';
    expect(await counts(`${many}\n${rewritten}`)).toEqual({ stored: 1, skipped: 900, failed: 0, unknown: 0 });
  });

  it('says how large a trajectory is that the service refuses, and sends the others (R8)', async () => {
    const most = 2_000;
    const strict = withAnswers(service, {
      uploadTrajectories: (input, options) => {
        const isTooLarge = Buffer.byteLength(JSON.stringify(input.body)) > most;
        const context = { max_bytes: most };
        if (isTooLarge) throw new ValidationError('Too large.', { status: 413, context });
        return service.call('uploadTrajectories', input, options);
      },
    });
    const path = join(folder, 'large.jsonl');
    const small = Array.from({ length: 60 }, (_, index) => line(`small ${index % 3}`));
    writeFileSync(path, [...small, line('x'.repeat(10_000)), line('the last')].join('\n'));
    const upload = new TrajectoryUpload('job', path, 'large');
    await upload.run(async () => strict);
    expect(upload.state.counts).toEqual({ stored: 61, skipped: 0, failed: 1, unknown: 0 });
    expect(upload.outcomes[60]?.message).toBe(
      'This trajectory has 9.8 KiB; the service takes trajectories of up to 2 KiB.',
    );
  });

  it.each([
    new ServerError('Nothing in the batch was stored: the disk is full.', { status: 507 }),
    // No line was sent, so none was rejected (attack34 B3).
    new RequestError('The data folder cannot be used. Nothing was sent.', { code: 'data_folder' }),
    new RequestError('Nothing was sent, because the key could not be read.', { code: 'credential_unavailable' }),
  ])('stops at once if nothing can be stored or sent, with one sentence: %s', async error => {
    let requests = 0;
    const full = withAnswers(service, {
      uploadTrajectories: () => {
        requests += 1;
        throw error;
      },
    });
    const path = join(folder, 'no-room.jsonl');
    writeFileSync(path, Array.from({ length: 250 }, (_, index) => line(`${index}`)).join('\n'));
    const upload = new TrajectoryUpload('job', path, 'full');
    await upload.run(async () => full);
    expect([requests, upload.state.phase, upload.outcomes]).toEqual([1, 'failed', []]);
    expect(upload.state.error).toBe(error);
  });

  it('with a completely refused batch has a failure for each line', async () => {
    const { state, outcomes } = await uploaded(line('x'), 'evaluation/not-yours');
    expect([state.phase, outcomes[0]?.status]).toEqual(['done', 'failed']);
    expect(outcomes[0]?.message).toContain('reserved');
  });

  it('with a batch refused for one line has the reason there', async () => {
    const path = join(folder, 'one-bad.jsonl');
    writeFileSync(path, [line('a'), line('b'), line('c')].join('\n'));
    const upload = new TrajectoryUpload('job', path, 'lines');
    const failures = [{ item_index: 1, message: 'It has no role.' }, { item_index: 2 }];
    const refusing = withAnswers(service, {
      uploadTrajectories: () => {
        throw new ValidationError('The batch is refused.', { status: 422, failures });
      },
    });
    await upload.run(async () => refusing);
    expect(upload.outcomes.map(({ status, message }) => [status, message])).toEqual([
      ['failed', 'The batch is refused.'],
      ['failed', 'It has no role.'],
      ['failed', 'The batch is refused.'],
    ]);
  });

  it.each([
    ['the key is refused', 401, 'authentication_error', 'invalid_api_key'],
    ['the service limits the rate', 429, 'rate_limit_error', 'rate_limited'],
  ])('stops if %s, with the reason and without an outcome for any line', async (_, status, type, code) => {
    const server = await hostileServer(refusal(status, type, code));
    const path = join(folder, 'refused.jsonl');
    writeFileSync(path, Array.from({ length: 250 }, (__, index) => line(`${index}`)).join('\n'));
    const upload = new TrajectoryUpload('job', path, 'lines');
    await upload.run(async () => serviceAt(server.url).service);
    expect(upload.state.phase).toBe('failed');
    expect(upload.outcomes).toEqual([]);
    expect(upload.state).toMatchObject({ error: { code } });
    // Again, once it is allowed: the whole file is sent.
    await upload.run(async () => service);
    expect(upload.state.phase).toBe('done');
    expect(upload.outcomes).toHaveLength(250);
  });

  it('that does not exist is reported', async () => {
    const upload = new TrajectoryUpload('job', join(folder, 'nowhere'), 'x');
    await upload.run(async () => service);
    expect(upload.state.phase).toBe('failed');
    expect(upload.state.error?.message).toContain('ENOENT');
    const again = upload.run(() => Promise.withResolvers<Service>().promise);
    expect(upload.state).toMatchObject({ phase: 'uploading', error: undefined });
    upload.cancel();
    await again;
  });
});

describe('an outcome under other names', () => {
  const boom = { code: 'too_long', message: 'it is too long' };

  /** The outcome of a file of three lines, by the service's answer for the batch. */
  async function outcomesOf(answer: object) {
    const server = await hostileServer(json(answer));
    const path = join(folder, 'three.jsonl');
    writeFileSync(path, [line('a'), line('b'), line('c')].join('\n'));
    const upload = new TrajectoryUpload('job', path, 'lines');
    await upload.run(async () => serviceAt(server.url).service);
    return upload;
  }

  it.each<[string, object, UploadCounts, (string | undefined)[]]>([
    [
      'whatever is neither uploaded nor skipped has failed',
      { trajectories: [{ status: 'error', failure: boom }, { status: 'skipped' }, { status: 'rejected' }] },
      { stored: 0, skipped: 1, failed: 2, unknown: 0 },
      ['it is too long', undefined, undefined],
    ],
    [
      'a failure counts, unless the status says that it is stored',
      { trajectories: [{ status: 'uploaded', failure: boom }, { status: 'Uploaded' }, { failure: { code: 'odd' } }] },
      { stored: 2, skipped: 0, failed: 1, unknown: 0 },
      ['it is too long', undefined, 'odd'],
    ],
    [
      'a failure of the batch is that of its item',
      {
        trajectories: [0, 1].map(request_index => ({ request_index, status: 'uploaded' })),
        failures: [{ ...boom, item_index: 2 }],
      },
      { stored: 2, skipped: 0, failed: 1, unknown: 0 },
      [undefined, undefined, 'it is too long'],
    ],
    [
      'one that is not mentioned is not known',
      { uploaded: 2, trajectories: [{ status: 'uploaded' }, { request_index: 2, status: 'uploaded', failure: null }] },
      { stored: 2, skipped: 0, failed: 0, unknown: 1 },
      [undefined, undefined, undefined],
    ],
    [
      'nor is one of a list that names none and is not whole (A11)',
      { trajectories: [{ status: 'error', failure: boom }] },
      { stored: 0, skipped: 0, failed: 0, unknown: 3 },
      Array(3).fill('The service reported no outcome for it.'),
    ],
    [
      'a failure that names no item is none of an item (A11)',
      { uploaded: 2, skipped: 0, failures: [boom], partial_success: true },
      { stored: 2, skipped: 0, failed: 0, unknown: 1 },
      [undefined, undefined, undefined],
    ],
    [
      'an empty list leaves them to the counts (B12)',
      { trajectories: [], uploaded: 2, skipped: 1 },
      { stored: 2, skipped: 1, failed: 0, unknown: 0 },
      [undefined, undefined, undefined],
    ],
    [
      'a partial list leaves the rest to the counts (B12)',
      { trajectories: [{ request_index: 1, status: 'skipped' }], uploaded: 2, skipped: 1 },
      { stored: 2, skipped: 1, failed: 0, unknown: 0 },
      [undefined, undefined, undefined],
    ],
    [
      'only the context says why (B12)',
      { uploaded: 2, failures: [{ item_index: 0, context: { field: 'steps' } }] },
      { stored: 2, skipped: 0, failed: 1, unknown: 0 },
      [undefined, undefined, undefined],
    ],
    [
      'counts that are none say nothing',
      { uploaded: -1, skipped: 0.5 },
      { stored: 0, skipped: 0, failed: 0, unknown: 3 },
      Array(3).fill('The service reported no outcome for it.'),
    ],
    [
      'more are listed than counted (out29 B4)',
      {
        ...{ uploaded: 1, skipped: 0 },
        trajectories: [0, 1, 2].map(request_index => ({ request_index, status: 'uploaded' })),
      },
      { stored: 1, skipped: 0, failed: 0, unknown: 2 },
      Array(3).fill('The response counts fewer trajectories than it lists.'),
    ],
    [
      'all of them are only counted',
      { uploaded: 3, skipped: 0 },
      { stored: 3, skipped: 0, failed: 0, unknown: 0 },
      [undefined, undefined, undefined],
    ],
    [
      'a failure without words is one',
      { uploaded: 2, skipped: 0, failures: [{ item_index: 0 }] },
      { stored: 2, skipped: 0, failed: 1, unknown: 0 },
      [undefined, undefined, undefined],
    ],
  ])('%s', async (_, answer, counts, messages) => {
    const upload = await outcomesOf(answer);
    expect(upload.state.counts).toEqual(counts);
    expect(upload.outcomes.map(({ message }) => message)).toEqual(messages);
    expect(upload.failures).toBe(counts.failed);
  });

  it.each<[object, UploadCounts, string[], number]>([
    [
      { uploaded: 0, skipped: 3, failures: [] },
      { stored: 0, skipped: 3, failed: 0, unknown: 0 },
      ['skipped', 'skipped', 'skipped'],
      0,
    ],
    [
      { uploaded: 0, skipped: 2, failures: [] },
      { stored: 0, skipped: 2, failed: 0, unknown: 1 },
      ['counted', 'counted', 'counted'],
      0,
    ],
    [
      { uploaded: 2, skipped: 1, failures: [] },
      { stored: 2, skipped: 1, failed: 0, unknown: 0 },
      ['counted', 'counted', 'counted'],
      0,
    ],
    [
      { uploaded: 2, skipped: 3, failures: [] },
      { stored: 0, skipped: 0, failed: 0, unknown: 3 },
      ['unknown', 'unknown', 'unknown'],
      0,
    ],
    [
      { uploaded: 1, skipped: 0, failures: [{ item_index: 0 }] },
      { stored: 1, skipped: 0, failed: 1, unknown: 1 },
      ['failed', 'counted', 'counted'],
      1,
    ],
    [
      { uploaded: 2, skipped: 2, failures: [{ item_index: 0 }] },
      { stored: 0, skipped: 0, failed: 0, unknown: 3 },
      ['unknown', 'unknown', 'unknown'],
      0,
    ],
    [
      { uploaded: 3, skipped: 0, failures: [{ item_index: 3 }] },
      { stored: 3, skipped: 0, failed: 0, unknown: 0 },
      ['uploaded', 'uploaded', 'uploaded'],
      0,
    ],
  ])('is counted if it names no trajectory: %j', async (answer, counts, statuses, failures) => {
    const upload = await outcomesOf(answer);
    expect(upload.state.counts).toEqual(counts);
    expect(upload.outcomes.map(({ status }) => status)).toEqual(statuses);
    // Trajectories that may be stored are not sent twice.
    expect(upload.failures).toBe(failures);
  });

  it('keeps code and context of failures, and messages about the batch unless all are stored (B12)', async () => {
    const context = { field: 'steps', got: 900 };
    const answer = {
      trajectories: [
        { status: 'error', failure: { ...boom, context } },
        { status: 'uploaded' },
        { status: 'uploaded' },
      ],
      failures: [boom, 'odd'],
      message: 'one was too long',
    };
    const { outcomes, reports } = await outcomesOf(answer);
    expect(outcomes[0]).toMatchObject({ ...boom, context });
    expect(reports).toMatchObject([
      { kind: 'failure', lines: [1, 3], ...boom },
      { kind: 'failure', message: '1 of the failures could not be read' },
      { kind: 'summary', message: 'one was too long' },
    ]);
    expect((await outcomesOf({ uploaded: 3, message: 'all stored' })).reports).toEqual([]);
  });

  it('is in the file of lines to resend', async () => {
    const upload = await outcomesOf({
      trajectories: [{ status: 'error' }, { status: 'uploaded' }, { status: 'error' }],
    });
    const path = await upload.saveFailures(join(folder, 'again.jsonl'));
    expect(readFileSync(path, 'utf8')).toBe(`${line('a')}\n${line('c')}\n`);
  });
});

describe('an interrupted upload', () => {
  const lines = Array.from({ length: 250 }, (_, index) => line(`interrupted ${index}`)).join('\n');

  /** A service that stores each batch, and loses the answer to this one; it honours keys if `honoursKeys`. */
  function losing(batch: number, honoursKeys = false) {
    const sent: { count: number; first: unknown; key: string | undefined }[] = [];
    const lossy = withAnswers(service, {
      uploadTrajectories: async (input, options) => {
        const { trajectories } = input.body;
        sent.push({ count: trajectories.length, first: trajectories[0]?.['messages'], key: options?.idempotencyKey });
        const answer = await service.call('uploadTrajectories', input, options);
        if (sent.length === batch) throw new NetworkError('The line is cut.', { outcomeUnknown: true });
        return answer;
      },
    });
    return { sent, connect: async (): Promise<Service> => ({ ...lossy, honoursKeys }) };
  }

  /** Runs of an upload of these lines, each as a new program. */
  function runsOf(dataset: string, text: string) {
    const memory = remembered();
    const path = join(folder, `${dataset}.jsonl`);
    writeFileSync(path, text);
    const run = async (connect: () => Promise<Service>, options: TrajectoryUploadOptions = {}) => {
      const upload = new TrajectoryUpload('job', path, dataset, { records: memory().trajectoryUploads, ...options });
      await upload.run(connect);
      return upload;
    };
    return { path, run, records: () => memory().trajectoryUploads };
  }

  it('keeps equal trajectories, and stores none twice (X2)', async () => {
    const { path, run } = runsOf('cut and equal', Array.from({ length: 250 }, () => line('equal')).join('\n'));
    // The second batch is stored, and its answer is lost.
    const { phase, counts } = (await run(losing(2).connect)).state;
    expect([phase, counts]).toEqual(['failed', { stored: 100, skipped: 0, failed: 0, unknown: 100 }]);
    const next = await run(losing(0, true).connect);
    expect(next.state).toMatchObject({ phase: 'done', counts: { stored: 250, skipped: 0, unknown: 0 } });
    // Another program has no record of the upload, and other keys.
    const other = new TrajectoryUpload('job', path, 'cut and equal');
    await other.run(async () => service);
    expect(other.state.counts).toEqual({ stored: 0, skipped: 250, failed: 0, unknown: 0 });
  });

  it('continues after a restart where it stopped, with the same request if keys are honoured (A1)', async () => {
    const { path, run, records } = runsOf('cut', lines);
    const first = losing(2);
    await run(first.connect);
    expect(records().unfinished()).toMatchObject([{ path, dataset: 'cut', counts: { stored: 100, unknown: 100 } }]);
    const second = losing(0, true);
    const next = await run(second.connect);
    expect(second.sent.map(({ count }) => count)).toEqual([100, 50]);
    expect(second.sent[0]).toEqual(first.sent[1]);
    expect(next.state).toMatchObject({ phase: 'done', counts: { stored: 250, skipped: 0, failed: 0, unknown: 0 } });
    expect(records().unfinished()).toEqual([]);
  });

  it('resends nothing that may be stored, unless the user wants it (A1)', async () => {
    const { run, records } = runsOf('held back', lines);
    const first = losing(2);
    await run(first.connect);
    const second = losing(0);
    const held = await run(second.connect);
    expect(second.sent.map(({ count }) => count)).toEqual([50]);
    expect(held.state).toMatchObject({ phase: 'done', counts: { stored: 150, skipped: 0, failed: 0, unknown: 100 } });
    expect(held.outcomes.filter(({ status }) => status === 'unknown').map(({ line: place }) => place)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 101),
    );
    const third = losing(0);
    const again = await run(third.connect, { resendUnknown: true });
    expect(third.sent).toEqual([first.sent[1]]);
    expect(again.state.counts).toMatchObject({ stored: 250, unknown: 0 });
    expect(records().unfinished()).toEqual([]);
  });

  it('resends no part of a request under another key, even if keys are honoured', async () => {
    const { path, run } = runsOf('partly gone', lines);
    await run(losing(2).connect);
    writeFileSync(path, lines.split('\n').toSpliced(150, 1).join('\n'));
    const second = losing(0, true);
    const held = await run(second.connect);
    expect(second.sent.map(({ count }) => count)).toEqual([50]);
    expect(held.state.counts).toEqual({ stored: 150, skipped: 0, failed: 0, unknown: 99 });
  });

  it('resends only what was rejected once the rest is stored (A1)', async () => {
    const { path, run, records } = runsOf('rejected', [line('a'), '{"nothing":1}', line('c')].join('\n'));
    const first = losing(0);
    expect((await run(first.connect)).state.counts).toEqual({ stored: 2, skipped: 0, failed: 1, unknown: 0 });
    const second = losing(0);
    const again = await run(second.connect);
    expect(second.sent.map(({ count }) => count)).toEqual([1]);
    expect(again.state.counts).toEqual({ stored: 2, skipped: 0, failed: 1, unknown: 0 });
    // Corrected, with another line before it.
    writeFileSync(path, [line('new'), line('a'), line('corrected'), line('c')].join('\n'));
    const third = losing(0);
    const corrected = await run(third.connect);
    expect(third.sent.map(({ count }) => count)).toEqual([2]);
    expect(corrected.state.counts).toEqual({ stored: 4, skipped: 0, failed: 0, unknown: 0 });
    expect(records().unfinished()).toEqual([]);
  });

  it('is recorded before it is sent, so that a kill leaves it unknown (A1)', async () => {
    const { run, records } = runsOf('killed', lines);
    const during: unknown[] = [];
    await run(async () =>
      withAnswers(service, {
        uploadTrajectories: (input, options) => {
          during.push(records().unfinished()[0]?.counts);
          return service.call('uploadTrajectories', input, options);
        },
      }),
    );
    expect(during).toMatchObject([
      { stored: 0, unknown: 100 },
      { stored: 100, unknown: 100 },
      { stored: 200, unknown: 50 },
    ]);
  });

  it.each([
    ['the same file', {}],
    ['a link to it', { link: 'queued link.jsonl' }],
    ['standard input', { isCopy: true }],
    ['the same file with another key', { account: 'another' }],
    ['the same file for another agent', { agent: 'another' }],
  ])('waits for another upload into the dataset, of %s, and then sends only the rest', async (name, how) => {
    const { path, run, records } = runsOf(`queued ${name}`, lines);
    const { link, account = '', ...options } = { link: undefined, account: undefined, ...how };
    if (link) symlinkSync(path, join(folder, link));
    const second = new TrajectoryUpload('second', link ? join(folder, link) : path, `queued ${name}`, {
      records: records(),
      ...options,
    });
    const other = losing(0);
    let waiting: Promise<void> | undefined;
    const first = await run(async () => ({
      ...withAnswers(service, {
        uploadTrajectories: async (input, call) => {
          if (!waiting) {
            const queued = Promise.withResolvers<void>();
            second.subscribe(() => second.state.phase === 'queued' && queued.resolve());
            waiting = second.run(async () => ({ ...(await other.connect()), accountOf: async () => account }));
            await queued.promise;
          }
          return service.call('uploadTrajectories', input, call);
        },
      }),
      skipsStored: () => false,
      accountOf: async () => '',
    }));
    await waiting;
    expect(first.state).toMatchObject({ phase: 'done', counts: { stored: 250 } });
    expect(second.state).toMatchObject({ phase: 'done', counts: { stored: 250 }, sentBefore: { count: 250 } });
    expect(other.sent).toEqual([]);
  });

  it('does not know the outcome of a request that is refused after it may have been stored (A1)', async () => {
    const { run } = runsOf('refused later', [line('a'), line('b')].join('\n'));
    await run(losing(1).connect);
    const refusing = withAnswers(service, {
      uploadTrajectories: () => {
        throw new ValidationError('No.', { status: 422 });
      },
    });
    const refused = await run(async () => refusing, { resendUnknown: true });
    expect(refused.state.counts).toEqual({ stored: 0, skipped: 0, failed: 0, unknown: 2 });
    expect(refused.failures).toBe(0);
  });

  it('resends trajectories with trace ids, which are stored once', async () => {
    const traced = [1, 2].map(number => JSON.stringify({ ...JSON.parse(line('a')), trace_id: `t${number}` }));
    const { run } = runsOf('traced', traced.join('\n'));
    await run(losing(1).connect);
    expect((await run(losing(0).connect)).state.counts).toMatchObject({ stored: 0, unknown: 2 });
    const skipping = async () => ({ ...(await losing(0).connect()), skipsStored: (areTraced: boolean) => areTraced });
    expect((await run(skipping)).state.counts).toEqual({ stored: 2, skipped: 0, failed: 0, unknown: 0 });
  });

  it('sends nothing of a file that was sent before, unless the user wants it or the service skips stored ones', async () => {
    const traced = (name: string) => JSON.stringify({ ...JSON.parse(line('a')), trace_id: name });
    const { path, run, records } = runsOf('sent before', traced('t1'));
    const sent: number[] = [];
    const learned: boolean[] = [];
    const connect =
      (status: string, skips = false) =>
      async (): Promise<Service> => ({
        ...withAnswers(service, {
          uploadTrajectories: ({ body }) => {
            sent.push(body.trajectories.length);
            return { trajectories: body.trajectories.map(() => ({ status })) };
          },
        }),
        skipsStored: areTraced => skips && areTraced,
        learnSkipping: does => learned.push(does),
      });
    const anew = async (status: string) => {
      const upload = new TrajectoryUpload('job', path, 'sent before', { records: records() });
      upload.startOver();
      await upload.run(connect(status));
    };
    await run(connect('uploaded'));
    const again = await run(connect('uploaded'));
    expect(again.state).toMatchObject({ phase: 'done', counts: { stored: 1 }, sentBefore: { count: 1 } });
    expect([again.hasStarted, again.outcomes, sent]).toEqual([true, [], [1]]);
    await anew('uploaded');
    await anew('skipped');
    expect([sent, learned]).toEqual([
      [1, 1, 1],
      [false, true],
    ]);
    // It was skipped the last time, too: it may be invalid.
    await anew('skipped');
    expect(learned).toHaveLength(2);
    await run(connect('skipped', true));
    expect(sent).toHaveLength(5);
    const last = await run(connect('skipped'));
    expect(sent).toHaveLength(5);
    last.startOver();
    expect(last.hasStarted).toBe(false);
    await run(connect('uploaded'));
    writeFileSync(path, `${traced('t1')}\n${traced('t2')}`);
    await run(connect('uploaded'));
    expect(sent.slice(5)).toEqual([1, 1]);
  });

  it('starts over on request', async () => {
    const { run, records } = runsOf('anew', lines);
    const upload = await run(losing(2).connect);
    expect(upload.hasStarted).toBe(true);
    upload.startOver();
    expect([upload.hasStarted, records().unfinished()]).toEqual([false, []]);
  });

  it('sends nothing while its agent is unknown, and no other request if that is named differently', async () => {
    const { run, records } = runsOf('agent', line('of an agent'));
    const keys: (string | undefined)[] = [];
    const runWith = (agents: readonly object[] | Error, agent = 'name:tutor') =>
      run(
        async () => ({
          ...withAnswers(service, {
            listAgents: () => {
              if (agents instanceof Error) throw agents;
              return { items: agents, has_more: false, next_cursor: null, dropped: 0 };
            },
            uploadTrajectories: (_, options) => {
              keys.push(options?.idempotencyKey);
              throw new NetworkError('The line is cut.', { outcomeUnknown: true });
            },
          }),
          honoursKeys: true,
        }),
        { agent },
      );
    const overloaded = await runWith(new RateLimitError('Too many requests.', { status: 429 }));
    expect(overloaded.state.error?.message).toBe('Too many requests.');
    // Nothing was sent, so there is nothing to continue.
    expect(records().unfinished()).toEqual([]);
    expect(keys).toEqual([]);
    await runWith([{ agent_id: 'a1', name: 'tutor' }]);
    await runWith([{ agent_id: 'a1', name: 'tutor' }]);
    expect(keys).toHaveLength(2);
    expect(keys[1]).toBe(keys[0]);
    const { state } = await runWith([{ agent_id: 'a1', name: 'tutor' }], 'a1');
    expect([keys.length, state.counts.unknown]).toEqual([2, 1]);
  });
});

it('skips a whole file that is uploaded a second time', async () => {
  const text = `${line('twice')}\n${line('and twice')}`;
  const first = await uploaded(text, 'twice');
  const second = await uploaded(text, 'twice');
  expect(first.state.counts).toEqual({ stored: 2, skipped: 0, failed: 0, unknown: 0 });
  expect(second.state.counts).toEqual({ stored: 0, skipped: 2, failed: 0, unknown: 0 });
});
