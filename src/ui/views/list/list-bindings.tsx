/** A list's keys: for the row under the cursor or the marked rows, for related places, and for the columns. */
import { type Column, type ColumnChoice, exportColumns } from '../../../present/column.ts';
import type { Waiter } from '../../../queries/lists/read-all.ts';
import { resourceOfKind } from '../../../resources/catalogue.ts';
import type { ResourceRef } from '../../../store/store.ts';
import { useErrorBindings } from '../../app/error-note.tsx';
import { useShell } from '../../app/shell-context.tsx';
import { usePane } from '../../app/view.tsx';
import type { PagedList } from '../../data/use-list.ts';
import { useSetting } from '../../data/workbench.tsx';
import { listCommands } from '../../keys/general.ts';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import { searchCommands } from '../commands.ts';
import type { ExportableRows } from '../record/export-window.tsx';
import type { ExportTitle } from '../record/save-file.ts';
import { useRecordBindings } from '../record/use-record-bindings.tsx';
import { openableReferences } from '../record/use-references.ts';
import { ColumnsWindow } from './columns-window.tsx';
import { rowCount } from './list-messages.ts';
import type { ListedRows, ResourceListProps } from './list-props.ts';
import { columnSetting, type ListTable } from './list-table.ts';

export function useListBindings<Row extends object>(
  props: ResourceListProps<Row>,
  shown: ListTable<Row>,
): readonly Binding[] {
  const { bindings = [], opens = [], menu, whole } = props;
  const { table, openAs } = shown;
  const { current } = table;
  const own = [
    ...(typeof bindings === 'function' ? bindings(table) : bindings),
    ...(shown.searchTexts ? [{ command: searchCommands.texts, run: () => shown.searchTexts?.('') }] : []),
  ];
  return [
    ...own,
    ...useErrorBindings(whole?.state?.error),
    ...useRowBindings(
      props,
      shown,
      (menu?.commands ?? []).flatMap(wanted => own.filter(({ command }) => command === wanted)),
    ),
    ...opens.map(({ command, place, why }) => ({
      command,
      ...(current !== undefined && place(current) !== undefined ? {} : why ? { why } : { enabled: false }),
      run: () => current && openAs(current, place),
    })),
    useReferencesBinding(props, shown),
    useColumnsBinding(props, shown),
  ];
}

/**
 * Focuses the row's facts and their first reference. While the facts are hidden, only this hint shows that there are
 * any.
 */
function useReferencesBinding<Row>({ facts }: ResourceListProps<Row>, { table: { current } }: ListTable<Row>): Binding {
  const { setFocus } = useShell();
  const { focused } = usePane('main');
  const { shown } = usePane('inspector');
  return {
    command: listCommands.references,
    rank: shown ? 'last' : 'follow',
    enabled: focused && current !== undefined && openableReferences(facts(current)).length > 0,
    run: () => setFocus('inspector'),
  };
}

/** The keys for the row under the cursor, for the marked rows, or for the parent if there is no row. */
function useRowBindings<Row extends object>(
  props: ResourceListProps<Row>,
  shown: ListTable<Row>,
  offered: readonly Binding[],
): readonly Binding[] {
  const { source, actions, refOf, whole, menu, parts = [] } = props;
  const { table, live } = shown;
  const { current, targets } = table;
  const id = current && source.id(current);
  const serviceId = (row: Row): string => refOf?.(row).id ?? source.id(row);
  const pinsOf = (row: Row): readonly ResourceRef[] => {
    const { kind, label } = refOf?.(row) ?? {};
    return kind === undefined || label === undefined ? [] : [{ kind, id: serviceId(row), label }];
  };
  // After an action on a row, the cursor stays on it even if newer rows arrive above.
  const before = (): void => {
    if (id !== undefined) table.dispatch({ kind: 'select', id });
  };
  const areMarked = targets.length > 1;
  const keyOf = useKeyOf();
  // Do not act on the row under the cursor instead, because the user did not mark it.
  const why =
    targets.length === 0 && table.lostMarks.length > 0
      ? `No marked row is in the list any more: ${keyOf(listCommands.unmark)} unmarks`
      : undefined;
  const read = rowReader(props, shown);
  const marked = table.state.marks.size > 0 ? targets : [];
  const ofRows = areMarked
    ? `${targets.length} marked`
    : ((current && refOf?.(current).label) ?? id ?? whole?.pin.id ?? '');
  return useRecordBindings({
    offered,
    record: current ? { id: serviceId(current), json: current } : whole && { id: whole.pin.id, json: whole.json },
    whole: whole?.json,
    marked: areMarked ? targets.map(serviceId) : [],
    subjects: menu ? [menu.title, ...(current ? [areMarked ? ofRows : `rollout ${ofRows}`] : [])] : [ofRows],
    refresh: () => {
      for (const part of [live, ...parts]) part.refresh();
    },
    actions: (actions?.(targets, table) ?? []).map(binding => ({
      ...binding,
      before,
      ...(why && { enabled: true, why }),
    })),
    pin: whole?.pin ?? (current && pinsOf(current)[0]),
    markedPins: table.state.marks.size > 0 && !whole ? targets.flatMap(pinsOf) : undefined,
    siblings: whole && resourceOfKind(whole.pin.kind)?.names[0],
    siblingId: whole?.pin.id,
    exportable: exportableRows(props, read),
    files: props.files?.({ marked, current, isFiltered: table.state.filter !== '', read }),
  });
}

/** Reads the marked rows in the order they were marked, or all filtered rows in table order. */
function rowReader<Row extends object>(
  { rows, join }: ResourceListProps<Row>,
  { table, list }: ListTable<Row>,
): ListedRows<Row>['read'] {
  return async waiter => {
    if (table.state.marks.size > 0) return markedRows(table.targets);
    if (rows) return table.arrange(rows);
    const all = await everyRow(list, waiter);
    return table.arrange(join ? join(all) : all);
  };
}

function exportableRows<Row extends object>(
  { source, columns, whole }: ResourceListProps<Row>,
  read: ListedRows<Row>['read'],
): ExportableRows {
  const title: ExportTitle = { kind: String(source.key[0] ?? 'rows'), ...(whole ? { id: whole.pin.id } : {}) };
  return {
    ...title,
    read: async waiter => ({
      ...title,
      rows: (await read(waiter)) as readonly never[],
      columns: exportColumns(columns.filter(mayHaveValue)),
    }),
  };
}

/** @throws Error if none of the marked rows is left */
function markedRows<Row>(rows: readonly Row[]): readonly Row[] {
  if (rows.length === 0) throw new Error('the marked rows are not in the list');
  return rows;
}

/** Whether a file and the column chooser have the column. */
const mayHaveValue = ({ hasNone }: Pick<Column<object>, 'hasNone'>): boolean => !hasNone;

/** All rows, read to the end. @throws Error with the reason if rows are missing */
async function everyRow<Row>(list: PagedList<Row>, waiter: Waiter): Promise<readonly Row[]> {
  const outcome = await list.readForFile(waiter);
  const { rows } = list.latest();
  if (outcome === 'complete') return rows;
  throw new Error(
    outcome === 'stopped'
      ? `the export was stopped after ${rowCount(rows.length)}`
      : `reading the list failed after ${rowCount(rows.length)}`,
  );
}

function useColumnsBinding<Row>({ name, columns }: ResourceListProps<Row>, { table, list }: ListTable<Row>): Binding {
  const shell = useShell();
  const [, keepChosen] = useSetting<ColumnChoice>(columnSetting(name), {});
  const { choice, sort } = table.state;
  const render = (close: () => void) => (
    <ColumnsWindow
      columns={columns.filter(mayHaveValue)}
      chosen={{ choice, sort }}
      onChoose={chosen => {
        table.dispatch({ kind: 'choose-columns', ...chosen, partial: list.hasMore || !list.loaded });
        keepChosen(chosen.choice);
      }}
      onClose={close}
    />
  );
  return { command: listCommands.columns, run: () => shell.showOverlay('columns', render) };
}
