/** `describe` if part of a training run is unreadable. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const run = { training_run_id: 'trn_1', bench_id: 'b', display_name: 'first', status: 'succeeded' };
const heldOut = (value: string): string => `{"held_out_rewards": [{"step": 2, "held_out_reward": ${value}}]}`;

async function described(odd: (path: string) => string | number | undefined, ...flags: readonly string[]) {
  const server = await hostileServer((response, request) => {
    const path = request.url.split('?')[0] ?? '';
    const instead = odd(path);
    if (typeof instead === 'number')
      return refusal(instead, instead === 401 ? 'authentication_error' : 'api_error', 'broken')(response, request);
    if (instead !== undefined) return void response.end(instead);
    const rewards = [0, 1].map(reward => ({ reward, task_id: 'a' }));
    const [body] = [
      path.endsWith('/trn_1') && run,
      path.endsWith('trainer-reward-by-step') && {
        trainer_rewards: [1, 2, 3].map(step => ({ step, trainer_reward: step / 10 })),
      },
      path.endsWith('held-out-reward-by-step') && { held_out_rewards: [{ step: 2, held_out_reward: 0.5 }] },
      path.endsWith('trajectory-rewards') && { trajectory_rewards: rewards },
    ].filter(Boolean);
    return (body ? json(body) : refusal(404, 'not_found_error', 'none'))(response, request);
  });
  return cliOn({ baseUrl: server.url, apiKey: 'key' })('describe', ['trn_1', ...flags]);
}

it('shows the rest if a held-out reward is NaN', async () => {
  const { code, out, notes } = await described(path => (path.includes('held-out') ? heldOut('NaN') : undefined));
  expect(notes).toMatch(/The held-out rewards could not be read\. .*NaN as held_out_reward/);
  expect(out).toMatch(/^held-out reward: could not be read\ntrainer reward: 3 values/);
  expect(out).toContain('teaching signal: 3 of 3 steps read');
  expect(code).toBe(exitCodes.failed);
});

it('skips a held-out reward that is a text, and says so', async () => {
  const { code, out, notes } = await described(path => (path.includes('held-out') ? heldOut('"n/a"') : undefined));
  expect(notes).toContain('1 row in the response could not be read.');
  expect(out).toContain('trainer reward: 3 values');
  expect(code).toBe(exitCodes.failed);
});

it('shows the rest if the rewards of a step fail with 500', async () => {
  const { code, out, notes } = await described(path => (path.includes('/steps/2/') ? 500 : undefined));
  expect(notes).toContain('Step 2 could not be read. ');
  expect(out).toContain('teaching signal: 2 of 3 steps read');
  expect(code).toBe(exitCodes.failed);
});

it.each([
  ['Step 2', '/steps/2/', '2 of 3 steps read'],
  ['The trainer rewards', 'trainer-reward', '0 of 0 steps read'],
  ['The held-out rewards', 'held-out', '3 of 3 steps read'],
])('audits the rest if this fails with 500: %s', async (what, part, read) => {
  const { code, out, notes } = await described(path => (path.includes(part) ? 500 : undefined), '--audit');
  expect(notes).toContain(`${what} could not be read. `);
  expect(out).toContain(read);
  expect(out).toContain('1 of these reads failed');
  expect(code).toBe(exitCodes.failed);
});

it('says that the teaching signal is unknown without trainer rewards', async () => {
  const { code, out } = await described(path => (path.includes('trainer-reward') ? 500 : undefined));
  expect(out).toMatch(/^held-out reward: 1 value.*trainer reward: could not be read\nteaching signal: unknown/s);
  expect(code).toBe(exitCodes.failed);
});

it.each(['evr_1', 'second'])('says that %s is an evaluation run, and what to use instead (A2)', async word => {
  const evaluation = { eval_run_id: 'evr_1', display_name: 'second', status: 'completed' };
  const server = await hostileServer((response, request) => {
    const path = request.url.split('?')[0] ?? '';
    const items = [
      path.endsWith('/benchmarks') && { bench_id: 'b' },
      path.endsWith('/eval/b/runs') && evaluation,
    ].filter(Boolean);
    const isList = items.length > 0 || path.endsWith('/train/b/runs');
    const body = path.endsWith('/eval/evr_1') ? evaluation : isList && { items, has_more: false };
    return (body ? json(body) : refusal(404, 'not_found_error', 'none'))(response, request);
  });
  const { code, out, notes } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('describe', [word, '--audit']);
  expect([code, out]).toEqual([exitCodes.notFound, '']);
  expect(notes).toContain(
    `${word} is an evaluation run, and describe takes training runs. Use benchtop failures evr_1 `,
  );
});

it('fails if everything is refused', async () => {
  const { code, out } = await described(path => (path.includes('held-out') ? 401 : undefined));
  expect([code, out]).toEqual([exitCodes.forbidden, '']);
});
