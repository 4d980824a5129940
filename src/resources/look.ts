/** Reads a resource's state for commands. */
import { hasEnded, isRunning } from '../contract/status.ts';
import { defaultRange } from '../present/statistics/interval.ts';
import { isBeyond } from '../present/statistics/tasks.ts';
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
import { noIntervalOutside } from './run-mean.ts';

/** An observation, and whether it is remembered, so that it may be out of date. */
interface Read {
  readonly observation: Observation;
  readonly isPast: boolean;
}

/** Reads a query without a cache. @throws ServiceError */
async function readOnce(query: AnyQuery, context: QueryContext): Promise<Read | undefined> {
  const data = await readShared(query, context);
  const observation = query.observes?.(data as never);
  if (!observation) return undefined;
  const isPast = typeof data === 'object' && data !== null && rememberedAt(data) !== undefined;
  return {
    observation: isPast && isRunning(observation.status) ? { ...observation, status: undefined } : observation,
    isPast,
  };
}

const remember = (reads: readonly Read[], { memory }: QueryContext): void =>
  rememberObserved(
    memory,
    reads.filter(({ isPast }) => !isPast).map(({ observation }) => observation),
  );

/** Reads a query without a cache, and remembers its observation. @throws ServiceError */
export async function observeOnce(query: AnyQuery, context: QueryContext): Promise<Observation | undefined> {
  const read = await readOnce(query, context);
  if (read) remember([read], context);
  return read?.observation;
}

/** A resource's state, as commands report it. */
export interface CurrentState extends KnownResource {
  /** The newest held-out reward with its interval, in words. */
  readonly heldOut: string | undefined;
  /** The best held-out reward with its interval, in words. */
  readonly bestHeldOut: string | undefined;
  /** Why the newest held-out reward has no interval, if it lies outside the range of rewards. */
  readonly noInterval: string | undefined;
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
  const found: (Read | undefined)[] = [];
  /** The reads so far: once one of them says the end, what others say of the time before it does not count. */
  const consistent = (): readonly Read[] => {
    const all = found.filter(read => read !== undefined);
    const isOver = endsForGood === true && all.some(({ observation }) => hasEnded(observation.status));
    const takesBack = ({ observation }: Read): boolean => isOver && isRunning(observation.status);
    return all.map(read => (takesBack(read) ? { ...read, observation: beforeEnd(read.observation) } : read));
  };
  try {
    await Promise.all(
      [...reads.values()].map(async (query, index) => {
        try {
          found[index] = await readOnce(query, context);
        } catch (error) {
          if (mayLackPath(error)) refusal = error;
          else if (error instanceof ResponseError) unreadable.push(error);
          else if (!isNotOffered(error)) throw error;
        }
      }),
    );
  } finally {
    remember(consistent(), context);
  }
  const current = consistent().map(({ observation }) => observation);
  // If another read succeeded, the resource exists.
  if (refusal !== undefined && current.length === 0) throw refusal;
  const [first] = unreadable;
  if (first && !current.some(({ status: said }) => said != null)) throw first;
  const known = withLateMeans(knownResource(ref, current), readAt);
  const { measured, failedRounds } = known;
  const { last, best } = measured ?? {};
  const done = doneWith(known.done, known.graded);
  const { rewardRange: range = defaultRange } = context.compare ?? {};
  const heldOut = last
    ? describeHeldOut(last, range)
    : failedRounds && !failedRounds.isUnfinished
      ? describeFailedRounds(failedRounds)
      : undefined;
  return {
    ...known,
    done,
    heldOut,
    noInterval: last && isBeyond(last.reward, range) ? noIntervalOutside(range) : undefined,
    bestHeldOut: best && describeBest(best, range),
    heldOutFields: heldOutFields(measured, range, failedRounds),
    unreadable: unreadable.map(({ message }) => message),
  };
}
