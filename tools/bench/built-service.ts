/** The built local service, in its own process and folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

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

export interface BuiltService {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Current memory of the process, from the diagnostic report that Node writes on a signal. */
  readonly memory: () => Promise<Memory>;
  /** @throws Error for an unsuccessful answer */
  readonly call: <Body>(method: string, path: string, body?: unknown) => Promise<Body>;
  readonly stop: () => Promise<void>;
}

function addressIn(folder: string): { base_url: string; api_key: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8')) as { base_url: string; api_key: string };
  } catch {
    return undefined;
  }
}

export async function startBuiltService(): Promise<BuiltService> {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-bench-'));
  const flags = ['--report-on-signal', '--report-exclude-network', '--report-compact', `--report-directory=${folder}`];
  const child: ChildProcess = spawn(process.execPath, [...flags, program, 'serve', '--data', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let address = addressIn(folder);
  while (!address) {
    if (child.exitCode !== null) throw new Error(`The service ended with code ${child.exitCode}`);
    await wait(10);
    address = addressIn(folder);
  }
  const { base_url: baseUrl, api_key: apiKey } = address;
  return {
    baseUrl,
    apiKey,
    memory: async () => memoryOf(await reportOf(child.pid ?? 0, folder)),
    call: async <Body>(method: string, path: string, body?: unknown) => {
      const answer = await fetch(baseUrl + path, {
        method,
        headers: { 'X-API-Key': apiKey, Authorization: `Bearer ${apiKey}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Body;
    },
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The id of a sample benchmark, once it is ready to launch. */
export async function readyBenchmark({ call }: BuiltService, label: string): Promise<string> {
  const { items } = await call<{ items: { label: string; bench_id: string }[] }>('GET', '/api/v1/benchmarks');
  const benchId = items.find(each => each.label === label)?.bench_id ?? '';
  while (!(await call<{ ready: boolean }>('GET', `/api/v1/benchmarks/${benchId}/readiness`)).ready) await wait(20);
  return benchId;
}

/** Lines of cells, padded to a common width. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}
