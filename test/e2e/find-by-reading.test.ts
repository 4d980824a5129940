/** Finds by reading alone why a trained model satisfies its grader but helps no reader. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { version } from '../../src/base/version.ts';
import { ensureLocalService } from '../../src/local/daemon/client.ts';
import { callerOf } from '../populate.ts';
import { freshHome, openSession, program } from './session.ts';

const { home, env, remove } = freshHome();
/** A sample whose reward is gamed: the grader takes every answer that contains the number. */
const sample = { bench: 'next-number', model: 'benchtop/clerk-small', steps: 15 };

beforeAll(async () => {
  const entry = { command: process.execPath, args: [program] };
  const { baseUrl, apiKey } = await ensureLocalService({
    dataFolder: join(home, '.local/share/benchtop'),
    entry,
    version,
  });
  const { call, until } = callerOf({ baseUrl, apiKey });
  const { items } = await until('benchmarks', ({ items: all }) => all?.length > 0);
  const bench_id: string = items.find(({ label }: { label: string }) => label === sample.bench).bench_id;
  await until(`benchmarks/${bench_id}/readiness`, ({ ready }) => ready);
  const options = { num_steps: sample.steps, held_out_every: sample.steps };
  const { training_run_id } = await call('POST', 'train', { bench_id, base_model_slug: sample.model, options });
  await until(`train/${training_run_id}`, ({ status }) => status === 'succeeded');
  const checkpoints = await call('GET', `train/${training_run_id}/checkpoints`);
  const { checkpoint_id } = (checkpoints.items ?? checkpoints).at(-1);
  for (const run of [
    { display_name: 'trained', checkpoint_id },
    { display_name: 'untrained', model_slug: sample.model },
  ]) {
    const { eval_run_id } = await call('POST', `eval/${bench_id}/start`, run);
    await until(`eval/${eval_run_id}`, ({ status }) => status === 'completed');
  }
});
afterAll(remove);

/** Numbers that follow each other, as in counting. */
const numbers = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
const counting = new RegExp(
  numbers
    .slice(2)
    .map((_, at) => numbers.slice(at, at + 3).join(' '))
    .join('|'),
);

it('shows the reason for a rise in reward after four keys', async () => {
  const session = openSession(env, { args: ['open', 'runs'] });
  await session.waitFor('▸ untrained');
  session.press('=');
  await session.waitFor('▸ trained');
  session.press('enter');
  await session.waitFor('The new run is worse');
  session.press('enter');
  await session.waitFor('reward 0');
  session.press('=');
  // The answer with the better reward counts instead of naming the number.
  await session.waitFor('reward 1.00');
  await session.waitFor(counting);
  session.press('ctrl-c');
  expect((await session.ended).exitCode).toBe(0);
});
