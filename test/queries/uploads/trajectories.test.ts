/** The upload of trajectories: every line has its outcome, and the failed ones are kept as they were. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readItems, TrajectoryUpload } from '../../../src/queries/uploads/trajectory-upload.ts';
import type { Service } from '../../../src/service/index.ts';
import { clientOf, startService, type TestService } from '../../local/server/running.ts';

let local: TestService;
let service: Service;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-trajectories-'));
  local = await startService();
  service = clientOf(local);
});
afterAll(async () => {
  await service.close();
  await local.end();
  rmSync(folder, { recursive: true, force: true });
});

const line = (content: string) => JSON.stringify({ messages: [{ role: 'user', content }] });

async function uploaded(text: string, dataset = 'lines'): Promise<TrajectoryUpload> {
  const path = join(folder, 'file.jsonl');
  writeFileSync(path, text);
  const upload = new TrajectoryUpload('job', path, dataset);
  await upload.run(async () => service);
  return upload;
}

describe('a file', () => {
  it('is a trajectory a line, or a list of them; what cannot be read keeps its line', () => {
    const items = readItems(`\uFEFF${line('a')}\n\nnonsense\n[1]\n${line('b')}`);
    expect(items.map(({ line: place, fault }) => [place, fault === undefined])).toEqual([
      [1, true],
      [3, false],
      [4, false],
      [5, true],
    ]);
    expect(readItems(`[${line('a')}, ${line('b')}, 3]`).map(({ fault }) => fault === undefined)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('is uploaded in batches, and each line has its outcome', async () => {
    const many = Array.from({ length: 250 }, (_, index) => line(`number ${index}`));
    const upload = await uploaded([...many, 'broken', JSON.stringify({ nothing: 1 }), line('number 0')].join('\n'));
    const { phase, total, outcomes } = upload.state;
    expect([phase, total, outcomes.length]).toEqual(['done', 253, 253]);
    expect(outcomes.map(({ line: place }) => place)).toEqual(Array.from({ length: 253 }, (_, index) => index + 1));
    expect(outcomes.filter(({ status }) => status === 'uploaded')).toHaveLength(250);
    expect(outcomes.slice(-3).map(({ status }) => status)).toEqual(['failed', 'failed', 'skipped']);
    expect(upload.failedLines()).toBe('broken\n{"nothing":1}\n');
  });

  it('that was uploaded already is skipped', async () => {
    await uploaded(line('once'), 'again');
    const { outcomes } = (await uploaded(`${line('once')}\n${line('new')}`, 'again')).state;
    expect(outcomes.map(({ status }) => status)).toEqual(['skipped', 'uploaded']);
  });

  it('whose batch is refused as a whole has a failure for each line', async () => {
    const { phase, outcomes } = (await uploaded(line('x'), 'evaluation/not-yours')).state;
    expect([phase, outcomes[0]?.status]).toEqual(['done', 'failed']);
    expect(outcomes[0]?.message).toContain('own');
  });

  it('that is not there is said so', async () => {
    const upload = new TrajectoryUpload('job', join(folder, 'nowhere'), 'x');
    await upload.run(async () => service);
    expect(upload.state.phase).toBe('failed');
    expect(upload.state.fault?.message).toContain('ENOENT');
  });
});
