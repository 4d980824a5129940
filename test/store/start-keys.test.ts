/** The idempotency keys of starts with an unknown outcome, across restarts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { groupOf, honouredMs, type TogetherStart } from '../../src/store/start-keys.ts';
import { RememberedStore } from '../../src/store/store.ts';
import type { Scope } from '../../src/store/tables.ts';
import { testFolder } from '../commands/cli.ts';

const run = { bench_id: 'b1', model: 'acme/small', display_name: 'nightly', options: { num_steps: 2, seed: 1 } };
const dayMs = 24 * 60 * 60_000;

function program(folder: string, scope: Scope | string = 'prod') {
  const store = RememberedStore.open(join(folder, 'state.db'), scope);
  return { keys: store.startKeys, store, close: () => store.close() };
}

it('keep a key by service, under any profile name (A8)', () => {
  const folder = testFolder();
  const named = (name: string) => program(folder, { profile: `${name} https://one`, service: 'https://one' });
  const prod = named('prod');
  const key = prod.keys.take('startEval', run);
  prod.keys.settle('startEval', run, key, 'unknown');
  prod.close();
  const renamed = named('production');
  expect(renamed.keys.earlier('startEval', run)?.key).toBe(key);
  renamed.close();
});

it('keep the key of a lost start until its outcome is known', () => {
  const folder = testFolder();
  const first = program(folder);
  const key = first.keys.take('startEval', run);
  first.keys.settle('startEval', run, key, 'unknown');
  first.close();

  const second = program(folder);
  const { options, ...rest } = run;
  expect(second.keys.take('startEval', { options: { seed: 1, num_steps: 2 }, ...rest })).toBe(key);
  expect(second.keys.take('startTraining', run)).not.toBe(key);
  expect(second.keys.take('startEval', { ...run, display_name: 'other' })).not.toBe(key);
  // It says nothing about the first attempt.
  second.keys.settle('startEval', run, key, 'refused');
  expect(program(folder, 'elsewhere').keys.earlier('startEval', run)).toBeUndefined();
  second.close();

  const third = program(folder);
  expect(third.keys.take('startEval', run)).toBe(key);
  third.keys.settle('startEval', run, key, 'started');
  expect(third.keys.take('startEval', run)).not.toBe(key);
  third.close();
});

it('keep the key of a program that was killed while it sent', () => {
  const folder = testFolder();
  const key = program(folder).keys.take('startEval', run);
  const later = program(folder);
  expect(later.keys.take('startEval', run)).toBe(key);
  later.keys.settle('startEval', run, key, 'refused');
  expect(later.keys.earlier('startEval', run)?.key).toBe(key);
});

it('delete the key of a start that was refused', () => {
  const folder = testFolder();
  const { keys } = program(folder);
  keys.settle('startEval', run, keys.take('startEval', run), 'refused');
  expect(program(folder).keys.earlier('startEval', run)).toBeUndefined();
});

it('do not take a key that another running program is sending', async () => {
  const folder = testFolder();
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const key = program(folder).keys.take('startEval', run);
  const database = new DatabaseSync(join(folder, 'state.db'));
  database.prepare('update starts set pid = ?').run(other.pid ?? 0);
  database.close();
  const late = 11 * 60_000;
  expect(program(folder).keys.earlier('startEval', run)).toBeUndefined();
  // Another process may have its pid now.
  expect(program(folder).keys.earlier('startEval', run, Date.now() + late)?.key).toBe(key);
  other.stdin?.end();
  await once(other, 'exit');
  expect(program(folder).keys.earlier('startEval', run)?.key).toBe(key);
});

it('say that a key is too old, and do not send it again', () => {
  const folder = testFolder();
  const now = Date.now();
  const first = program(folder);
  const key = first.keys.take('startEval', run, undefined, now - dayMs);
  first.keys.settle('startEval', run, key, 'unknown');
  expect(first.keys.earlier('startEval', run, now - 1)).toEqual({ key, sentAt: now - dayMs, isExpired: false });
  expect(first.keys.earlier('startEval', run, now)).toEqual({ key, sentAt: now - dayMs, isExpired: true });
  const fresh = first.keys.take('startEval', run, undefined, now);
  expect(fresh).not.toBe(key);
  first.keys.settle('startEval', run, fresh, 'started');
  expect(first.keys.earlier('startEval', run, now)).toBeUndefined();
});

it('send the key from the user, and remember it', () => {
  const { keys } = program(testFolder());
  keys.settle('startEval', run, keys.take('startEval', run), 'unknown');
  expect(keys.take('startEval', run, 'mine')).toBe('mine');
  keys.settle('startEval', run, 'mine', 'unknown');
  expect(keys.take('startEval', run)).toBe('mine');
});

it.each([
  { file: 'written', isHeld: false },
  { file: 'in memory, where the file cannot be written', isHeld: true },
])(
  'keep an open key that is $file, while another key of the user is sent and afterwards (issue 16, 5)',
  ({ isHeld }) => {
    const folder = testFolder();
    const { keys } = program(folder);
    const blocker = new DatabaseSync(join(folder, 'state.db'));
    if (isHeld) blocker.exec('begin immediate');
    const open = keys.take('startEval', run);
    keys.settle('startEval', run, open, 'unknown');
    expect(keys.take('startEval', run, 'mine')).toBe('mine');
    keys.settle('startEval', run, 'mine', 'unknown');
    expect(keys.take('startEval', run, 'third')).toBe('third');
    // A refusal says nothing about the first attempt with this key, even after later ones.
    expect(keys.take('startEval', run, 'mine')).toBe('mine');
    keys.settle('startEval', run, 'mine', 'refused');
    keys.settle('startEval', run, 'third', 'started');
    expect(keys.earlier('startEval', run)?.key).toBe('mine');
    keys.settle('startEval', run, 'mine', 'started');
    expect(keys.earlier('startEval', run)?.key).toBe(open);
    expect(keys.openNames('startEval', run)).toEqual(['nightly']);
    keys.settle('startEval', run, open, 'started');
    expect(keys.earlier('startEval', run)).toBeUndefined();
    blocker.close();
  },
);

it('keep keys in memory while the file is unwritable, and never take a settled one', () => {
  const folder = testFolder();
  const { keys } = program(folder);
  const written = keys.take('startEval', run);
  keys.settle('startEval', run, written, 'unknown');
  const blocker = new DatabaseSync(join(folder, 'state.db'));
  blocker.exec('begin immediate');
  const other = { ...run, display_name: 'other' };
  const key = keys.take('startEval', other);
  keys.settle('startEval', other, key, 'unknown');
  expect(keys.take('startEval', other)).toBe(key);
  expect(keys.openNames('startEval', { ...run, display_name: undefined })).toEqual(['other', 'nightly']);
  expect(keys.openNames('startTraining', run)).toEqual([]);
  keys.settle('startEval', run, written, 'started');
  expect(keys.take('startEval', run)).not.toBe(written);
  blocker.exec('rollback');
  blocker.close();
});

it('keep what several starts have started, even while the file is unwritable', () => {
  const folder = testFolder();
  const { keys } = program(folder);
  const other = { ...run, bench_id: 'b2' };
  const [one, two] = [[{ input: run }], [{ input: other, chosen: 'mine' }]] as const;
  const idOf = (start: TogetherStart) => keys.startOf('startEval', start, groupOf([start]));
  keys.noteStart('startEval', run, 'key', 'evr_0');
  expect(idOf(one[0])).toBeUndefined();
  keys.awaitStarts('startEval', one);
  const locked = (): DatabaseSync => {
    const database = new DatabaseSync(join(folder, 'state.db'));
    database.exec('begin immediate');
    return database;
  };
  let blocker = locked();
  keys.awaitStarts('startEval', two);
  keys.noteStart('startEval', other, 'mine', 'evr_2');
  blocker.close();
  keys.noteStart('startEval', { ...run, display_name: 'nightly 2' }, 'key', 'evr_1');
  expect([idOf(one[0]), idOf(two[0])]).toEqual(['evr_1', 'evr_2']);
  expect(idOf({ input: run, chosen: 'mine' })).toBeUndefined();
  const later = [{ input: { ...run, bench_id: 'b3' } }] as const;
  keys.awaitStarts('startEval', later);
  blocker = locked();
  keys.noteStart('startEval', later[0].input, 'key', 'evr_3');
  blocker.close();
  expect(idOf(later[0])).toBe('evr_3');
  keys.forgetStarts('startEval', one);
  expect(idOf(one[0])).toBeUndefined();
});

it('keep what each group has started apart, and recognise it in another group for a day', () => {
  const { keys } = program(testFolder());
  const seed = (seed: number): TogetherStart => ({ input: { ...run, options: { seed } } });
  const [first, second] = [
    [seed(1), seed(2), seed(3)],
    [seed(4), seed(3)],
  ] as const;
  const startOf = (start: TogetherStart, of: readonly TogetherStart[], now = 1) =>
    keys.startOf('startEval', start, groupOf(of), now);
  keys.awaitStarts('startEval', first, 0);
  for (const at of [1, 3]) keys.noteStart('startEval', seed(at).input, 'key', `evr_${at}`, 0);
  keys.awaitStarts('startEval', second, 0);
  expect(startOf(seed(3), second)).toBe('evr_3');
  keys.noteStart('startEval', seed(4).input, 'key', 'evr_4', 0);
  keys.forgetStarts('startEval', second);
  expect(first.map(start => startOf(start, first.toReversed()))).toEqual(['evr_1', undefined, 'evr_3']);
  expect([startOf(seed(3), second, honouredMs + 1), startOf(seed(3), first, honouredMs + 1)]).toEqual([
    undefined,
    'evr_3',
  ]);
  // Once all have started, the same command means new ones a day after the start of each.
  keys.noteStart('startEval', seed(2).input, 'key', 'evr_2', honouredMs);
  expect([startOf(seed(3), first), startOf(seed(3), first, honouredMs + 1)]).toEqual(['evr_3', undefined]);
  expect([startOf(seed(2), first, 2 * honouredMs - 1), startOf(seed(2), first, 2 * honouredMs)]).toEqual([
    'evr_2',
    undefined,
  ]);
});

it('keep what has started with a key of the user, even once all have', () => {
  const { keys } = program(testFolder());
  const starts = [1, 2].map((seed): TogetherStart => ({ input: { ...run, options: { seed } }, chosen: 'mine' }));
  keys.awaitStarts('startEval', starts, 0);
  for (const [index, { input }] of starts.entries()) keys.noteStart('startEval', input, 'mine', `evr_${index}`, 0);
  const later = starts.map(start => keys.startOf('startEval', start, groupOf(starts), 2 * honouredMs));
  expect(later).toEqual(['evr_0', 'evr_1']);
});

it('know what has started under every name of the profile, until the service no longer has it (A8)', () => {
  const folder = testFolder();
  const named = (name: string) => program(folder, { profile: `${name} https://one`, service: 'https://one' });
  const starts = [1, 2].map((seed): TogetherStart => ({ input: { ...run, options: { seed } } }));
  const first = named('prod');
  first.keys.awaitStarts('startEval', starts);
  first.keys.noteStart('startEval', starts[0]?.input, 'key', 'evr_1');
  first.close();
  const { keys, store, close } = named('production');
  const started = () => starts.map(start => keys.startOf('startEval', start, groupOf(starts)));
  expect(started()).toEqual(['evr_1', undefined]);
  store.forget('run', 'evr_1');
  expect(started()).toEqual([undefined, undefined]);
  close();
});

it('keep the name of the first start with a key of the user, for a day', () => {
  const folder = testFolder();
  const { keys, close } = program(folder);
  keys.keepName('run', run, 'K1', 'words', 1_000);
  keys.keepName('run', run, 'K1', 'words 2', 2_000);
  keys.keepName('training', run, 'K1', 'trained', 1_000);
  close();
  const later = program(folder).keys;
  const names = (now: number) => ['run', 'training'].map(kind => later.nameOf(kind, run, 'K1', now));
  expect(names(1_000)).toEqual(['words', 'trained']);
  expect(names(1_000 + dayMs)).toEqual([undefined, undefined]);
  expect([
    later.nameOf('run', run, 'K2', 1_000),
    program(folder, 'elsewhere').keys.nameOf('run', run, 'K1', 1_000),
  ]).toEqual([...[undefined, undefined]]);
  later.keepName('run', run, 'K1', 'words 3', 1_000 + dayMs);
  expect(names(1_000 + dayMs)[0]).toBe('words 3');
});

it('delete an open key that the service may have forgotten, once the user sends another (attack30 B6)', () => {
  const { keys } = program(testFolder());
  const open = keys.take('logReward', run, undefined, 0);
  keys.settle('logReward', run, open, 'unknown');
  const earlier = (now: number) => keys.earlier('logReward', run, now)?.key;
  // A repeat with its own key says nothing about it yet.
  expect([keys.take('logReward', run, open, honouredMs + 1), earlier(honouredMs)]).toEqual([open, open]);
  keys.take('logReward', run, 'mine', honouredMs - 1);
  keys.settle('logReward', run, 'mine', 'started');
  expect(earlier(honouredMs)).toBe(open);
  keys.take('logReward', run, 'mine', honouredMs + 1);
  keys.settle('logReward', run, 'mine', 'started');
  expect(earlier(honouredMs)).toBeUndefined();
});
