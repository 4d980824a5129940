/** A local service that is killed with SIGKILL and restarted on its data. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the test is about the body
  readonly body: any;
}

const entry = fileURLToPath(new URL('./entry.ts', import.meta.url));
const deadlineMs = 240_000;
/** Compiled code, which the next start does not compile again; removed with the run of the tests. */
const compiled = join(tmpdir(), 'benchtop-compiled');

export class Killable {
  readonly folder = mkdtempSync(join(tmpdir(), 'benchtop-crash-'));
  readonly #upstream: string | undefined;
  #child: ChildProcess | undefined;
  #address = { baseUrl: '', apiKey: '' };

  /** @param upstream address of a server for models that are not local */
  constructor(upstream?: string) {
    this.#upstream = upstream;
  }

  get baseUrl(): string {
    return this.#address.baseUrl;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [entry, this.folder, ...(this.#upstream ? [this.#upstream] : [])], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_COMPILE_CACHE: compiled },
    });
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    const [line] = (await once(lines, 'line')) as [string];
    this.#address = JSON.parse(line) as { baseUrl: string; apiKey: string };
  }

  /** Kills the process after this many milliseconds, and starts another on the same folder. */
  async killAfter(ms: number): Promise<void> {
    await wait(ms);
    const ended = this.#child && once(this.#child, 'exit');
    this.#child?.kill('SIGKILL');
    await ended;
    await this.start();
  }

  /** Undefined if the process died before it answered. */
  async call(method: string, path: string, body?: unknown): Promise<Reply | undefined> {
    try {
      const answer = await fetch(this.#address.baseUrl + path, {
        method,
        headers: { 'X-API-Key': this.#address.apiKey, Authorization: `Bearer ${this.#address.apiKey}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.json() };
    } catch {
      return undefined;
    }
  }

  /** Polls until the answer satisfies. */
  async until(path: string, satisfied: (body: Reply['body']) => boolean): Promise<Reply['body']> {
    const deadline = Date.now() + deadlineMs;
    for (;;) {
      const reply = await this.call('GET', path);
      if (reply?.status === 200 && satisfied(reply.body)) return reply.body;
      if (Date.now() > deadline) throw new Error(`${path} still says ${JSON.stringify(reply)}`);
      await wait(10);
    }
  }

  async readyBenchmark(label: string): Promise<string> {
    const { items } = await this.until('/api/v1/benchmarks', ({ items: all }) => all.length > 0);
    const { bench_id } = (items as { label: string; bench_id: string }[]).find(each => each.label === label) ?? {
      bench_id: '',
    };
    await this.until(`/api/v1/benchmarks/${bench_id}/readiness`, ({ ready }) => ready);
    return bench_id;
  }

  /** Every file below a folder of the data folder. */
  files(name: string): string[] {
    try {
      return readdirSync(join(this.folder, name), { recursive: true, encoding: 'utf8' });
    } catch {
      return [];
    }
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
