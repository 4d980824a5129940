/** The columns of a list of rollouts with their questions and answers, where these are known. */
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { inParallel } from '../../../base/in-parallel.ts';
import { own } from '../../../base/own-property.ts';
import { isRunning } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import type { Column } from '../../../present/column.ts';
import { type RolloutTexts, textColumns, textsOf } from '../../../present/rollout-texts.ts';
import { columnsIn } from '../../../present/row-filter.ts';
import { optionsOf } from '../../../queries/live-query.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { storedTexts } from '../../../resources/stored-text.ts';
import { counted } from '../../../text/numbers.ts';
import { previewKeptMs } from '../../data/use-preview-data.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useKeyOf } from '../../keys/router.tsx';
import type { TableState } from '../../widgets/table/table-state.ts';
import type { Table } from '../../widgets/table/use-table.ts';
import { searchCommands } from '../commands.ts';
import { maxSteps } from '../trajectories/preview.tsx';
import { readTextsOf } from './read-texts.ts';
import type { Rollout } from './rollout-bindings.ts';

/** Up to this many rollouts of a file, which take no request to a service, are read without being asked for. */
const maxOfFile = 2_000;

/** How long rows must be visible before they are read, in milliseconds. */
const restMs = 300;

const textIds: readonly string[] = textColumns(() => undefined).map(({ id }) => id);

/** Adds the text columns before the id, if there are none. */
function withTextColumns<Row extends object>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  if (columns.some(({ id }) => textIds.includes(id))) return columns;
  const last = columns.findIndex(({ id }) => id === 'id');
  return columns.toSpliced(last === -1 ? columns.length : last, 0, ...textColumns<Row>(textsOf));
}

const namesTexts = <Row>(filter: string, columns: readonly Column<Row>[]): boolean =>
  columnsIn(filter, columns).some(column => column && textIds.includes(column.id));

/** Whether the user chose a text column, or filters or sorts by one. */
const isAskedFor = <Row>({ choice, filter, sort }: TableState, columns: readonly Column<Row>[]): boolean =>
  textIds.some(id => own(choice, id)?.shown || sort?.column === id) || namesTexts(filter, columns);

type Listed = Pick<Trajectory, 'status' | 'num_steps'>;

const withId = ({ trajectory_id, ...row }: Rollout & Partial<Listed>): readonly Trajectory[] =>
  trajectory_id ? [{ ...row, trajectory_id }] : [];

/** The rollouts to read for their texts: large ones, and ones that still run, are left to the user. */
const readableIds = <Row extends Rollout>(rows: readonly Row[], known: ReadonlyMap<string, RolloutTexts>): string[] =>
  rows.flatMap(row => {
    const { trajectory_id: id, status, num_steps }: Rollout & Partial<Listed> = row;
    const isKnown = !id || known.has(id) || textsOf(row) !== undefined;
    return isKnown || isRunning(status) || (num_steps ?? 0) > maxSteps ? [] : id;
  });

/**
 * Each rollout's texts take a request, so a list has only the texts that were read or searched before. While the user
 * asks for a text column, or if they are from a file, the visible rows are read.
 *
 * @param inherited the filter of another list of these rows, for a view that does not show the rows
 */
export function useRolloutTexts<Row extends Rollout>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  inherited?: string,
) {
  const workbench = useWorkbench();
  const keyOf = useKeyOf();
  const readTexts = readTextsOf(workbench);
  const all = useSyncExternalStore(readTexts.subscribe, readTexts.all);
  const isListed = rows.length > 0;
  const first = useRef(rows);
  first.current = rows;
  useEffect(() => {
    // An earlier search may have stored the texts of these rollouts.
    if (isListed) readTexts.add(storedTexts(first.current.flatMap(withId), workbench.texts));
  }, [isListed, readTexts, workbench]);
  const [isWanted, setWanted] = useState(() => inherited !== undefined && namesTexts(inherited, columns));
  const count = useMemo(
    () => rows.filter(row => all.has(row.trajectory_id ?? '') || textsOf(row) !== undefined).length,
    [rows, all],
  );
  const isOfFile = workbench.file !== undefined && rows.length <= maxOfFile;
  const hasMost = isListed && (isOfFile || 2 * count >= rows.length);
  // Otherwise, each text that is read would arrange all rows again for a column that nobody sees.
  const known = isWanted || hasMost ? all : undefined;
  const withTexts = useMemo(() => {
    if (!known) return columns;
    const textsIn = (row: Row): RolloutTexts | undefined => textsOf(row) ?? known.get(row.trajectory_id ?? '');
    const asRead = (column: Column<Row>): Column<Row> => ({
      ...column,
      value: row => textsIn(row)?.[column.id as keyof RolloutTexts] || undefined,
      isUnread: row => textsIn(row) === undefined,
      ...(hasMost && { hidden: false, wide: true, ifAny: true }),
    });
    return withTextColumns(columns).map(column => (textIds.includes(column.id) ? asRead(column) : column));
  }, [columns, known, hasMost]);
  const onShown = useReadInSight(columns, setWanted, isOfFile);
  const isPart = isWanted && count < rows.length;
  const inSight = inherited === undefined ? 'visible rows are read; ' : '';
  const words = `The texts of ${count} of ${counted(rows.length, 'rollout')} are known: ${inSight}a search (${keyOf(searchCommands.texts)}) reads all`;
  return { columns: withTexts, onShown, notes: isPart ? [words] : [] };
}

/** Reads the visible rows once scrolling stops, always or while the user asks for their texts. */
function useReadInSight<Row extends Rollout>(
  columns: readonly Column<Row>[],
  onAsked: (isAsked: boolean) => void,
  always: boolean,
) {
  const workbench = useWorkbench();
  const readTexts = readTextsOf(workbench);
  const reading = useRef<AbortController>(undefined);
  useEffect(() => () => reading.current?.abort(), []);
  return useCallback(
    ({ shown, state }: Pick<Table<Row>, 'shown' | 'state'>): void => {
      reading.current?.abort();
      const isAsked = isAskedFor(state, columns);
      onAsked(isAsked);
      if (!(isAsked || always) || workbench.paused) return;
      const controller = new AbortController();
      const { signal } = controller;
      reading.current = controller;
      setTimeout(() => {
        if (signal.aborted) return;
        void inParallel(readableIds(shown, readTexts.all()), async id => {
          if (signal.aborted) return;
          await workbench.cache.prefetchQuery({ ...optionsOf(workbench, trajectoryQuery(id)), gcTime: previewKeptMs });
        });
      }, restMs);
    },
    [columns, onAsked, workbench, readTexts, always],
  );
}
