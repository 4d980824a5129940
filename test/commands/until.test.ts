/** When an evaluation counts as ended by its rewards. */
import { expect, it, vi } from 'vitest';
import { parseUntil, type RewardsRead, readRewards, UntilJudge } from '../../src/commands/until.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { notFound, scriptedService } from '../queries/scripted-service.ts';
import { startVirtualTime } from '../ui/program/virtual-time.ts';

const read = (graded: number, state = `${graded}`): RewardsRead => ({ graded, mean: undefined, state });

it('is quiet if it has a reward and nothing new has come for long enough (C2)', () => {
  startVirtualTime();
  const start = performance.now();
  const judge = new UntilJudge(parseUntil('quiet=60s'));
  const at = (ms: number, rewards: RewardsRead): boolean => {
    vi.advanceTimersByTime(start + ms - performance.now());
    return judge.isMet(rewards);
  };
  // Without a reward it may not have begun.
  expect([at(0, read(0)), at(120_000, read(0))]).toEqual([false, false]);
  expect([at(130_000, read(1)), at(189_999, read(1)), at(190_000, read(1))]).toEqual([false, false, true]);
  // A new snapshot of the statistics is news.
  expect([at(200_000, read(1, 'new')), at(259_999, read(1, 'new')), at(260_000, read(1, 'new'))]).toEqual([
    false,
    false,
    true,
  ]);
});

it('gets news of a run from a rollout, a reward, and a snapshot of its statistics', async () => {
  const row = (id: number, reward: number | null) => ({ trajectory_id: `traj_${id}`, task_id: 'one', reward });
  const readOf = async (rows: readonly object[], snapshots: number | undefined): Promise<RewardsRead> => {
    const { service } = scriptedService({
      getTrajectoryRewards: () => ({ trajectory_rewards: rows }),
      getRolloutStatistics: () =>
        snapshots === undefined ? notFound('evr_1') : { snapshots: Array.from({ length: snapshots }, () => ({})) },
    });
    const memory = RememberedStore.inMemory('test');
    return readRewards('evr_1', { service, memory, signal: new AbortController().signal });
  };
  const graded = [row(1, 0.25), row(2, 0.75)];
  const base = await readOf(graded, 1);
  expect(base).toMatchObject({ graded: 2, mean: 0.5 });
  expect((await readOf(graded, 1)).state).toBe(base.state);
  for (const other of [
    await readOf([...graded, row(3, null)], 1),
    await readOf([...graded, row(3, 0.5)], 1),
    await readOf(graded, 2),
    await readOf(graded, undefined),
  ])
    expect(other.state).not.toBe(base.state);
});

it('ends at the requested number of rewards (C2)', () => {
  const judge = new UntilJudge(parseUntil('rewards=3'));
  expect([2, 3, 4].map(graded => judge.isMet(read(graded)))).toEqual([false, true, true]);
});

it.each([
  ['quiet=90', 90_000],
  ['quiet=5m', 300_000],
  ['quiet=1h', 3_600_000],
])('reads %s', (words, quietMs) => {
  expect(parseUntil(words)).toEqual({ words, quietMs });
});
