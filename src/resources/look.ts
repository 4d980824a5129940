/** Reads a resource's state for commands. */
import { hasEnded, isRunning } from '../contract/status.ts';
import { doneWith } from '../queries/evaluations.ts';
import type { AnyQuery } from '../queries/live-query.ts';
import { type QueryContext, readShared } from '../queries/query-context.ts';
import { rememberObserved } from '../queries/remembered-fallback.ts';
import {
  beforeEnd,
  type KnownResource,
  knownResource,
  type Observation,
  withLateMeans,
} from '../queries/statuses/known-resource.ts';
import { isNotOffered, mayLackPath, ResponseError } from '../service/errors.ts';
import { rememberedAt } from '../store/seen.ts';
import type { ResourceRef } from '../store/store.ts';
import { resourceOfKind } from './catalogue.ts';
import { describeBest, describeFailedRounds, describeHeldOut } from './describe-held-out.ts';
import { heldOutFields } from './held-out-fields.ts';

/** Reads a query without a cache, and remembers its observations. @throws ServiceError */
export async function observeOnce(query: AnyQuery, context: QueryContext): Promise<Observation | undefined> {
  const data = await readShared(query, context);
  const observation = query.observes?.(data as never);
  // A remembered state may be out of date.
  const isPast = typeof data === 'object' && data !== null && rememberedAt(data) !== undefined;
  if (observation && !isPast) rememberObserved(context.memory, [observation]);
  return observation && isPast && isRunning(observation.status) ? { ...observation, status: undefined } : observation;
}

/** A resource's state, as commands report it. */
export interface CurrentState extends KnownResource {
  /** The newest held-out reward with its interval, in words. */
  readonly heldOut: string | undefined;
  /** The best held-out reward with its interval, in words. */
  readonly bestHeldOut: string | undefined;
  /** Both rewards as JSON fields. */
  readonly heldOutFields: ReturnType<typeof heldOutFields>;
  /** Messages about unreadable responses, which were left out. */
  readonly unreadable: readonly string[];
}

/**
 * Reads the current state of a resource. Leaves out parts that the service does not offer, and unreadable responses if
 * another one contains the status.
 *
 * @throws ServiceError if one of the reads fails
 */
export async function lookAt(ref: ResourceRef, context: QueryContext): Promise<CurrentState> {
  // A run's record may be older than its progress, so the last observation with a status wins, if none says the end.
  const { details, measures, status, endsForGood } = resourceOfKind(ref.kind)?.watch ?? {};
  const queries = [
    ...(details?.(ref.id) ?? []),
    ...(measures?.(ref.id) ?? []),
    ...(status?.(ref.id).toReversed() ?? []),
  ];
  const reads = new Map(queries.map(query => [JSON.stringify(query.key), query]));
  const readAt = Date.now();
  let refusal: unknown;
  const unreadable: ResponseError[] = [];
  const answers = await Promise.all(
    [...reads.values()].map(async query => {
      try {
        return await observeOnce(query, context);
      } catch (error) {
        if (mayLackPath(error)) refusal = error;
        else if (error instanceof ResponseError) unreadable.push(error);
        else if (!isNotOffered(error)) throw error;
        return undefined;
      }
    }),
  );
  // If another read succeeded, the resource exists.
  if (refusal !== undefined && answers.every(answer => answer === undefined)) throw refusal;
  const observations = answers.filter(answer => answer !== undefined);
  const [first] = unreadable;
  if (first && !observations.some(answer => answer.status != null)) throw first;
  const isOver = endsForGood === true && observations.some(answer => hasEnded(answer.status));
  const current = observations.map(answer => (isOver && isRunning(answer.status) ? beforeEnd(answer) : answer));
  const known = withLateMeans(knownResource(ref, current), readAt);
  const { measured, failedRounds } = known;
  const { last, best } = measured ?? {};
  const done = doneWith(known.done, known.graded);
  const range = context.compare?.rewardRange;
  const heldOut = last
    ? describeHeldOut(last, range)
    : failedRounds && !failedRounds.isUnfinished
      ? describeFailedRounds(failedRounds)
      : undefined;
  return {
    ...known,
    done,
    heldOut,
    bestHeldOut: best && describeBest(best, range),
    heldOutFields: heldOutFields(measured, range, failedRounds),
    unreadable: unreadable.map(({ message }) => message),
  };
}
