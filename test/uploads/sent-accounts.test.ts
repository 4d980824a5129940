/** Each account and agent is sent a file once, whatever the others were sent, lost or sent again. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { NetworkError, PermissionError, RateLimitError, ValidationError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import type { Outcome } from '../../src/uploads/trajectory-outcomes.ts';
import { TrajectoryUpload } from '../../src/uploads/trajectory-upload.ts';
import { countsOfRun, runWords } from '../../src/uploads/trajectory-upload-state.ts';
import { fakeService } from '../service/fake-service.ts';

/** How the service handles a request. */
type Fate = 'stores' | 'loses the answer' | 'loses the request' | 'limits' | 'forbids' | 'rejects the first';

type Account = 'A' | 'B' | 'C';
type Agent = 'name:alice' | undefined;

interface Send {
  readonly account: Account;
  readonly agent?: Agent;
  readonly fates?: readonly Fate[];
  readonly isNew?: boolean;
  readonly resendUnknown?: boolean;
  readonly name?: string;
}

/** The trajectories of an agent in an account, and how they got there. */
class Owner {
  readonly held: string[] = [];
  /** Sent without an answer, and not stored. */
  readonly lost: string[] = [];
  /** Whether something was sent to it again because the user wanted it. */
  isForced = false;
  /** The most that it may have of each content. */
  readonly most = new Map<string, number>();
}

const countOf = (all: readonly string[], content: string): number => all.filter(each => each === content).length;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** A service of several accounts, which takes two trajectories in a request, and a program that uploads to it. */
function world({ honoursKeys = false, skips = false, isTraced = false } = {}) {
  const traced = skips || isTraced;
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-accounts-'));
  const memory = RememberedStore.inMemory('test');
  onTestFinished(() => {
    memory.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const owners = new Map<string, Owner>();
  const ownerOf = ({ account, agent }: Pick<Send, 'account' | 'agent'>): Owner => {
    const name = `${account} ${agent}`;
    const owner = owners.get(name) ?? new Owner();
    owners.set(name, owner);
    return owner;
  };
  /** The requests that were not refused, by their keys. */
  const requests = new Map<string, { readonly owner: Owner; readonly answer?: object }>();
  const learned: boolean[] = [];

  const send = async (contents: readonly string[], { account, agent, fates = [], name = 'f', ...options }: Send) => {
    const owner = ownerOf({ account, agent });
    const left = [...fates];
    const fresh: string[] = [];
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
        listAgents: () => ({ items: [] }),
        uploadTrajectories: ({ body }, { idempotencyKey: key = '' }) => {
          const got = body.trajectories.map(({ messages }) => (messages as { content: string }[])[0]?.content ?? '');
          if (got.length > 2) throw new ValidationError('Too large.', { status: 413 });
          const earlier = requests.get(key);
          // A key belongs to one account and one agent.
          if (earlier) expect(earlier.owner).toBe(owner);
          else fresh.push(...got);
          if (honoursKeys && earlier?.answer) return earlier.answer;
          const fate = left.shift() ?? 'stores';
          if (fate === 'limits') throw new RateLimitError('Slow down.', { status: 429 });
          if (fate === 'forbids') throw new PermissionError('No.', { status: 403 });
          if (earlier && !earlier.answer) for (const each of got) owner.lost.splice(owner.lost.indexOf(each), 1);
          const answer = fate === 'loses the request' ? undefined : store(got, fate === 'rejects the first');
          if (!answer) owner.lost.push(...got);
          requests.set(key, { owner, ...(answer && { answer }) });
          if (fate.startsWith('loses')) throw new NetworkError('The line is cut.', { outcomeUnknown: true });
          return answer;
        },
      },
      {
        ...{ honoursKeys, agent, accountOf: async () => account },
        skipsStored: areTraced => skips && areTraced,
        learnSkipping: does => learned.push(does),
      },
    );
    const path = join(folder, `${name}.jsonl`);
    const trace = (content: string) => (traced ? { trace_id: content } : {});
    const lines = contents.map(content => ({ messages: [{ role: 'user', content }], ...trace(content) }));
    writeFileSync(path, lines.map(each => JSON.stringify(each)).join('\n'));
    const upload = new TrajectoryUpload('job', path, 'd', { records: memory.trajectoryUploads, ...options });
    await upload.run(async () => service);
    return { upload, fresh, words: runWords(upload.state).join(', ') };
  };
  const others = (agent: Agent, owner: Owner): Owner[] =>
    [...owners].filter(([name, each]) => name.endsWith(` ${agent}`) && each !== owner).map(([, each]) => each);
  return { send, ownerOf, others, learned };
}

const fate = fc.constantFrom<Fate>(
  ...(['stores', 'stores', 'loses the answer', 'loses the request', 'limits', 'forbids', 'rejects the first'] as const),
);
const step = fc.record({
  account: fc.constantFrom<Account>('A', 'B'),
  agent: fc.constantFrom<Agent>(undefined, 'name:alice'),
  name: fc.constantFrom('f', 'f', 'g'),
  fates: fc.array(fate, { maxLength: 3 }),
  isNew: fc.constantFrom(false, false, false, true),
  resendUnknown: fc.constantFrom(false, false, false, true),
});
const file = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 5 });

it('sends a file to each account and agent once, and tells apart what another account was sent', async () => {
  let told = 0;
  const steps = fc.array(step, { minLength: 2, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.boolean(), file, file, steps, async (honoursKeys, f, g, sends) => {
      const { send, ownerOf, others } = world({ honoursKeys });
      for (const each of sends) {
        const { agent, name, isNew, resendUnknown } = each;
        const lines = name === 'f' ? f : g;
        const owner = ownerOf(each);
        if (isNew || resendUnknown) owner.isForced = true;
        const contents = [...new Set([...f, ...g])];
        for (const content of contents) {
          const [most, count] = [owner.most.get(content) ?? 0, countOf(lines, content)];
          owner.most.set(content, owner.isForced ? most + count : Math.max(most, count));
        }
        const before = new Map(others(agent, owner).map(other => [other, [...other.held, ...other.lost]]));
        const { upload, fresh } = await send(lines, each);
        const { state, outcomes } = upload;
        for (const content of contents)
          expect(countOf(owner.held, content)).toBeLessThanOrEqual(owner.most.get(content) ?? 0);
        if (!owner.isForced) {
          for (const [other, tried] of before) {
            if (other.isForced) continue;
            for (const content of contents) {
              const most = Math.max(0, countOf(lines, content) - countOf(tried, content));
              expect(countOf(fresh, content)).toBeLessThanOrEqual(most);
            }
          }
        }
        if (state.phase !== 'done') continue;
        const { counts, before: sentBefore, ofOtherKey } = countsOfRun(state);
        told += ofOtherKey;
        expect(sum([...Object.values(counts), sentBefore, ofOtherKey])).toBe(lines.length);
        if ([...before.values()].every(tried => tried.length === 0)) expect(ofOtherKey).toBe(0);
        const lacking = contents.map(content => {
          const isOpen = (outcome: Outcome): boolean =>
            lines[outcome.line - 1] === content && (outcome.failed || outcome.status === 'unknown');
          return Math.max(0, countOf(lines, content) - countOf(owner.held, content) - outcomes.filter(isOpen).length);
        });
        expect(sum(lacking)).toBeLessThanOrEqual(ofOtherKey);
        if (owner.isForced) continue;
        const tried = [...owner.held, ...owner.lost];
        const room = contents.map(content => Math.max(0, countOf(lines, content) - countOf(tried, content)));
        expect(ofOtherKey).toBeLessThanOrEqual(sum(room));
        const held = contents.map(content => Math.min(countOf(lines, content), countOf(owner.held, content)));
        expect(sentBefore + counts.stored + counts.skipped).toBeLessThanOrEqual(sum(held));
      }
    }),
    { numRuns: 500 },
  );
  expect(told).toBeGreaterThan(50);
});

/** Sent in four requests. */
const eight = [...'abcdefgh'];
const [whole, beforeWords] = ['8 stored, 0 skipped, 0 failed', '0 stored, 0 skipped, 0 failed, 8 sent before'];

it.each([
  ['has a line rejected', ['rejects the first']],
  ['has a request forbidden', ['stores', 'forbids']],
  ['is cut', ['stores', 'loses the answer']],
] as const)('sends nothing again to the account that has a file where --new with another key %s', async (_, fates) => {
  const { send } = world();
  expect((await send(eight, { account: 'A' })).words).toBe(whole);
  expect((await send(eight, { account: 'B' })).words).toBe(`${beforeWords} with another API key`);
  await send(eight, { account: 'B', isNew: true, fates });
  expect((await send(eight, { account: 'A' })).words).toBe(beforeWords);
});

it('keeps what is sent without an agent and for one apart: neither settles the other, nor starts it over', async () => {
  const { send } = world();
  const [none, alice] = [{ account: 'A' }, { account: 'A', agent: 'name:alice' }] as const;
  await send(eight, { ...none, fates: ['stores', 'loses the answer'] });
  expect((await send(eight, alice)).words).toBe(whole);
  await send(eight, { ...alice, isNew: true, fates: ['forbids'] });
  expect((await send(eight, none)).words).toBe('4 stored, 0 skipped, 0 failed, 2 unknown, 2 sent before');
  await send(eight, { ...none, isNew: true, fates: ['forbids'] });
  expect((await send(eight, alice)).words).toBe('2 stored, 0 skipped, 0 failed, 6 sent before');
});

it.each([
  ['where the service stores it twice', {}, '0 stored, 0 skipped, 0 failed, 2 unknown'],
  ['where it honours keys', { honoursKeys: true }, '2 stored, 0 skipped, 0 failed'],
  ['where it skips what has a known trace id', { skips: true }, '0 stored, 2 skipped, 0 failed'],
])('sends nothing of an unknown outcome to another account %s, unless the user wants it', async (_, how, own) => {
  const { send, ownerOf } = world(how);
  await send(eight, { account: 'A', fates: ['stores', 'loses the answer'] });
  const other = await send(eight, { account: 'B' });
  expect(other.words).toBe('4 stored, 0 skipped, 0 failed, 4 sent before with another API key');
  expect(other.fresh.join('')).toBe('efgh');
  await send(eight, { account: 'B', resendUnknown: true });
  expect(ownerOf({ account: 'B' }).held.join('')).toBe('efghcd');
  // For the first one it is as it was.
  const { words } = await send(eight, { account: 'A' });
  expect(words).toBe(`${own}, 2 sent before, 4 sent before with another API key`);
});

it('takes for no sign of what the service does with trace ids that another account has one', async () => {
  const { send, learned } = world({ isTraced: true });
  await send(eight, { account: 'A' });
  await send(eight, { account: 'B', isNew: true });
  expect(learned).toEqual([]);
  await send(['a'], { account: 'B', isNew: true });
  expect(learned).toEqual([false]);
});
