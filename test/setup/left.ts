/** Processes that tests left behind. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export interface LeftProcess {
  readonly pid: number;
  /** Its command line. */
  readonly command: string;
}

/** How long a process that a test has stopped may take to exit, in milliseconds. */
const graceMs = 60_000;

/** The processes that name this folder in their arguments, environment or working folder. Linux only. */
export function processesIn(folder: string): LeftProcess[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap(name => {
      try {
        const [command, environment] = ['cmdline', 'environ'].map(file =>
          readFileSync(`/proc/${name}/${file}`, 'utf8').replaceAll('\0', ' ').trim(),
        );
        const isIn = [command, environment, readlinkSync(`/proc/${name}/cwd`)].some(text => text?.includes(folder));
        return isIn && command ? [{ pid: Number(name), command }] : [];
      } catch {
        // It has ended, or is another user's.
        return [];
      }
    });
}

/** Those that are still there after a moment, apart from vitest's own workers. */
export async function leftIn(folder: string, patienceMs = graceMs): Promise<LeftProcess[]> {
  if (process.platform !== 'linux') return [];
  const until = performance.now() + patienceMs;
  for (;;) {
    const left = processesIn(folder).filter(({ command }) => !/^vitest|\/vitest\/dist\//.test(command));
    if (left.length === 0 || performance.now() > until) return left;
    await wait(50);
  }
}

/** Ends the processes that name this folder, also those that they start in the meantime. Linux only. */
export function endIn(folder: string): void {
  if (process.platform !== 'linux') return;
  for (let round = 0; round < 20; round += 1) {
    const left = processesIn(folder);
    if (left.length === 0) return;
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
  }
}
