/**
 * `doctor`'s findings about each assumption. Reads verify some of them; verifying the rest would take a write or a
 * chat, which a check must not send.
 */

import { own } from '../base/own-property.ts';
import { type AssumptionName, assumedPaths, defaultAssumptions } from '../contract/assumptions.ts';
import type { Benchmark } from '../contract/benchmarks.ts';
import type { ListQuery, Page } from '../contract/common.ts';
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

const idsOf = ({ items }: Pick<Page<Benchmark>, 'items'>): string[] => items.map(({ bench_id }) => bench_id);

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
  one: Page<Benchmark>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ProbeResult>> {
  const list = async (query: ListQuery) => idsOf(await service.call('listBenchmarks', { query }, { signal }));
  const any = await list({}).catch(() => []);
  const [benchmark] = any;
  const [first] = idsOf(one);
  const order = resultOf(async () => {
    const [up, down] = await Promise.all(
      (['asc', 'desc'] as const).map(each => list({ limit: 1, sort: 'created_at', order: each })),
    );
    return up?.[0] !== down?.[0] ? 'works' : undefined;
  });
  const results: Partial<Record<Name, ProbeResult | Promise<ProbeResult>>> = {
    'query.limit': one.items.length > 1 ? 'ignored' : any.length > 1 ? 'works' : undefined,
    'query.cursor': resultOf(async () => {
      const { next_cursor: cursor } = one;
      if (cursor === null || first === undefined) return undefined;
      return (await list({ limit: 1, cursor }))[0] === first ? 'ignored' : 'works';
    }),
    'query.search': resultOf(async () => {
      if (benchmark === undefined) return undefined;
      return (await list({ search: absentText })).length === 0 ? 'works' : 'ignored';
    }),
    'query.sort': order,
    'query.order': order,
    'query.include_steps': resultOf(() => probeSteps(service, signal)),
    'path.listBenchmarkImages': resultOf(async () => {
      if (benchmark === undefined) return undefined;
      const memory = RememberedStore.inMemory('doctor');
      await imageList(benchmark).readPage({ service, signal, memory, query: {} });
      return 'works';
    }),
  };
  return new Map(
    await Promise.all(Object.entries(results).map(async ([name, result]) => [name, await result] as const)),
  );
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
  one: Page<Benchmark>,
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
