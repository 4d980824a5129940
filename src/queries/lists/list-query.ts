/** The query of a list. */

import { cachedQuery, type LiveQuery } from '../live-query.ts';
import type { QueryHost } from '../query-host.ts';
import type { ListData, ListSource } from './list-source.ts';
import { pagesPerHiddenPoll, pagesPerPoll } from './reader.ts';

/** The newer of two states of a list. An answer may arrive before an older one is on screen. */
function newer<Row>(previous: ListData<Row> | undefined, answer: ListData<Row>): ListData<Row> {
  return previous && previous.version > answer.version ? previous : answer;
}

/** The query of a list: all callers share one reader with its pages. */
export function listQuery<Row>(host: QueryHost, source: ListSource<Row>): LiveQuery<ListData<Row>> {
  const reader = host.lists.of(source);
  return {
    key: source.key,
    // Rows read long ago may be outdated.
    reports: {
      observes: source.observes,
      rows: () => reader.live().slice(0, source.observesFirst) as object[],
      news: () => reader.news(source.observesFirst) as object[],
      onlyNames: source.onlyNames,
      partOf: source.partOf,
    },
    activity: () => reader.activity(source),
    read: context => {
      const isShown = cachedQuery(host, source.key)?.isActive() ?? false;
      return reader.poll(context, isShown ? pagesPerPoll : pagesPerHiddenPoll);
    },
    share: newer,
  };
}

/** Whether a list holds all the service's rows. */
export const isWhole = (data: ListData<unknown> | undefined): boolean =>
  data?.complete === true && data.dropped === 0 && data.remembered_at === undefined;
