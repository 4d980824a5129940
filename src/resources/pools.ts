/** Pools runs of one model whose options differ only in the seed. */
import { enumerated } from '../base/enumerated.ts';
import { orderedJson } from '../base/ordered-json.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { seedOption } from '../present/start-name.ts';
import { sentOptionsIn } from '../store/seen.ts';
import { clean } from '../text/sanitise.ts';
import type { NamedRun, Place } from './place.ts';

/** A run's options, from its record or as this machine sent them. */
export const optionsOf = (run: EvalRun): Readonly<Record<string, unknown>> | undefined =>
  run.options ?? sentOptionsIn(run);

/**
 * Equal for runs with the same benchmark, tasks, model, checkpoint and options except the seed. Undefined if neither
 * the service nor this machine knows the model or the options: a variant must not be mistaken for another seed.
 */
export function likenessOf(run: EvalRun): string | undefined {
  const { bench_id, base_model_slug: model, parent_checkpoint_id: checkpoint, split, agent_id } = run;
  const known = optionsOf(run);
  if ((!model && !checkpoint) || !known) return undefined;
  const options = Object.entries(known).filter(([name, value]) => name !== seedOption && value != null);
  return orderedJson([bench_id, model, checkpoint, split, agent_id, Object.fromEntries(options)]);
}

/** Why a pool's tasks cannot be opened. */
export const pooledReason = 'It combines several runs';

/** The ids of all runs in a pool. */
export const idsOf = ({ id, pool = [id] }: Pick<NamedRun, 'id' | 'pool'>): readonly string[] => pool;

/** `words seed 1 +2` for a run that stands for a pool of three. */
export const withPool = (name: string, pool: readonly string[] = []): string =>
  pool.length > 1 ? `${name} +${pool.length - 1}` : name;

/** The runs of each likeness and seed. A run without a known seed is alone: a service may choose another for each. */
function runsBySeed(runs: readonly NamedRun[]): readonly (readonly NamedRun[])[] {
  const groups = Map.groupBy(runs, ({ id, likeness, options }) => {
    const seed = options?.[seedOption];
    return likeness === undefined || seed == null ? id : orderedJson([likeness, String(seed)]);
  });
  return [...groups.values()];
}

/** Says which runs have the same seed; empty if none do. */
export const describeSameSeed = (runs: readonly NamedRun[]): string =>
  runsBySeed(runs)
    .filter(({ length }) => length > 1)
    .map(same => clean`${enumerated(same.map(({ id }) => id))} have the same seed, and are not pooled with each other`)
    .join('. ');

/**
 * Pools similar runs under the name of the first one, e.g. `words seed 1 +2`. Keeps the order. Runs of the same seed may
 * have the same answers, which are not further samples: the second of each seed is in another pool than the first.
 */
export function pooledRuns(runs: readonly NamedRun[]): readonly NamedRun[] {
  const places = new Map(runsBySeed(runs).flatMap(same => same.map(({ id }, index) => [id, index] as const)));
  const pools = Map.groupBy(runs, ({ id, likeness }) =>
    likeness === undefined ? id : orderedJson([likeness, places.get(id)]),
  );
  return [...pools.values()].flatMap(([first, ...more]) => {
    if (!first || more.length === 0) return first ?? [];
    const { likeness: _, ...run } = first;
    const { [seedOption]: __, ...options } = first.options ?? {};
    const pool = [first, ...more].map(({ id }) => id);
    return { ...run, options, name: withPool(first.name, pool), pool };
  });
}

/** Why there are no pools to compare; undefined if there are. */
export function poolingProblem(runs: readonly NamedRun[]): string | undefined {
  if (runs.some(({ pool }) => pool)) return 'The runs that differ only in the seed are pooled already';
  const { length } = pooledRuns(runs);
  if (length === runs.length) return 'No two of these runs differ only in the seed, so none are pooled';
  return length === 1 ? 'All of these runs are pooled into one: name another run to compare it with' : undefined;
}

/** A comparison of the pools; undefined if there is nothing to pool or compare. */
export function pooledPlace(runs: readonly NamedRun[], baseId: string): Place<'compare' | 'compare-many'> | undefined {
  const pools = pooledRuns(runs);
  const base = pools.find(pool => idsOf(pool).includes(baseId));
  const [fresh, ...more] = pools.filter(pool => pool !== base);
  if (!base || !fresh || pools.length === runs.length) return undefined;
  return more.length === 0
    ? { view: 'compare', base, new: fresh }
    : { view: 'compare-many', runs: pools, base: base.id };
}
