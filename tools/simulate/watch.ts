/**
 * Watches a screen for a long time while runs start and end: memory and sockets must stay level, and no poll may come
 * too early.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Exchange } from '../rig/proxy.ts';
import type { VirtualNetwork } from './virtual-network.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap that are in use. */
export function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** Allowed growth from the second to the last third: memory in bytes, and number of sockets. */
const mostGrowth = 24e6;
const mostSockets = 4;
/** Samples are this far apart, in milliseconds. */
const sampleMs = 30_000;

/** The shortest configured interval between two polls, less its jitter, in milliseconds. */
const shortest = (ms: number): number => ms * 0.85;
const lists = /^\/api\/v1\/(?:benchmarks|deploy|(?:eval|train)\/bench_[^/]+\/runs)(?:\?|$)/;
/** Allowed reads in addition to polls, when something starts and ends. */
const readsOfRun = 4;

export interface Sample {
  readonly memory: number;
  readonly sockets: number;
}

const middleOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const megabytes = (bytes: number): number => Math.round(bytes / 1e6);

/** Compares the last third of the samples with the second; the first is warm-up. */
export function growth(samples: readonly Sample[]): string[] {
  const third = Math.floor(samples.length / 3);
  const parts = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  const [memory = 0, later = 0] = parts.map(part => middleOf(part.map(each => each.memory)));
  const [sockets = 0, laterSockets = 0] = parts.map(part => Math.max(0, ...part.map(each => each.sockets)));
  return [
    ...(later - memory > mostGrowth ? [`memory grows: ${megabytes(memory)} MB, then ${megabytes(later)} MB`] : []),
    ...(laterSockets - sockets > mostSockets ? [`there are ${sockets} sockets, then ${laterSockets}`] : []),
  ];
}

/** Addresses that were requested more often than polling allows in `ms`. */
export function tooOften(counts: ReadonlyMap<string, number>, ms: number, runs: number): string[] {
  return [...counts].flatMap(([url, asked]) => {
    const isList = lists.test(url);
    const due = ms / shortest(isList ? 10_000 : 2_000) + readsOfRun * (isList ? runs : 1) + 2;
    const times = `${asked} times in ${Math.round(ms / 1_000)} s, ${Math.round(due)} are due`;
    return asked > due ? [`${url} was asked for ${times}`] : [];
  });
}

export class Watch {
  readonly #network: VirtualNetwork;
  readonly #began = performance.now();
  readonly #samples: Sample[] = [];
  readonly #counts = new Map<string, number>();
  #runs = 0;
  #next = 0;

  constructor(network: VirtualNetwork) {
    this.#network = network;
  }

  asked({ method, url }: Exchange): void {
    if (method === 'GET') this.#counts.set(url, (this.#counts.get(url) ?? 0) + 1);
    else this.#runs += 1;
  }

  /** Takes a sample, if one is due. */
  look(): void {
    if (performance.now() < this.#next) return;
    this.#next = performance.now() + sampleMs;
    this.#samples.push({ memory: heap(), sockets: this.#network.sockets.size });
  }

  failures(): string[] {
    return [...growth(this.#samples), ...tooOften(this.#counts, performance.now() - this.#began, this.#runs)];
  }
}
