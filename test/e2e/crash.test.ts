/**
 * The local service is killed in the middle of its work: everything acknowledged is there, and running work resumes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findService } from '../../src/local/daemon/client.ts';
import { createService, type Service } from '../../src/service/index.ts';
import { eventually } from '../eventually.ts';
import { freshHome, program } from './session.ts';

let home: ReturnType<typeof freshHome>;
let folder: string;
beforeAll(() => {
  home = freshHome();
  folder = `${home.home}/data`;
});
afterAll(() => home.remove());

async function start(): Promise<{ child: ChildProcess; service: Service }> {
  const child = spawn(process.execPath, [program, 'serve', '--data', folder], { env: home.env, stdio: 'ignore' });
  const running = await eventually(async () => {
    const found = await findService(folder);
    expect(found?.pid).toBe(child.pid);
    return found;
  });
  const key = async () => running?.apiKey ?? '';
  return {
    child,
    service: createService({ baseUrl: running?.baseUrl ?? '', apiKey: key, inferenceToken: key, userAgent: 'test' }),
  };
}

const slowly = { interval: 100 };

const killed = (child: ChildProcess) =>
  new Promise(resolve => {
    child.on('exit', resolve);
    child.kill('SIGKILL');
  });

describe('kill -9 during evaluations', () => {
  it.each([0, 15, 60])('loses nothing that was acknowledged, %i ms after the last start', async delay => {
    const first = await start();
    const [benchmark] = (await first.service.call('listBenchmarks', { query: { search: 't-words' } })).items;
    const benchId = benchmark?.bench_id ?? '';
    await expect
      .poll(
        async () => (await first.service.call('getBenchmarkReadiness', { params: { bench_id: benchId } })).ready,
        slowly,
      )
      .toBe(true);
    const started = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        first.service.call('startEval', {
          params: { bench_id: benchId },
          body: { display_name: `run ${index}`, model_slug: 'benchtop/reader-large' },
        }),
      ),
    );
    await new Promise(resolve => setTimeout(resolve, delay));
    await killed(first.child);
    await first.service.close();

    const second = await start();
    for (const { eval_run_id } of started) {
      // Each question takes time from the run.
      await expect
        .poll(async () => (await second.service.call('getEvalRun', { params: { eval_run_id } })).status, slowly)
        .toBe('completed');
      const { trajectory_rewards } = await second.service.call('getTrajectoryRewards', { params: { eval_run_id } });
      expect(new Set(trajectory_rewards.map(({ task_id }) => task_id)).size).toBe(28);
      expect(trajectory_rewards).toHaveLength(28);
    }
    second.child.kill('SIGTERM');
    await new Promise(resolve => second.child.on('exit', resolve));
    await second.service.close();
  });
});

describe('an address left behind by a killed service', () => {
  it('is ignored', async () => {
    const { child, service } = await start();
    await killed(child);
    await service.close();
    expect(await findService(folder)).toBeUndefined();
  });
});
