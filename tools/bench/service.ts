/** The local service with many clients that list, poll and stream at the same time, as screens do. */
import { setTimeout as wait } from 'node:timers/promises';
import { createPrng } from '../../src/base/prng.ts';
import type { BenchOptions } from '../bench.ts';
import { type BuiltService, type Memory, readyBenchmark, startBuiltService } from './built-service.ts';
import { printTable } from './table.ts';
import { quantile } from './timed.ts';

/** One in this many clients chats; the others list and poll. */
const chatEvery = 5;
const usualClients = 200;
const usualSeconds = 20;

type Kind = 'list benchmarks' | 'list trajectories' | 'poll a run' | 'stream a chat';

interface Sample {
  readonly kind: Kind;
  /** Until the last byte. */
  readonly ms: number;
}

class Load {
  readonly samples: Sample[] = [];
  readonly errors: string[] = [];
  readonly #service: BuiltService;

  constructor(service: BuiltService) {
    this.#service = service;
  }

  /** Returns the answer's text, or nothing if it failed, which is recorded. */
  async #ask(kind: Kind, method: string, path: string, body?: object): Promise<string | undefined> {
    const { baseUrl, apiKey } = this.#service;
    const begun = performance.now();
    try {
      const headers = { 'X-API-Key': apiKey, Authorization: `Bearer ${apiKey}` };
      const answer = await fetch(baseUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
      this.samples.push({ kind, ms: performance.now() - begun });
      return text;
    } catch (error) {
      this.errors.push(`${kind}: ${error instanceof Error ? error.message : error}`);
      return undefined;
    }
  }

  /** Sends requests one after another until stopped. */
  async client(index: number, runId: string, stop: AbortSignal): Promise<void> {
    const { next } = createPrng(index);
    await wait(next() * 500);
    while (!stop.aborted) {
      if (index % chatEvery === 0) {
        const text = await this.#ask('stream a chat', 'POST', '/v1/chat/completions', {
          model: 'benchtop/tutor-base',
          stream: true,
          max_tokens: 16,
          messages: [{ role: 'user', content: `tell me about tea ${index}` }],
        });
        if (text !== undefined && !text.includes('data: [DONE]')) this.errors.push('stream a chat: it broke off');
        await wait(200 + next() * 300);
      } else {
        await this.#ask('list benchmarks', 'GET', '/api/v1/benchmarks');
        await wait(100 + next() * 200);
        await this.#ask('list trajectories', 'GET', '/api/v1/trajectories?limit=25');
        await wait(100 + next() * 200);
        await this.#ask('poll a run', 'GET', `/api/v1/eval/${runId}/progress`);
        await wait(100 + next() * 200);
      }
    }
  }
}

/** A leak would grow in the second half of the load as well. */
const mostGrowth = 10;

const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);

const wordsOf = ({ resident, heapUsed, heapTaken }: Memory): string =>
  `${mb(resident)} MB (heap: ${mb(heapUsed)} MB of objects and garbage in ${mb(heapTaken)} MB)`;

/** Returns the exit code: 1 if there was an error, or memory keeps growing, which `smoke` ignores. */
export async function benchService({ smoke }: BenchOptions): Promise<number> {
  const [clients, seconds] = smoke ? [20, 1] : [usualClients, usualSeconds];
  await using service = await startBuiltService();
  const load = new Load(service);
  const benchId = await readyBenchmark(service, 't-words');
  const body = { display_name: 'polled', model_slug: 'benchtop/tutor-base' };
  const { eval_run_id } = await service.call('POST', `eval/${benchId}/start`, body);
  // Load a model and the threads first, because they take memory only once.
  await Promise.all(
    Array.from({ length: chatEvery }, (_, index) => load.client(index, eval_run_id, AbortSignal.timeout(1_000))),
  );
  load.samples.length = 0;
  const before = await service.memory();
  const begun = performance.now();
  const halfOfTheLoad = async (): Promise<Memory> => {
    const stop = AbortSignal.timeout(seconds * 500);
    await Promise.all(Array.from({ length: clients }, (_, index) => load.client(index, eval_run_id, stop)));
    return service.memory();
  };
  const middle = await halfOfTheLoad();
  const after = await halfOfTheLoad();
  const elapsed = (performance.now() - begun) / 1000;
  process.stdout.write(`${clients} clients for ${elapsed.toFixed(0)} s\n`);
  const rows = [['REQUEST', 'COUNT', 'A SECOND', 'P50 MS', 'P95 MS', 'P99 MS']];
  for (const kind of new Set(load.samples.map(sample => sample.kind))) {
    const times = load.samples.filter(sample => sample.kind === kind).map(({ ms }) => ms);
    const quantiles = [0.5, 0.95, 0.99].map(share => quantile(times, share).toFixed(1));
    rows.push([kind, String(times.length), (times.length / elapsed).toFixed(1), ...quantiles]);
  }
  rows.push(['all', String(load.samples.length), (load.samples.length / elapsed).toFixed(1), '', '', '']);
  printTable(rows);
  process.stdout.write(`errors: ${load.errors.length} (goal 0)\n`);
  for (const error of new Set(load.errors.slice(0, 20))) process.stdout.write(`  ${error}\n`);
  const growth = (after.resident - middle.resident) / 1e6;
  process.stdout.write(
    `memory of the service: ${wordsOf(before)} after one request of each kind\n${wordsOf(middle)} after half of the load, ${wordsOf(after)} after all\n`,
  );
  process.stdout.write(`growth in the second half: ${growth.toFixed(0)} MB (goal at most ${mostGrowth})\n`);
  return load.errors.length > 0 || (growth > mostGrowth && !smoke) ? 1 : 0;
}
