/** A first session: new home folder, no account, everything real. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshHome, openSession, run } from './session.ts';

let home: ReturnType<typeof freshHome>;
beforeAll(() => {
  home = freshHome();
});
afterAll(() => home.remove());

describe('a newcomer', () => {
  it('evaluates, reads the worst trajectory, chats, and leaves the terminal as it was', async () => {
    const session = openSession(home.env);
    for (const benchmark of ['▸ t-words', 'letter-words', 'small-sums', 'opposites']) await session.waitFor(benchmark);
    await session.waitFor('ready to launch');

    session.press('e');
    await session.waitFor('▸ Model');
    await session.waitFor('benchtop/aesop-small');
    session.press('enter');
    await session.waitFor('28 of 28 rollouts');
    await session.waitFor('✓ completed');
    await session.waitFor(/mean 0\.\d+ over 28 rewards/);

    const { output } = await run(['serve', '--status'], home.env);
    const baseUrl = /http:\S+(?=,)/.exec(output)?.[0] ?? '';
    const { readFileSync } = await import('node:fs');
    const key = readFileSync(`${home.home}/.local/share/benchtop/api-key`, 'utf8').trim();
    const ask = async (path: string) =>
      (await fetch(baseUrl + path, { headers: { 'X-API-Key': key } })).json() as Promise<never>;
    const { items } = (await ask('/api/v1/benchmarks')) as { items: { bench_id: string; label: string }[] };
    const bench = items.find(({ label }) => label === 't-words');
    const [evaluated] = (await ask(`/api/v1/eval/${bench?.bench_id}/runs`)) as {
      eval_run_id: string;
      reward_mean: number;
    }[];
    const { trajectory_rewards: rewards } = (await ask(
      `/api/v1/eval/${evaluated?.eval_run_id}/trajectory-rewards`,
    )) as {
      trajectory_rewards: { reward: number }[];
    };
    expect(evaluated?.reward_mean).toBeCloseTo(
      rewards.reduce((sum, { reward }) => sum + reward, 0) / rewards.length,
      12,
    );
    const shown = Number(/mean (0\.\d+)/.exec(session.text())?.[1]);
    expect(shown).toBeCloseTo(evaluated?.reward_mean ?? -1, 2);

    await session.waitFor('▸ t-words-');
    session.press('enter');
    await session.waitFor('words begin with T');
    await session.waitFor('assistant');

    session.type(':chat\r');
    await session.waitFor('No messages with');
    session.type('tell me about tea\r');
    await session.waitFor('output tokens');

    session.press('esc');
    await session.waitFor('<i> write');
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
    expect(session.mainScreen().trim()).toBe('');
  });

  it('finds everything again after a restart, on the same service', async () => {
    const session = openSession(home.env, { columns: 80, rows: 24 });
    await session.waitFor('▸ t-words');
    session.type(':runs\r');
    await session.waitFor(/▸ t-words \w+-\w+/);
    session.press('ctrl-c');
    await session.ended;
    expect(session.leftOn()).toEqual([]);
  });
});
