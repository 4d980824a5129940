/** The query that reads a list. */

import { isWhole } from '../../store/lists.ts';
import { cachedQuery, type LiveQuery } from '../live-query.ts';
import type { QueryHost } from '../query-host.ts';
import { runningOf } from '../statuses/store.ts';
import type { ListData, ListSource } from './list-source.ts';
import { type ListReader, pagesPerHiddenPoll, pagesPerPoll } from './reader.ts';

/** The newer of two versions of a list. */
function newerList<Row>(previous: ListData<Row> | undefined, answer: ListData<Row>): ListData<Row> {
  return previous && previous.version > answer.version ? previous : answer;
}

/** If more resources than this are running, lists are polled less often, because each resource is polled too. */
export const fewRunning = 10;

/** A list's shortest poll interval, in milliseconds; longer if a poll takes many requests. */
export function leastMsOf<Row>({ poll, statuses }: QueryHost, { source, cost }: ListReader<Row>): number {
  if (source.derived) return 0;
  return cost * (runningOf(statuses).length > fewRunning ? poll.visibleMs : poll.focusedMs);
}

/** The query that reads a list. All callers share one reader with its pages. */
export function listQuery<Row>(host: QueryHost, source: ListSource<Row>): LiveQuery<ListData<Row>> {
  const reader = host.lists.of(source);
  return {
    key: source.key,
    // Report only rows from the last poll: others may be out of date.
    reports: {
      observes: source.observes,
      rows: () => reader.live().slice(0, source.observesFirst) as object[],
      news: () => reader.news(source.observesFirst) as object[],
      onlyNames: source.onlyNames,
      partOf: source.partOf,
      all: () =>
        source.all !== undefined && isWhole(reader.data)
          ? { kind: source.all, ids: new Set(reader.data.rows.map(source.id)) }
          : undefined,
    },
    activity: () => reader.activity(source),
    leastMs: () => leastMsOf(host, reader),
    read: context => {
      const isShown = cachedQuery(host, source.key)?.isActive() ?? false;
      return reader.poll(context, isShown ? pagesPerPoll : pagesPerHiddenPoll);
    },
    share: newerList,
  };
}
