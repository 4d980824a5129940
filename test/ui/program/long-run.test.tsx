/** A run with more rollouts than a page, on the real local service: watched from its start, and opened afterwards. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Service } from '../../../src/service/index.ts';
import { clientOf, startService, type TestService } from '../../local/server/running.ts';
import { inOwnFolders } from '../own-folder.ts';
import { openProgram } from './rig.tsx';

const taskCount = 250;
const model = 'benchtop/tutor-base';

inOwnFolders();

let local: TestService;
let service: Service;
let benchId: string;

beforeAll(async () => {
  local = await startService();
  service = clientOf(local);
  const files = [{ path: 'readme', content_type: 'text/plain', size_bytes: 1 }];
  const { bench_id, urls } = await service.call('createBenchmarkUpload', { body: { files } });
  for (const { url, headers } of urls) await fetch(url, { method: 'PUT', headers: headers ?? {}, body: 'x' });
  const tasks = Array.from({ length: taskCount }, (_, index) => ({
    name: `task ${String(index).padStart(3, '0')}`,
    split: 'test',
    input_messages: [{ role: 'user', content: `Answer ${index} with as many words that begin with T as you can` }],
    run_command: 'x',
    grader: { kind: 'word_share', letter: 't' },
  }));
  await service.call('ingestBenchmark', { params: { bench_id }, body: { name: 'long', tasks } });
  await service.call('buildBenchmarkImages', { params: { bench_id } });
  benchId = await local.readyBenchmark('long');
});
afterAll(async () => {
  await service.close();
  await local.end();
});

it('shows every rollout, worst first, and exports them all', async () => {
  const { eval_run_id: runId = '' } = await service.call('startEval', {
    params: { bench_id: benchId },
    body: {
      display_name: 'long',
      model_slug: model,
    },
  });
  const start = { view: 'record', resource: 'runs', id: runId ?? '' } as const;
  const watching = openProgram({ service, start, columns: 200, rows: 50 });
  await watching.screen.waitFor(`${taskCount} of ${taskCount} rollouts`);
  await watching.screen.waitFor('✓ completed');
  await watching.screen.press('G');
  await watching.screen.waitFor(`${taskCount}/${taskCount} `);
  watching.close();

  const { trajectory_rewards: rewards } = await service.call('getTrajectoryRewards', {
    params: { eval_run_id: runId ?? '' },
  });
  const worst = Math.min(...rewards.map(({ reward }) => reward ?? Number.POSITIVE_INFINITY));
  const worstTasks = rewards.filter(({ reward }) => reward === worst).map(({ task_id }) => task_id);
  const { screen, close } = openProgram({ service, start, columns: 200, rows: 50 });
  // Until the rest has been read, the worst of the rows read is first.
  await screen.waitFor(text => worstTasks.some(task => text.includes(`▸ ${task}`)) && !text.includes('sorted among'));
  await screen.press('x');
  await screen.waitFor('Export as');
  await screen.press('enter');
  await screen.waitFor('Save as');
  await screen.press('enter');
  await screen.waitFor(`Saved ${taskCount} rows to`);
  const path = /rows to (\S+\.json)/.exec(screen.text())?.[1] ?? '';
  const saved = JSON.parse(readFileSync(path, 'utf8')) as { reward?: number; status?: string }[];
  expect(saved).toHaveLength(taskCount);
  expect(saved.every(({ status }) => status === 'completed')).toBe(true);
  const inOrder = saved.map(({ reward }) => reward ?? Number.POSITIVE_INFINITY);
  expect(inOrder).toEqual(inOrder.toSorted((left, right) => left - right));
  close();
});
