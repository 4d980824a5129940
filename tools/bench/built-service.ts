/** The built local service, in its own process and folder. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { version } from '../../src/base/version.ts';
import { ensureLocalService, type LocalAddress } from '../../src/local/daemon/client.ts';
import { dataFolderIn, freshHome, program } from '../../test/e2e/session.ts';
import { type Caller, callerOf } from '../../test/populate.ts';

/** In bytes. The heaps are those of all threads. */
export interface Memory {
  readonly resident: number;
  /** Objects, including garbage. */
  readonly heapUsed: number;
  /** Memory that V8 has reserved for the heaps. */
  readonly heapTaken: number;
}

interface Report {
  readonly resourceUsage: { readonly rss: string | number };
  readonly javascriptHeap: { readonly usedMemory: number; readonly totalCommittedMemory: number };
  readonly workers?: readonly Report[];
}

/** The diagnostic report that a process writes into `folder` on request. */
async function reportOf(pid: number, folder: string): Promise<Report> {
  const written = (): string[] => readdirSync(folder).filter(name => /^report.*\.json$/.test(name));
  for (const name of written()) rmSync(join(folder, name));
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    const [name] = written();
    try {
      if (name) return JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report;
    } catch {
      // The report is still being written.
    }
    await wait(20);
  }
}

function memoryOf(report: Report): Memory {
  const heaps = [report, ...(report.workers ?? [])].map(({ javascriptHeap }) => javascriptHeap);
  const sum = (name: keyof Report['javascriptHeap']) => heaps.reduce((total, heap) => total + heap[name], 0);
  return {
    resident: Number(report.resourceUsage.rss),
    heapUsed: sum('usedMemory'),
    heapTaken: sum('totalCommittedMemory'),
  };
}

export interface BuiltService extends Caller, LocalAddress, AsyncDisposable {
  /** Current memory of the process, from the diagnostic report that Node writes on a signal. */
  readonly memory: () => Promise<Memory>;
}

/** Time limit for waiting. */
const limitMs = 60_000;

export async function startBuiltService(): Promise<BuiltService> {
  const { home, remove } = freshHome();
  const flags = ['--report-on-signal', '--report-exclude-network', '--report-compact', `--report-directory=${home}`];
  const entry = { command: process.execPath, args: [...flags, program] };
  const address = await ensureLocalService({ dataFolder: dataFolderIn(home), entry, version });
  const memory = async (): Promise<Memory> => memoryOf(await reportOf(address.pid, home));
  return { ...address, ...callerOf(address, limitMs), memory, [Symbol.asyncDispose]: remove };
}

/** The id of a sample benchmark, once it is ready to launch. */
export async function readyBenchmark({ call, until }: Caller, label: string): Promise<string> {
  const { items } = await call('GET', 'benchmarks');
  const benchId: string = items.find((each: { label: string }) => each.label === label).bench_id;
  await until(`benchmarks/${benchId}/readiness`, ({ ready }) => ready);
  return benchId;
}
