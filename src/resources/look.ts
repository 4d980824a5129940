/** The state of a resource without a screen, for commands. */
import { isRunning } from '../contract/status.ts';
import type { AnyQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { rememberedAt } from '../queries/remembered/seen.ts';
import type { ResourceRef } from '../queries/remembered/store.ts';
import { type KnownResource, knownResource, type Observation } from '../queries/statuses/store.ts';
import { isNotOffered, mayLackPath } from '../service/errors.ts';
import { resourceOfKind } from './catalogue.ts';
import { heldOutWords } from './training.ts';

/** Reads a query once without a cache, and remembers what it says. @throws ServiceError */
export async function saidBy(query: AnyQuery, context: QueryContext): Promise<Observation | undefined> {
  const data = await query.read(context);
  const said = query.observes?.(data as never);
  // The last known state is not the current one.
  const isPast = typeof data === 'object' && data !== null && rememberedAt(data) !== undefined;
  if (said && !isPast) context.memory.see([said]);
  return said && isPast && isRunning(said.status) ? { ...said, status: undefined } : said;
}

/** The state of a resource as a command says it. */
export interface LookedAt extends KnownResource {
  /** The newest held-out reward with its interval, in words. */
  readonly heldOut: string | undefined;
}

/** How much is done where so many rewards were read beside it: what has a reward is done, also if it was read later. */
export function doneWith(done: number | undefined, graded: number | undefined): number | undefined {
  return done === undefined ? undefined : Math.max(done, graded ?? 0);
}

/**
 * Reads the current state of a resource without a screen. Parts that the service does not offer are left out. The id is
 * that of the returned record, which may differ from the requested one.
 *
 * @throws ServiceError if one of the reads fails
 */
export async function lookAt(ref: ResourceRef, context: QueryContext): Promise<LookedAt> {
  // A run's record may be older than its progress: the first read with a status counts.
  const { details, measures, status } = resourceOfKind(ref.kind)?.watch ?? {};
  const queries = [
    ...(details?.(ref.id) ?? []),
    ...(measures?.(ref.id) ?? []),
    ...(status?.(ref.id).toReversed() ?? []),
  ];
  const reads = new Map(queries.map(query => [JSON.stringify(query.key), query]));
  let refusal: unknown;
  const answers = await Promise.all(
    [...reads.values()].map(async query => {
      try {
        return await saidBy(query, context);
      } catch (error) {
        if (mayLackPath(error)) refusal = error;
        else if (!isNotOffered(error)) throw error;
        return undefined;
      }
    }),
  );
  // If another read found it, it exists.
  if (refusal !== undefined && answers.every(answer => answer === undefined)) throw refusal;
  const said = answers.filter(answer => answer !== undefined);
  const { id = ref.id } = said.find(({ id }) => id !== undefined && id !== ref.id) ?? {};
  const known = knownResource({ ...ref, id, label: ref.label === ref.id ? id : ref.label }, said);
  const last = known.measured?.last;
  const done = doneWith(known.done, known.graded);
  return { ...known, done, heldOut: last && heldOutWords(last, context.compare?.rewardRange) };
}
