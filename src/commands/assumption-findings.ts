/**
 * `doctor`'s findings about each assumption. Reads verify some of them; verifying the rest would take a write or a
 * chat, which a check must not send.
 */

import { own } from '../base/own-property.ts';
import { type AssumptionName, assumedPaths, defaultAssumptions } from '../contract/assumptions.ts';
import type { ListQuery } from '../contract/common.ts';
import { imageList } from '../queries/benchmarks.ts';
import { setsName } from '../service/assumptions.ts';
import { ServiceError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import { RememberedStore } from '../store/store.ts';
import type { ExitCode } from './exit.ts';

export interface Finding {
  readonly about: string;
  /** `fail` stops benchtop from working, `warn` limits it, `ok` and `note` are informational. */
  readonly state: 'ok' | 'note' | 'warn' | 'fail';
  readonly words: string;
  /** The exit code that other commands have for this failure. */
  readonly exit_code?: ExitCode;
}

type Name = AssumptionName | `path.${string}`;

/** Whether the service supports, ignores or refuses a name; undefined if its responses do not show which. */
type ProbeResult = 'works' | 'ignored' | { readonly refused: string } | undefined;

/** A search text that no benchmark contains. */
const absentText = 'benchtop-doctor-finds-nothing-8d41';

/** Treats a refusal of the name as a result; any other failure proves nothing. */
async function resultOf(probe: () => Promise<ProbeResult>): Promise<ProbeResult> {
  try {
    return await probe();
  } catch (error) {
    const isRefusal = error instanceof ServiceError && error.kind === 'validation';
    return isRefusal ? { refused: error.message } : undefined;
  }
}

export interface BenchmarkPage {
  readonly items: readonly { readonly bench_id: string }[];
  readonly next_cursor?: string | null | undefined;
}

const benchmarkIds = ({ items, next_cursor }: BenchmarkPage) => ({
  ids: items.map(({ bench_id }) => bench_id),
  next: next_cursor ?? undefined,
});

async function probeSteps(service: Service, signal: AbortSignal): Promise<ProbeResult> {
  const { items } = await service.call('listTrajectories', { query: { limit: 1 } }, { signal });
  const [{ trajectory_id } = {}] = items;
  if (trajectory_id === undefined) return undefined;
  const query = { include_steps: false };
  const { steps } = await service.call('getTrajectory', { params: { trajectory_id }, query }, { signal });
  return steps?.length ? 'ignored' : undefined;
}

/**
 * Finds out from list requests which names the service supports.
 *
 * @param one a page of at most one benchmark
 */
async function probeAll(
  service: Service,
  one: BenchmarkPage,
  signal: AbortSignal,
): Promise<ReadonlyMap<Name, ProbeResult>> {
  const list = async (query: ListQuery) => benchmarkIds(await service.call('listBenchmarks', { query }, { signal }));
  const { ids: first, next } = benchmarkIds(one);
  const any = await list({}).catch(() => undefined);
  const [benchmark] = any?.ids ?? [];
  const hasMany = (any?.ids.length ?? 0) > 1;
  const probes: readonly (readonly [readonly Name[], () => Promise<ProbeResult>])[] = [
    [['query.limit'], async () => (first.length > 1 ? 'ignored' : hasMany ? 'works' : undefined)],
    [
      ['query.cursor'],
      async () => {
        if (next === undefined || first[0] === undefined) return undefined;
        return (await list({ limit: 1, cursor: next })).ids[0] === first[0] ? 'ignored' : 'works';
      },
    ],
    [
      ['query.search'],
      async () => {
        if (benchmark === undefined) return undefined;
        return (await list({ search: absentText })).ids.length === 0 ? 'works' : 'ignored';
      },
    ],
    [
      ['query.sort', 'query.order'],
      async () => {
        const [up, down] = await Promise.all(
          (['asc', 'desc'] as const).map(order => list({ limit: 1, sort: 'created_at', order })),
        );
        return up?.ids[0] !== down?.ids[0] ? 'works' : undefined;
      },
    ],
    [['query.include_steps'], () => probeSteps(service, signal)],
    [
      ['path.listBenchmarkImages'],
      async () => {
        if (benchmark === undefined) return undefined;
        const memory = RememberedStore.inMemory('doctor');
        await imageList(benchmark).readPage({ service, signal, memory, query: {} });
        return 'works';
      },
    ],
  ];
  const answers = probes.map(async ([names, probe]) => {
    const shown = await resultOf(probe);
    return names.map(name => [name, shown] as const);
  });
  return new Map((await Promise.all(answers)).flat());
}

/**
 * A finding for each assumption. Assumptions with the same result share a line.
 *
 * @param set the assumptions that the profile sets
 * @param one a page of at most one benchmark
 */
export async function assumptionFindings(
  service: Service,
  set: Readonly<Record<string, string>>,
  one: BenchmarkPage,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const about = 'assumptions';
  const probed = await probeAll(service, one, signal);
  const known = [...Object.keys(defaultAssumptions), ...assumedPaths.map(operation => `path.${operation}`)];
  const names = [...new Set([...known, ...Object.keys(set)])] as Name[];
  /** Users know a parameter by its own name, not by the setting's. */
  const shown = (name: Name): string => {
    const [value, known] = [own(set, name), name.replace(/^query\./, '')];
    return value === undefined ? known : `${known} (${value}, set in the profile)`;
  };
  const finding = (state: Finding['state'], words: string, which: (name: Name) => boolean): Finding[] => {
    const listed = names.filter(which).map(shown);
    return listed.length === 0 ? [] : [{ about, state, words: `${words} ${listed.join(', ')}` }];
  };
  const wrong = names.flatMap((name): Finding[] => {
    const answer = probed.get(name);
    if (answer === 'ignored' && name === 'query.include_steps') {
      return [
        { about, state: 'note', words: `the service sends all steps of a trajectory: it ignores ${shown(name)}.` },
      ];
    }
    if (answer === 'ignored') {
      const advice = `If the service has another name for it, run '${setsName(name, 'NAME')}'.`;
      return [{ about, state: 'warn', words: `the service ignores ${shown(name)}. ${advice}` }];
    }
    if (typeof answer !== 'object') return [];
    return [{ about, state: 'warn', words: `the service refuses ${shown(name)}: ${answer.refused}` }];
  });
  return [
    ...wrong,
    ...finding('ok', 'the service supports', name => probed.get(name) === 'works'),
    ...finding(
      'note',
      "could not determine from the service's lists whether it supports",
      name => probed.has(name) && probed.get(name) === undefined,
    ),
    ...finding('note', 'not tested, because a test would need a write or a chat:', name => !probed.has(name)),
  ];
}
