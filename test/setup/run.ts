/** Around a whole test run: a new enough Node before it, no process left behind after it. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refuseUnready } from '../../tools/unready.mjs';
import { leftIn } from './left.ts';

let folder: string;

/** Bytes that the tests may write, most of them packages that are installed. */
const neededBytes = 4e9;

/** In memory where it has room: the databases of the tests wait for their disk half of the time. */
function parentFolder(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > neededBytes ? memory : tmpdir();
}

export function setup(): void {
  refuseUnready();
  // Every home folder of a test is in here, which identifies processes that outlive their test.
  folder = mkdtempSync(join(parentFolder(), 'bt-'));
  process.env['TMPDIR'] = folder;
}

/** @throws Error with the processes that the tests left running, once they have been ended */
export async function teardown(): Promise<void> {
  const left = await leftIn(folder);
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  if (left.length === 0) return;
  const lines = left.map(({ pid, command }) => `  ${pid} ${command}`);
  throw new Error(['The tests left processes behind, which have been ended:', ...lines].join('\n'));
}
