/** What Watch says of the pace: nothing that was not read. */
import { expect, it, onTestFinished } from 'vitest';
import { kinds } from '../../src/resources/catalogue.ts';
import { stateOf, watchedOf, watchLines } from '../../src/resources/watch.ts';
import { TrajectoryUpload } from '../../src/uploads/trajectory-upload.ts';
import { Workbench } from '../../src/workbench/workbench.ts';
import { scriptedService } from '../queries/scripted-service.ts';

function world() {
  const { service } = scriptedService({});
  const workbench = new Workbench({ kinds, service: async () => service, profile: 'test' });
  onTestFinished(() => workbench.close());
  const at = 1_000_000;
  const ref = { kind: 'training', id: 'trn_1', label: 'sweep', startedAt: new Date(at).toISOString() } as const;
  const paceAt = (now: number): string | undefined => watchedOf(workbench, now)[0]?.pace;
  /** An answer with the steps, as the progress says them. */
  const steps = (done: number, time: number): void => {
    workbench.statuses.report([{ ...ref, status: 'running', done, total: 400 }], {
      askedAt: time,
      at: time,
      by: 'progress',
    });
    workbench.remembered.recordProgress(ref.id, done, time);
  };
  /** An answer of the list, without the steps. */
  const listed = (time: number, status = 'running'): void =>
    workbench.statuses.report([{ ...ref, status }], { askedAt: time, at: time, by: 'list' });
  return { at, paceAt, steps, listed };
}

it('a list that goes on saying "running" is no silence of the steps (W1)', () => {
  const { at, paceAt, steps, listed } = world();
  for (let step = 0; step <= 10; step += 1) steps(step, at + step * 2_000);
  const read = at + 20_000;
  expect(paceAt(read)).toMatch(/^2 s\/step {2}ETA/);
  listed(read + 94_000);
  expect(paceAt(read + 94_000)).toBe('2 s/step  ETA 13m  read 1m ago');
  steps(50, read + 100_000);
  expect(paceAt(read + 100_000)).not.toContain('no new step');
});

it('steps that were read and did not move are a silence, as of that read (W1)', () => {
  const { at, paceAt, steps } = world();
  for (let step = 0; step <= 10; step += 1) steps(step, at + step * 2_000);
  steps(10, at + 114_000);
  expect(paceAt(at + 114_000)).toBe('no new step for 1m 34s');
  expect(paceAt(at + 150_000)).toBe('no new step for 1m 34s  read 36s ago');
});

it('steps that were never read have no pace, and a run that waits is queued (W1, W11)', () => {
  const { at, paceAt, listed } = world();
  listed(at);
  expect(paceAt(at + 1)).toBe('steps not read yet');
  listed(at, 'pending');
  expect(paceAt(at + 98_000)).toBe('queued 1m 38s');
});

it('the end of an upload is known exactly, because this program ran it', async () => {
  const { service } = scriptedService({});
  const workbench = new Workbench({ kinds, service: async () => service, profile: 'test' });
  onTestFinished(() => workbench.close());
  const upload = new TrajectoryUpload('job', '/nowhere/at/all.jsonl', 'mine');
  workbench.jobs.add(upload);
  await upload.run(workbench.service);
  const [line] = watchLines(workbench);
  expect(line && stateOf(line, Date.now()).text).toMatch(/^failed \d+s ago/);
});
