/** Uploads on a read-only service: refused before a file is read, and in the middle. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RememberedStore } from '../../src/store/store.ts';
import { planUpload } from '../../src/uploads/benchmark-plan.ts';
import { BenchmarkUpload } from '../../src/uploads/benchmark-upload.ts';
import { TrajectoryUpload } from '../../src/uploads/trajectory-upload.ts';
import { serviceDouble } from '../service/double.ts';
import { serviceAt } from '../service/hostile-server.ts';
import { smallFolder } from './small-folder.ts';

async function jobs() {
  const folder = smallFolder();
  const memory = RememberedStore.inMemory('test');
  onTestFinished(() => memory.close());
  const lines = join(folder, 'talk.jsonl');
  writeFileSync(lines, '{"messages": []}\n');
  return [
    new BenchmarkUpload('benchmark', await planUpload(folder), memory),
    new TrajectoryUpload('trajectories', lines, 'talks'),
  ];
}

it('are refused completely', async () => {
  const double = await serviceDouble();
  const { service } = serviceAt(double.url, { readOnly: true });
  for (const job of await jobs()) {
    await job.run(async () => service);
    expect(job.state).toMatchObject({ phase: 'failed', error: { kind: 'read_only' } });
    expect(job.busy).toBe(false);
  }
  expect(double.requests).toEqual([]);
});

it('send nothing even if they were let through', async () => {
  const double = await serviceDouble();
  const { service } = serviceAt(double.url, { readOnly: true });
  const careless = { ...service, requireWrites: () => {} };
  for (const job of await jobs()) await job.run(async () => careless);
  expect(double.requests).toEqual([]);
});
