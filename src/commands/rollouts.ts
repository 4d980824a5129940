/** Reads all rollouts of a run, a training run or a dataset. */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { evalProgressQuery } from '../queries/evaluations.ts';
import { readTrajectoryRewards } from '../queries/run-rewards.ts';
import { withRewards } from '../queries/trajectories.ts';
import type { Scope } from '../resources/place.ts';
import { isNotOffered } from '../service/errors.ts';
import { type Found, findAmong, pagesOf, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import type { CommandContext } from './with-service.ts';

export interface FoundRollouts extends Found {
  readonly rows: readonly Trajectory[];
  /** The number of rollouts of an ended run, if the service reports it. */
  readonly total: number | undefined;
}

function scopeOf({ resource, id, row }: Found): Scope {
  const [name] = resource.names;
  if (name === 'runs') return { run: id };
  return name === 'training' ? { training: id } : { dataset: resource.scopeValue?.(row) ?? id };
}

/** @throws CommandError if there is nothing with this id or name; ServiceError */
export async function readRollouts(
  word: string,
  among: readonly string[],
  context: CommandContext,
  io: CommandIo,
): Promise<FoundRollouts> {
  const found = await findAmong(among.map(resourceOrThrow), word, context);
  const scope = scopeOf(found);
  const rows: Trajectory[] = [];
  let notes: readonly string[] = [];
  for await (const page of pagesOf(resourceOrThrow('trajectories'), scope, context)) {
    rows.push(...(page.rows as readonly Trajectory[]));
    ({ notes } = page);
  }
  for (const note of notes) io.note(`${note}.`);
  if (scope.run === undefined) return { ...found, rows, total: undefined };
  const rewards = await readTrajectoryRewards(scope.run, context);
  return { ...found, rows: withRewards(rows, rewards), total: await totalOf(found, context) };
}

async function totalOf({ id, row }: Found, context: CommandContext): Promise<number | undefined> {
  if (!hasEnded((row as EvalRun).status)) return undefined;
  try {
    return (await evalProgressQuery(id).read(context)).total_rollouts ?? undefined;
  } catch (error) {
    if (!isNotOffered(error)) throw error;
    return undefined;
  }
}
