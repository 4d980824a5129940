/** A search through trajectories, with its hits so far. */
import { useEffect, useMemo, useState } from 'react';
import { countHits, describeTally } from '../../../present/tallies.ts';
import { rowsMadeElsewhere } from '../../../queries/lists/list-source.ts';
import { recordPlace } from '../../../resources/define.ts';
import { type Place, placeKey } from '../../../resources/place.ts';
import { describeSearch, hitColumns, hitFacts } from '../../../resources/text-hits.ts';
import { maxSearched, type TextHit, TextSearch, type TextSearchState } from '../../../resources/text-search.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { parseLineSearch } from '../../../text/line-search.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { usePane } from '../../app/view.tsx';
import { workPart } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useKeyOf } from '../../keys/router.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { searchCommands } from '../commands.ts';
import { ResourceList } from '../list/resource-list.tsx';
import { useRolloutList } from '../tasks/use-rollout-list.ts';
import { TrajectoryPreview } from '../trajectories/preview.tsx';
import { pagesOf } from './pages.ts';

/** How often the rows are updated during a search, in milliseconds. */
const updateMs = 250;
/** Maximum lines for each part of the header. */
const maxLines = 4;

interface Shown {
  readonly state: TextSearchState;
  readonly counts: ReturnType<typeof countHits>;
  /** Maximum number of trajectories to search. */
  readonly most: number;
}

/** Runs the search, and keeps its result for when the user comes back. */
function useTextSearch(place: Place<'search'>) {
  const workbench = useWorkbench();
  const key = useMemo(() => ['text-search', placeKey(place)], [place]);
  const [shown, show] = useState(() => workbench.cache.getQueryData<Shown>(key));
  const [run, setRun] = useState({ count: 0, most: shown?.most ?? maxSearched, stop: () => {} });
  const { count: runs, most } = run;
  useEffect(() => {
    if (runs === 0 && workbench.cache.getQueryData(key) !== undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const search = parseLineSearch(place.query);
    if (!search.ok) return undefined;
    let timer: NodeJS.Timeout | undefined;
    void workbench.service().then(async service => {
      const pages = pagesOf(workbench, place, signal);
      const work = new TextSearch({ search, pages, index: workbench.texts, most, context: { service, signal } });
      const update = (): void => {
        timer = undefined;
        const state = work.state();
        const next = { state, counts: countHits(work.searched, state.hits), most };
        show(next);
        if (state.phase === 'done') workbench.cache.setQueryData(key, next);
      };
      const stopListening = work.subscribe(() => {
        timer ??= setTimeout(update, updateMs);
      });
      setRun(before => ({ ...before, stop: () => controller.abort() }));
      await work.run();
      stopListening();
      clearTimeout(timer);
      update();
    });
    return () => controller.abort();
  }, [workbench, key, place, runs, most]);
  return {
    shown,
    stop: run.stop,
    again: (more = 0) => setRun(before => ({ ...before, count: before.count + 1, most: before.most + more })),
  };
}

export function SearchView({ place: given }: ViewProps<'search'>) {
  // A view shows one place from mount to unmount.
  const [place] = useState(given);
  const { view: _, query: __, ...texts } = place;
  const pane = usePane('main');
  const { styles } = useTheme();
  const keyOf = useKeyOf();
  const source = useMemo(
    () => rowsMadeElsewhere<TextHit>(['text-search', 'hits', placeKey(place)], row => row.trajectory_id),
    [place],
  );
  const { shown, stop, again } = useTextSearch(place);
  const hits = shown?.state.hits ?? noHits;
  const list = useRolloutList(hitColumns, hitFacts, hits);
  const isRunning = shown !== undefined && (shown.state.phase === 'listing' || shown.state.phase === 'searching');
  const canGoOn = !isRunning && shown !== undefined && shown.state.beyond > 0;
  const width = pane.width - 2;
  const search = parseLineSearch(place.query);
  const title = truncate(sanitiseLine(`${place.query} in ${place.label}`), width);
  const lines = (text: string): string[] => wrap(sanitiseLine(text), width).slice(0, maxLines);
  return (
    <ResourceList<TextHit>
      name="search"
      source={source}
      rows={hits}
      {...list}
      parts={[workPart(() => again(), !shown || isRunning)]}
      emptyText={describeEmpty(shown?.state, search.ok ? undefined : search.error)}
      open={({ trajectory_id, task_id, place: at, hidden }) => ({
        ...recordPlace(trajectories, trajectory_id, task_id ?? undefined),
        ...(search.ok && { found: { query: hidden ? undefined : search.highlighted, place: at } }),
      })}
      preview={TrajectoryPreview}
      texts={texts}
      refOf={({ trajectory_id, task_id }) => ({ label: task_id ?? trajectory_id })}
      bindings={[
        { command: searchCommands.stop, enabled: isRunning, run: stop },
        { command: searchCommands.more, enabled: canGoOn, run: () => again(maxSearched) },
      ]}
      header={[
        styles.title(title),
        ...(shown
          ? lines(describeSearch(shown.state, `${keyOf(searchCommands.more)} searches ${maxSearched} more`))
          : []),
        ...(shown && hits.length > 0
          ? [
              ...lines(`by reward  ${describeTally(shown.counts.by_reward)}`),
              ...lines(`by end  ${describeTally(shown.counts.by_end)}`),
            ].map(styles.muted)
          : []),
        '',
      ]}
    />
  );
}

const noHits: readonly TextHit[] = [];

function describeEmpty(state: TextSearchState | undefined, error: string | undefined): string {
  if (error !== undefined) return error;
  if (state === undefined || state.phase === 'listing' || state.phase === 'searching') return 'Searching';
  return state.phase === 'done' ? 'No line matches' : 'The search did not finish';
}
