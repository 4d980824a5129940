/** A file that is sent, edited and sent again: each trajectory is stored as often as it is in the file. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { occurrencesHeader } from '../../src/contract/trajectories.ts';
import {
  NetworkError,
  PermissionError,
  RateLimitError,
  ServerError,
  ValidationError,
} from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import { SentRecord } from '../../src/store/sent-record.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { openTables, tablesInMemory } from '../../src/store/tables.ts';
import { TrajectoryRecords } from '../../src/store/trajectory-records.ts';
import { TrajectoryUpload, type TrajectoryUploadOptions } from '../../src/uploads/trajectory-upload.ts';
import { sentNothing } from '../../src/uploads/trajectory-upload-state.ts';
import fc from '../../tools/rig/property.ts';
import { fakeService, withAnswers } from '../service/fake-service.ts';

const lineOf = (content: string): string => JSON.stringify({ messages: [{ role: 'user', content }] });

/** How the service handles a request; if the answer is lost, it has stored all of it. */
type Fate =
  | 'stores'
  | 'limits'
  | 'loses'
  | 'fails after it'
  | 'refuses'
  | 'rejects the first'
  | 'skips the last'
  | 'only counts';

/** A service that stores everything, up to two trajectories in a request. */
function storing(stored: string[], fates: readonly Fate[]) {
  const left = [...fates];
  const sent: string[][] = [];
  const service = fakeService(
    {
      uploadTrajectories: ({ body }) => {
        const contents = body.trajectories.map(({ messages }) => (messages as { content: string }[])[0]?.content ?? '');
        if (contents.length > 2) throw new ValidationError('Too large.', { status: 413 });
        sent.push(contents);
        const fate = left.shift() ?? 'stores';
        if (fate === 'limits') throw new RateLimitError('Slow down.', { status: 429 });
        if (fate === 'refuses') throw new ValidationError('No.', { status: 422 });
        const isOut = (at: number): boolean =>
          (fate === 'rejects the first' && at === 0) || (fate === 'skips the last' && at === contents.length - 1);
        stored.push(...contents.filter((_, at) => !isOut(at)));
        if (fate === 'loses') throw new NetworkError('The line is cut.', { outcomeUnknown: true });
        if (fate === 'fails after it') throw new ServerError('Oops.', { status: 500, outcomeUnknown: true });
        if (fate === 'only counts') return { uploaded: contents.length, skipped: 0, trajectories: [] };
        const statuses = contents.map((_, at) => {
          if (!isOut(at)) return 'uploaded';
          return fate === 'rejects the first' ? 'error' : 'skipped';
        });
        return { trajectories: statuses.map((status, request_index) => ({ status, request_index })) };
      },
    },
    { honoursKeys: false, agent: undefined, skipsStored: () => false, learnSkipping: () => {} },
  );
  return { service, sent };
}

/** A folder for files, and uploads of them, each by a program of its own. */
function world() {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-sent-before-'));
  const memory = RememberedStore.inMemory('test');
  onTestFinished(() => {
    memory.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const upload = async (
    service: Service,
    contents: readonly string[],
    { name = 'file', ...options }: TrajectoryUploadOptions & { name?: string } = {},
  ) => {
    const path = join(folder, `${name}.jsonl`);
    writeFileSync(path, contents.map(lineOf).join('\n'));
    const job = new TrajectoryUpload('job', path, 'd', { records: memory.trajectoryUploads, ...options });
    await job.run(async () => service);
    return job;
  };
  return { folder, memory, upload };
}

/** Ensures that no two events happen in the same millisecond. */
function ticking(): void {
  let now = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 1));
  onTestFinished(() => clock.mockRestore());
}

const countOf = (all: readonly string[], content: string): number => all.filter(each => each === content).length;

const fate = fc.constantFrom<Fate>(
  ...([
    'stores',
    'stores',
    'limits',
    'loses',
    'fails after it',
    'refuses',
    'rejects the first',
    'only counts',
  ] as const),
);
const place = fc.nat(3);
const content = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ kind: fc.constant('append'), content }),
  fc.record({ kind: fc.constant('correct'), place, content }),
  fc.record({ kind: fc.constant('duplicate'), place }),
  fc.record({ kind: fc.constant('remove'), place }),
  fc.record({
    kind: fc.constant('send'),
    fates: fc.array(fate, { maxLength: 3 }),
    name: fc.constantFrom('file', 'file', 'file', 'other'),
    isCopy: fc.constantFrom(false, false, false, true),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function edited(lines: readonly string[], change: Step): readonly string[] {
  if (change.kind === 'append') return [...lines, change.content];
  if (!('place' in change) || lines.length === 0) return lines;
  const at = change.place % lines.length;
  if (change.kind === 'correct') return lines.with(at, 'content' in change ? change.content : '');
  return change.kind === 'remove' ? lines.toSpliced(at, 1) : [...lines, lines[at] ?? ''];
}

it('stores each line as often as it is in the file, or calls it unknown or failed', async () => {
  let lost = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async steps => {
      const { upload } = world();
      const stored: string[] = [];
      /** The most that each line was in a file that was sent. */
      const most = new Map<string, number>();
      let lines: readonly string[] = ['a'];
      const last = { kind: 'send', fates: [], name: 'file', isCopy: false } as const;
      for (const change of [...steps, last]) {
        lines = edited(lines, change as Step);
        if (change.kind !== 'send' || !('fates' in change)) continue;
        const { fates, name, isCopy } = change;
        for (const each of lines) most.set(each, Math.max(most.get(each) ?? 0, countOf(lines, each)));
        const before = stored.length;
        const { service, sent } = storing(stored, fates);
        const { state, outcomes } = await upload(service, lines, { name, isCopy });
        for (const each of new Set(stored)) expect(countOf(stored, each)).toBeLessThanOrEqual(most.get(each) ?? 0);
        if (state.phase !== 'done') continue;
        const { counts, sentBefore } = state;
        expect(counts.stored + counts.skipped + counts.failed + counts.unknown).toBe(lines.length);
        expect((sentBefore?.count ?? 0) + outcomes.length).toBe(lines.length);
        if (sent.length === 0) expect(stored.length).toBe(before);
        let there = 0;
        for (const each of new Set(lines)) {
          const open = outcomes.filter(
            ({ line, status, failed }) => lines[line - 1] === each && (failed || status === 'unknown'),
          );
          lost += open.length;
          expect(countOf(stored, each)).toBeGreaterThanOrEqual(countOf(lines, each) - open.length);
          there += Math.min(countOf(stored, each), countOf(lines, each));
        }
        expect(counts.stored).toBeLessThanOrEqual(there);
      }
    }),
    { numRuns: 400 },
  );
  expect(lost).toBeGreaterThan(20);
});

it('sends only the new lines, whatever the name of the file, and each of equal ones', async () => {
  const { upload } = world();
  const stored: string[] = [];
  const { service, sent } = storing(stored, []);
  await upload(service, ['a', 'b']);
  const grown = await upload(service, ['a', 'b', 'c']);
  expect(sent).toEqual([['a', 'b'], ['c']]);
  expect(grown.state).toMatchObject({ counts: { stored: 3 }, sentBefore: { count: 2, first: expect.any(Number) } });
  expect([sentNothing(grown.state), grown.outcome]).toEqual([
    false,
    'is done: 1 stored, 0 skipped, 0 failed, 2 sent before',
  ]);
  for (const options of [{}, { name: 'renamed' }, { isCopy: true }]) {
    const again = await upload(service, ['c', 'a', 'b'], options);
    expect([sentNothing(again.state), again.outcome]).toEqual([true, 'sent nothing: everything was sent before']);
  }
  await upload(service, ['d', 'b', 'b', 'c'], { isCopy: true });
  await upload(service, ['d', 'b', 'b', 'c', 'b']);
  expect(sent.slice(2)).toEqual([['d', 'b'], ['b']]);
  expect(stored.toSorted().join('')).toBe('abbbcd');
});

it.each([1, 2])('sends only corrected lines of a file with a skipped one, after %i uploads', async times => {
  const { upload } = world();
  const { service, sent } = storing([], ['skips the last']);
  for (let time = 0; time < times; time += 1)
    expect((await upload(service, ['a', 'b'])).state.counts).toMatchObject({ stored: 1, skipped: 1 });
  expect((await upload(service, ['a', 'B'])).state.counts).toMatchObject({ stored: 2, skipped: 0 });
  expect(sent).toEqual([['a', 'b'], ['B']]);
});

it('keeps an unknown line unknown that was removed from the file and restored, and lists the file as complete', async () => {
  const { memory, upload } = world();
  const { service, sent } = storing([], ['fails after it']);
  await upload(service, ['a']);
  const { state } = await upload(service, ['b']);
  expect([state.counts.unknown, memory.trajectoryUploads.unfinished()]).toEqual([0, []]);
  expect((await upload(service, ['a', 'b'])).state.counts).toMatchObject({ stored: 1, unknown: 1 });
  expect(sent).toEqual([['a'], ['b']]);
  const resent = await upload(service, ['a', 'b'], { resendUnknown: true });
  expect([resent.state.counts.unknown, sent.at(-1)]).toEqual([0, ['a']]);
});

it('counts at least as many stored ones as the service, even when the file is read again', async () => {
  const { memory, upload } = world();
  const service = fakeService(
    { uploadTrajectories: () => ({ uploaded: 3, trajectories: [] }) },
    { honoursKeys: false, skipsStored: () => false, learnSkipping: () => {} },
  );
  const five = ['a', 'b', 'c', 'd', 'e'];
  const counts = { stored: 3, skipped: 0, failed: 0, unknown: 2 };
  for (let time = 0; time < 2; time += 1) {
    const { state, outcomes } = await upload(service, five);
    expect([state.counts, outcomes.map(({ status }) => status)]).toEqual([counts, Array(5).fill('counted')]);
  }
  expect(memory.trajectoryUploads.unfinished()[0]?.counts).toEqual(counts);
  // Any of them may be gone.
  expect((await upload(service, five.slice(1))).state.counts).toMatchObject({ stored: 2, unknown: 2 });
  const fewer = await upload(service, five.slice(3));
  expect(fewer.state.counts).toMatchObject({ stored: 0, unknown: 2 });
  expect(fewer.outcomes.map(({ status }) => status)).toEqual(['unknown', 'unknown']);
});

it('keeps unknown outcomes of lines that are no longer in the file when others are resent', async () => {
  const { upload } = world();
  const { service, sent } = storing([], ['fails after it']);
  await upload(service, ['a', 'b']);
  await upload(service, ['b'], { resendUnknown: true });
  expect((await upload(service, ['a', 'b'])).state.counts).toMatchObject({ stored: 1, unknown: 1 });
  expect(sent).toEqual([['a', 'b'], ['b']]);
});

it('sends a whole file that was started over, even over two runs, or within one millisecond', async () => {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  onTestFinished(() => clock.mockRestore());
  const { upload } = world();
  const { service, sent } = storing([], []);
  const four = ['a', 'b', 'c', 'd'];
  await upload(service, four);
  expect(sent).toHaveLength(2);
  const limited = storing([], ['stores', 'limits']);
  expect((await upload(limited.service, four, { isNew: true })).state).toMatchObject({
    phase: 'failed',
    counts: { stored: 2 },
  });
  const rest = await upload(service, four);
  expect([rest.state.counts.stored, sent.slice(2)]).toEqual([4, [['c', 'd']]]);
  await upload(service, four);
  expect(sent).toHaveLength(3);
  // The window forgets before there is another upload.
  (await upload(service, four)).startOver();
  const anew = await upload(service, [...four, 'e']);
  expect([anew.state.counts.stored, anew.state.sentBefore, sent.length]).toEqual([5, undefined, 6]);
});

it.each([{ name: 'other' }, { isCopy: true }, { name: 'other', fates: ['fails after it'] as const }])(
  'counts what %o was sent since a file was started over, and nothing before',
  async ({ fates = [], ...other }) => {
    ticking();
    const { upload } = world();
    const stored: string[] = [];
    await upload(storing(stored, []).service, ['a', 'c'], { name: 'before' });
    await upload(storing(stored, ['rejects the first', 'limits']).service, ['a', 'b', 'c'], { isNew: true });
    await upload(storing(stored, fates).service, ['a'], { ...other, isNew: true });
    expect(stored).toEqual(['a', 'c', 'b', 'a']);
    const { service, sent } = storing(stored, []);
    const { state } = await upload(service, ['a', 'b', 'c']);
    expect(sent).toEqual([['c']]);
    const isUnknown = fates.length > 0;
    expect(state).toMatchObject({
      counts: { stored: isUnknown ? 2 : 3, unknown: Number(isUnknown) },
      sentBefore: { count: isUnknown ? 1 : 2 },
    });
  },
);

it('sends nothing again, and says so, if the agent is named differently, whoever lists it', async () => {
  const { upload } = world();
  const { service, sent } = storing([], ['stores', 'fails after it']);
  const [listed, refused] = [
    withAnswers(service, { listAgents: () => ({ items: [{ agent_id: 'agent_9', name: 'carol' }] }) }),
    withAnswers(service, {
      listAgents: () => {
        throw new PermissionError('No.', { status: 403 });
      },
    }),
  ];
  await upload(refused, ['a', 'b', 'c', 'd'], { agent: 'carol' });
  for (const each of [listed, refused]) {
    const { state } = await upload(each, ['a', 'b', 'c', 'd'], { agent: 'carol' });
    expect([state.counts, state.sentBefore]).toMatchObject([
      { stored: 2, unknown: 2 },
      { count: 2, others: {} },
    ]);
    for (const agent of ['agent_9', 'name:carol', undefined]) {
      const other = await upload(each, ['a', 'b', 'c', 'd'], { agent });
      expect(other.outcome).toBe('is done: 0 stored, 0 skipped, 0 failed, 2 unknown, 2 sent before for another agent');
      expect(other.outcomes[0]?.message).toBe(
        'It may have been stored: an earlier request with it was not answered (sent for another agent).',
      );
    }
  }
  expect(sent).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  await upload(listed, ['a'], { agent: 'agent_9', isNew: true });
  expect(sent).toHaveLength(3);
});

it('keeps the order of writes, whatever the clock says', async () => {
  const clock = vi.spyOn(Date, 'now');
  onTestFinished(() => clock.mockRestore());
  const { upload } = world();
  const [stored, day] = [[] as string[], 24 * 60 * 60_000];
  clock.mockReturnValue(200 * day);
  await upload(storing(stored, []).service, ['a', 'b', 'c']);
  clock.mockReturnValue(100 * day);
  await upload(storing(stored, ['stores', 'limits']).service, ['a', 'b', 'c'], { isNew: true });
  clock.mockReturnValue(99 * day);
  await upload(storing(stored, []).service, ['c'], { name: 'other', isNew: true });
  clock.mockReturnValue(400 * day);
  await upload(storing(stored, []).service, ['a', 'b', 'c', 'd']);
  expect(stored).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'd']);
});

it('counts for a file that was started over what another upload, started earlier, sends later', async () => {
  const { memory, folder, upload } = world();
  const { service, sent } = storing([], []);
  await upload(service, ['a', 'b', 'c', 'd']);
  const path = join(folder, 'file.jsonl');
  const forgetting = withAnswers(service, {
    uploadTrajectories: (input, options) => {
      if (sent.length === 3)
        memory.trajectoryUploads.of({ path, dataset: 'd', agent: undefined, account: '' }).startOver();
      return service.call('uploadTrajectories', input, options);
    },
  });
  await upload(forgetting, ['a', 'b', 'c', 'd'], { name: 'other', isNew: true });
  await upload(service, ['a', 'b', 'c', 'd']);
  expect(sent.slice(2).map(each => each.join(''))).toEqual(['ab', 'cd', 'ab']);
});

it('keeps no record of lines for a service that stores none twice', async () => {
  const { upload } = world();
  const { service, sent } = storing([], []);
  const skipping = { ...service, skipsStored: () => true };
  await upload(skipping, ['a']);
  expect((await upload(skipping, ['a'])).state.sentBefore).toBeUndefined();
  await upload(service, ['a']);
  expect(sent).toEqual([['a'], ['a'], ['a']]);
});

it('sends nothing that it cannot record, unless the user wants it or the service stores none twice', async () => {
  const full = new TrajectoryRecords(
    tablesInMemory('test', 'History is kept only while the program runs: no space left'),
  );
  const { upload } = world();
  const { service, sent } = storing([], []);
  const refused = await upload(service, ['a'], { records: full });
  expect(refused.state.error?.message).toMatch(/^Nothing was sent: .* no space left\. .*--new sends the whole file/);
  expect([refused.state.phase, sent]).toEqual(['failed', []]);
  const forced = await upload(service, ['a'], { records: full, isNew: true });
  expect([forced.state.phase, forced.unrecorded, sent]).toEqual(['done', expect.stringMatching('no space'), [['a']]]);
  const skipping = await upload({ ...service, skipsStored: () => true }, ['a'], { records: full });
  expect([skipping.state.phase, skipping.unrecorded]).toEqual(['done', undefined]);
});

it('stops before a request that the disk has no room to record, and sends the rest later', async () => {
  const { upload } = world();
  // It takes two in a request: one that is refused, then one of two, and one of the last.
  const { service, sent } = storing([], []);
  const { begin } = SentRecord.prototype;
  const spy = vi.spyOn(SentRecord.prototype, 'begin');
  onTestFinished(() => spy.mockRestore());
  spy.mockImplementation(function (this: SentRecord, ...request) {
    return spy.mock.calls.length < 3 && begin.apply(this, request);
  });
  const stopped = await upload(service, ['a', 'b', 'c']);
  expect([stopped.state.error?.message, sent]).toEqual([expect.stringMatching(/^No more was sent: /), [['a', 'b']]]);
  spy.mockRestore();
  await upload(service, ['a', 'b', 'c']);
  expect(sent).toEqual([['a', 'b'], ['c']]);
});

it('does not take an unreadable record as empty, or what it cannot settle as sent or new', async () => {
  const { folder, upload } = world();
  const tables = openTables(join(folder, 'remembered.db'), 'test');
  onTestFinished(() => tables.close());
  const records = new TrajectoryRecords(tables);
  const { service, sent } = storing([], []);
  tables.run("create trigger full before insert on sent_lines begin select raise(abort, 'no space left'); end");
  const unsettled = await upload(service, ['a', 'b', 'c'], { records });
  expect([unsettled.state.counts.stored, unsettled.state.error?.message]).toEqual([
    2,
    expect.stringMatching(/^No more was sent: .*no space left/),
  ]);
  tables.run('drop trigger full');
  expect((await upload(service, ['a', 'b', 'c'], { records })).state.counts).toMatchObject({ stored: 1, unknown: 2 });
  expect(sent).toEqual([['a', 'b'], ['c']]);
  tables.run('alter table sent_lines rename to away');
  const refused = await upload(service, ['a', 'd'], { records });
  expect(refused.state.error?.message).toMatch(/^No more was sent: .*cannot be read/);
  expect(sent).toHaveLength(2);
});

it('sends nothing while the record of sent lines may be in a damaged file, unless the user wants it', async () => {
  const { folder, upload } = world();
  const path = join(folder, 'remembered.db');
  writeFileSync(path, 'no database any more, and long enough to be looked at as one');
  const tables = openTables(path, 'test');
  onTestFinished(() => tables.close());
  const records = new TrajectoryRecords(tables);
  const { service, sent } = storing([], []);
  const refused = await upload(service, ['a'], { records });
  expect(refused.state.error?.message).toMatch(/^Nothing was sent: .*broken-.*--new sends the whole file\.$/);
  expect(sent).toEqual([]);
  const forced = await upload(service, ['a'], { records, isNew: true });
  expect([forced.state.phase, forced.unrecorded, sent]).toEqual(['done', undefined, [['a']]]);
  expect((await upload(service, ['a', 'b'], { records })).state.phase).toBe('failed');
  for (const name of readdirSync(folder)) if (name.includes('broken-')) rmSync(join(folder, name));
  await upload(service, ['a', 'b'], { records });
  expect(sent).toEqual([['a'], ['b']]);
});

it('serialises the body of a request only to send it, and keeps its hash', async () => {
  const { folder, upload } = world();
  const tables = openTables(join(folder, 'remembered.db'), 'test');
  onTestFinished(() => tables.close());
  const { service } = storing([], ['loses']);
  const stringify = vi.spyOn(JSON, 'stringify');
  onTestFinished(() => stringify.mockRestore());
  await upload(service, ['a', 'a'], { records: new TrajectoryRecords(tables) });
  const whole = stringify.mock.results.filter(({ value }) => String(value).split('"messages"').length > 2);
  expect(whole).toEqual([]);
  const trajectories = ['a', 'a'].map(content => JSON.parse(lineOf(content)));
  const sent = { batch: { dataset: 'd', trajectories }, headers: { [occurrencesHeader]: '1,2' } };
  const [row] = tables.all('select body from sent_requests');
  expect(row?.['body']).toBe(createHash('sha256').update(JSON.stringify(sent)).digest('base64url'));
});
