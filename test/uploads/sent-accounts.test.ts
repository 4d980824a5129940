/** The record of sent lines per account: nothing is sent twice unless asked, in any order and at any time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { NetworkError, PermissionError, RateLimitError, ValidationError } from '../../src/service/errors.ts';
import { connectInMemory } from '../../src/store/database.ts';
import { type Other, SentRecord } from '../../src/store/sent-record.ts';
import { Tables } from '../../src/store/tables.ts';
import { TrajectoryRecords } from '../../src/store/trajectory-records.ts';
import type { Outcome } from '../../src/uploads/trajectory-outcomes.ts';
import { TrajectoryUpload } from '../../src/uploads/trajectory-upload.ts';
import { countsOfRun, describeRunCounts } from '../../src/uploads/trajectory-upload-state.ts';
import fc from '../../tools/rig/property.ts';
import { fakeService } from '../service/fake-service.ts';

/** How the service handles a request. */
type Fate =
  | 'stores'
  | 'loses the answer'
  | 'loses the request'
  | 'limits'
  | 'forbids'
  | 'rejects the first'
  | 'rejects the first, loses the answer';

const accounts = ['A', 'B'] as const;
/** All but the first are names of one agent. */
const agents = [undefined, 'name:alice', 'alice', 'agent_1'] as const;
const names = ['f', 'g'] as const;

/** The items of one fresh start of a file, by one account for one agent. */
interface Source {
  readonly account: (typeof accounts)[number];
  readonly agent?: (typeof agents)[number];
  readonly name?: (typeof names)[number];
}

interface Send extends Source {
  readonly fates?: readonly Fate[];
  readonly isNew?: boolean;
  readonly resendUnknown?: boolean;
  /** Whether the lines are in the other order. */
  readonly isReversed?: boolean;
  /** Whether the fields of each line are in the other order. */
  readonly isRewritten?: boolean;
  /** Whether the service lists the agent. */
  readonly listsAgents?: boolean;
  /** Called before the first request is handled. */
  readonly during?: () => Promise<void>;
}

/** The items that one account sent for an agent of this name. */
class Owner {
  readonly held: string[] = [];
  /** Sent without an answer, and not stored. */
  readonly lost: string[] = [];
}

const countOf = (all: readonly string[], content: string): number => all.filter(each => each === content).length;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

// An upload that waits for another one looks again at once.
vi.mock('node:timers/promises', () => ({ setTimeout: () => new Promise(setImmediate) }));

/** A service of several accounts, which takes two trajectories in a request, and a program that uploads to it. */
function world({ honoursKeys = false, skips = false, isTraced = false } = {}) {
  const traced = skips || isTraced;
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-accounts-'));
  const database = connectInMemory();
  const tables = new Tables(database, 'test', { busyMs: 0, path: join(folder, 'for locks') });
  const records = new TrajectoryRecords(tables);
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const owners = new Map<string, Owner>();
  const ownerOf = ({ account, agent }: Source): Owner => {
    const name = `${account} ${agent}`;
    const owner = owners.get(name) ?? new Owner();
    owners.set(name, owner);
    return owner;
  };
  /** The requests that were not refused, by their keys. */
  const requests = new Map<
    string,
    Pick<Owner, 'lost'> & { owner: Owner; body: string; stored: readonly string[]; answer?: object }
  >();
  /** The items that were stored and answered. */
  const answered: string[] = [];
  const learned: boolean[] = [];
  const pathOf = ({ name = 'f' }: Source): string => join(folder, `${name}.jsonl`);
  const uploadOf = ({ account, agent }: Source) => ({ dataset: 'd', agent, account });
  const recordOf = (source: Source) => records.of({ path: pathOf(source), ...uploadOf(source) });

  /** Starts an upload of a file with these contents. */
  const start = (
    contents: readonly string[],
    { fates = [], during, listsAgents = false, isRewritten = false, ...of }: Send,
  ) => {
    const { account, agent, name: _, ...how } = of;
    const owner = ownerOf(of);
    const left = [...fates];
    const fresh: string[] = [];
    let event = during;
    const store = (got: readonly string[], isRejected: boolean): object => {
      const statuses = got.map((content, at) => {
        if (isRejected && at === 0) return 'error';
        if (skips && owner.held.includes(content)) return 'skipped';
        owner.held.push(content);
        return 'uploaded';
      });
      return { trajectories: statuses.map((status, request_index) => ({ status, request_index })) };
    };
    const service = fakeService(
      {
        listAgents: () => {
          if (!listsAgents) throw new PermissionError('No.', { status: 403 });
          return { items: [{ agent_id: 'agent_1', name: 'alice' }] };
        },
        uploadTrajectories: async ({ body }, { idempotencyKey: key = '' }) => {
          const got = body.trajectories.map(({ messages }) => (messages as { content: string }[])[0]?.content ?? '');
          if (got.length > 2) throw new ValidationError('Too large.', { status: 413 });
          const happens = event;
          event = undefined;
          await happens?.();
          const earlier = requests.get(key);
          // A key belongs to one account, one agent and one body.
          if (earlier) expect([earlier.owner, earlier.body]).toEqual([owner, JSON.stringify(body)]);
          else fresh.push(...got);
          for (const each of earlier?.lost.splice(0) ?? []) owner.lost.splice(owner.lost.indexOf(each), 1);
          if (honoursKeys && earlier?.answer) {
            answered.push(...earlier.stored);
            return earlier.answer;
          }
          const fate = left.shift() ?? 'stores';
          if (fate === 'limits') throw new RateLimitError('Slow down.', { status: 429 });
          if (fate === 'forbids') throw new PermissionError('No.', { status: 403 });
          const before = owner.held.length;
          const answer = fate === 'loses the request' ? undefined : store(got, fate.startsWith('rejects'));
          const lost = answer ? got.slice(0, Number(fate === 'rejects the first, loses the answer')) : got;
          owner.lost.push(...lost);
          const stored = owner.held.slice(before);
          requests.set(key, { owner, body: JSON.stringify(body), lost: [...lost], stored, ...(answer && { answer }) });
          if (fate.includes('loses')) throw new NetworkError('The line is cut.', { outcomeUnknown: true });
          answered.push(...stored);
          return answer;
        },
      },
      {
        ...{ honoursKeys, agent, accountOf: async () => account },
        skipsStored: areTraced => skips && areTraced,
        learnSkipping: does => learned.push(does),
      },
    );
    const trace = (content: string) => (traced ? { trace_id: content } : {});
    const lines = contents.map(content => ({
      messages: [isRewritten ? { content, role: 'user' } : { role: 'user', content }],
      ...trace(content),
    }));
    writeFileSync(pathOf(of), lines.map(each => JSON.stringify(each)).join('\n'));
    const upload = new TrajectoryUpload('job', pathOf(of), 'd', { records, ...how });
    return { upload, fresh, run: upload.run(async () => service) };
  };
  const send = async (contents: readonly string[], how: Send) => {
    const { upload, fresh, run } = start(contents, how);
    await run;
    return { fresh, words: describeRunCounts(upload.state).join(', ') };
  };
  /** Forgets all that may be forgotten. */
  const prune = (): void => new SentRecord(tables, { path: '', ...uploadOf({ account: 'A' }) }, () => {}, 0).prune();
  return { owners, ownerOf, learned, answered, recordOf, prune, start, send };
}

const fate = fc.constantFrom<Fate>(
  ...(['stores', 'stores', 'loses the answer', 'loses the request', 'limits', 'forbids', 'rejects the first'] as const),
  'rejects the first, loses the answer',
);
const source = {
  account: fc.constantFrom('A', ...accounts),
  agent: fc.constantFrom(undefined, undefined, ...agents),
  name: fc.constantFrom(...names),
};
const sending = fc.record({
  ...source,
  fates: fc.array(fate, { maxLength: 3 }),
  isNew: fc.constantFrom(false, false, false, true),
  resendUnknown: fc.constantFrom(false, false, false, true),
  listsAgents: fc.boolean(),
  isReversed: fc.boolean(),
  isRewritten: fc.constantFrom(false, false, true),
});
const day = 24 * 60 * 60_000;
const event = fc.oneof(
  /** The forgotten items differ from the sent ones in these. */
  fc.record({ what: fc.constant('forgets' as const), of: fc.record(source, { requiredKeys: ['name'] }) }),
  fc.record({ what: fc.constant('jumps' as const), by: fc.constantFrom(-200 * day, -1, 1, 200 * day) }),
  fc.record({ what: fc.constant('prunes' as const) }),
  fc.record({ what: fc.constant('sends too' as const), other: sending }),
);
const step = fc.record({ how: sending, before: fc.option(event), during: fc.option(event) });
const file = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 5 });
const steps = fc.array(step, { minLength: 2, maxLength: 6 });

/**
 * How often each content may have been sent: the most that it stands in a file that was sent, and again for each start
 * over, and whenever the unknown ones were sent again.
 */
class Allowed {
  readonly #most = [new Map<string, number>()];
  readonly #startsOver = new Map<string, number>();

  startOver(of: Source): void {
    this.#startsOver.set(this.#key(of), this.#most.push(new Map()) - 1);
  }

  add(lines: readonly string[], of: Source, isStartedOver: boolean): void {
    const most = this.#most[isStartedOver ? (this.#startsOver.get(this.#key(of)) ?? 0) : 0];
    for (const each of lines) most?.set(each, Math.max(most.get(each) ?? 0, countOf(lines, each)));
  }

  addAgain(lines: readonly string[]): void {
    this.#most.push(new Map(lines.map(each => [each, countOf(lines, each)])));
  }

  of(content: string): number {
    return sum(this.#most.map(most => most.get(content) ?? 0));
  }

  readonly #key = ({ account, agent, name }: Source): string => `${account} ${agent} ${name}`;
}

it('stores nothing twice unless it is started over, and never reports unsent lines as sent, for any account', async () => {
  const told = { 'for another agent': 0, 'with another API key': 0, queued: 0 };
  let shift = 0;
  const now = Date.now.bind(Date);
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + shift);
  onTestFinished(() => clock.mockRestore());
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.boolean(), file, file, steps, async (honoursKeys, skips, f, g, all) => {
      const { owners, ownerOf, answered, recordOf, prune, start } = world({ honoursKeys, skips });
      const allowed = new Allowed();
      const contents = [...new Set([...f, ...g])];
      const linesOf = ({ name, isReversed = false }: Send): readonly string[] => {
        const lines = name === 'g' ? g : f;
        return isReversed ? lines.toReversed() : lines;
      };
      const tried = ({ held, lost }: Owner): readonly string[] => [...held, ...(skips ? [] : lost)];
      /** The items that others have now. */
      const ofOthers = ({ account, agent }: Source): Readonly<Record<Other, readonly string[]>> => {
        const all = [...owners].map(([name, { held }]) => ({ name, held: [...held] }));
        const heldBy = (isOne: (name: string) => boolean) => all.flatMap(({ name, held }) => (isOne(name) ? held : []));
        return {
          'for another agent': heldBy(name => name.startsWith(account) && name !== `${account} ${agent}`),
          'with another API key': heldBy(name => !name.startsWith(account)),
        };
      };
      const begin = (how: Send): void => {
        if (how.isNew) allowed.startOver(how);
        allowed.add(linesOf(how), how, how.isNew === true || recordOf(how).isStartedOver);
        if (how.resendUnknown) allowed.addAgain(linesOf(how));
      };
      const check = ({ state, outcomes }: TrajectoryUpload, how: Send, had: ReturnType<typeof ofOthers>): void => {
        const [lines, owner] = [linesOf(how), ownerOf(how)];
        for (const each of contents)
          expect(sum([...owners.values()].map(any => countOf(tried(any), each)))).toBeLessThanOrEqual(allowed.of(each));
        if (state.phase !== 'done') return;
        const { counts, before, others } = countsOfRun(state);
        for (const [how, count] of Object.entries(others) as [Other, number][]) {
          told[how] += count;
          expect(count).toBeLessThanOrEqual(lines.filter(each => had[how].includes(each)).length);
        }
        expect(sum([...Object.values(counts), before, ...Object.values(others)])).toBe(lines.length);
        const held = contents.map(each => {
          const [count, there] = [countOf(lines, each), countOf(owner.held, each)];
          return skips && there > 0 ? count : Math.min(count, there);
        });
        expect(before + counts.stored + counts.skipped).toBeLessThanOrEqual(sum(held));
        const isOpen = ({ failed, status }: Outcome): boolean => failed || status === 'unknown';
        expect(lines.length - sum(held)).toBeLessThanOrEqual(
          sum(Object.values(others)) + outcomes.filter(isOpen).length,
        );
      };
      const forget = (of: Source, running?: Send): void => {
        recordOf(of).startOver();
        allowed.startOver(of);
        if (running) allowed.add(linesOf(running), running, recordOf(running).isStartedOver);
      };
      const forgetKnown = (): void => {
        prune();
        allowed.addAgain(answered);
      };
      for (const { how, before, during } of all) {
        if (before?.what === 'prunes') forgetKnown();
        if (before?.what === 'jumps') shift += before.by;
        if (before?.what === 'forgets') forget({ ...how, ...before.of });
        let second: ReturnType<typeof start> | undefined;
        const happens = async (): Promise<void> => {
          if (during?.what === 'jumps') shift += during.by;
          if (during?.what === 'forgets') forget({ ...how, ...during.of }, how);
          if (during?.what === 'prunes') forgetKnown();
          if (during?.what !== 'sends too') return;
          second = start(linesOf(during.other), during.other);
          while (second.upload.state.phase !== 'queued') await new Promise(setImmediate);
          told.queued += 1;
        };
        begin(how);
        const had = ofOthers(how);
        const first = start(linesOf(how), { ...how, during: happens });
        await first.run;
        check(first.upload, how, had);
        if (!second || during?.what !== 'sends too') continue;
        begin(during.other);
        const hadSecond = ofOthers(during.other);
        await second.run;
        check(second.upload, during.other, hadSecond);
      }
    }),
    { numRuns: 500 },
  );
  for (const count of Object.values(told)) expect(count).toBeGreaterThan(50);
});

/** Sent in four requests. */
const eight = [...'abcdefgh'];
const [whole, beforeText] = ['8 stored, 0 skipped, 0 failed', '0 stored, 0 skipped, 0 failed, 8 sent before'];

it.each([
  ['has a line rejected', ['rejects the first']],
  ['has a request forbidden', ['stores', 'forbids']],
  ['is cut', ['stores', 'loses the answer']],
] as const)('sends nothing again to the account that has a file if --new with another key %s', async (_, fates) => {
  const { send } = world();
  expect((await send(eight, { account: 'A' })).words).toBe(whole);
  expect((await send(eight, { account: 'B' })).words).toBe(`${beforeText} with another API key`);
  await send(eight, { account: 'B', isNew: true, fates });
  expect((await send(eight, { account: 'A' })).words).toBe(beforeText);
});

it('separates what is sent without and with an agent: neither settles the other, or starts it over', async () => {
  const { send } = world();
  const [none, alice] = [{ account: 'A' }, { account: 'A', agent: 'name:alice' }] as const;
  await send(eight, { ...none, fates: ['stores', 'loses the answer'] });
  const { words, fresh } = await send(eight, alice);
  expect([words, fresh.join('')]).toEqual([
    '4 stored, 0 skipped, 0 failed, 2 unknown, 2 sent before for another agent',
    'efgh',
  ]);
  await send(eight, { ...alice, isNew: true, fates: ['forbids'] });
  expect((await send(eight, none)).words).toBe(
    '0 stored, 0 skipped, 0 failed, 2 unknown, 2 sent before, 4 sent before for another agent',
  );
  expect((await send(eight, alice)).words).toBe('2 stored, 0 skipped, 0 failed, 6 sent before');
  await send(eight, { ...none, isNew: true, fates: ['forbids'] });
  expect((await send(eight, alice)).words).toBe(beforeText);
  await send(eight, { account: 'B', agent: 'name:alice', isNew: true });
  expect((await send(eight, { ...alice, account: 'B' })).words).toBe(beforeText);
});

it.each([
  ['where the service stores it twice', {}, '0 stored, 0 skipped, 0 failed, 2 unknown'],
  ['where it honours keys', { honoursKeys: true }, '2 stored, 0 skipped, 0 failed'],
  ['where it skips what has a known trace id', { skips: true }, '0 stored, 2 skipped, 0 failed'],
])('sends nothing with an unknown outcome to another account %s, unless the user wants it', async (_, how, own) => {
  const { send, ownerOf } = world(how);
  await send(eight, { account: 'A', fates: ['stores', 'loses the answer'] });
  const other = await send(eight, { account: 'B' });
  expect(other.words).toBe('4 stored, 0 skipped, 0 failed, 2 unknown, 2 sent before with another API key');
  expect(other.fresh.join('')).toBe('efgh');
  await send(eight, { account: 'B', resendUnknown: true });
  expect(ownerOf({ account: 'B' }).held.join('')).toBe('efghcd');
  // For the first one it is as it was.
  const { words } = await send(eight, { account: 'A' });
  expect(words).toBe(`${own}, 2 sent before, 4 sent before with another API key`);
});

it.each([
  ['its lines are in another order', ['b', 'a'], {}],
  ['its fields are', ['a', 'b'], { isRewritten: true }],
  ['the service lists the agent now', ['a', 'b'], { listsAgents: true }],
])('repeats no request with its key if %s: the answer belongs to another body', async (_, lines, how) => {
  const { ownerOf, send } = world({ honoursKeys: true });
  const alice = { account: 'A', agent: 'alice' } as const;
  await send(['a', 'b'], { ...alice, fates: ['rejects the first, loses the answer'] });
  expect((await send(lines, { ...alice, ...how })).words).toBe('0 stored, 0 skipped, 0 failed, 2 unknown');
  const { words } = await send(lines, { ...alice, ...how, resendUnknown: true });
  expect([words, ownerOf(alice).held.join('')]).toEqual(['2 stored, 0 skipped, 0 failed', `b${lines.join('')}`]);
});

it('keeps an unknown outcome unknown when the service rejects the trajectory the second time', async () => {
  const { send } = world({ skips: true });
  await send(['a', 'b'], { account: 'A', fates: ['loses the answer'] });
  const { words } = await send(['a', 'b'], { account: 'A', fates: ['rejects the first'] });
  expect(words).toBe('0 stored, 1 skipped, 0 failed, 1 unknown');
  const other = await send(['a', 'b'], { account: 'B' });
  expect([other.words, other.fresh]).toEqual([
    '0 stored, 0 skipped, 0 failed, 1 unknown, 1 sent before with another API key',
    [],
  ]);
});

it('repeats no request with a key that the service may have forgotten', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { send } = world({ honoursKeys: true });
  await send(['a', 'b'], { account: 'A', fates: ['loses the answer'] });
  vi.setSystemTime(Date.now() + day);
  expect((await send(['a', 'b'], { account: 'A' })).words).toBe('0 stored, 0 skipped, 0 failed, 2 unknown');
});

it('learns nothing about trace ids on the service from the fact that another account has one', async () => {
  const { send, learned } = world({ isTraced: true });
  await send(eight, { account: 'A' });
  await send(eight, { account: 'B', isNew: true });
  expect(learned).toEqual([]);
  await send(['a'], { account: 'B', isNew: true });
  expect(learned).toEqual([false]);
});
