/** The list of a resource with its inspector: written once, told by each resource what its rows are. */
import { Box } from 'ink';
import { type ReactNode, useEffect } from 'react';
import { type ListSource, type LiveList, useList } from '../../../queries/use-list.ts';
import { type Pane, Panes, usePane } from '../../app/panes.tsx';
import { useFreshnessReport, useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import type { Location } from '../../navigation/location.ts';
import { useMemory } from '../../navigation/memory.tsx';
import { rememberSiblings } from '../../navigation/siblings.ts';
import { type Fact, factLines } from '../../widgets/facts.ts';
import type { Column } from '../../widgets/table/column.ts';
import type { Sort } from '../../widgets/table/rows.ts';
import { initialTableState, type TableState } from '../../widgets/table/table-state.ts';
import { TableView } from '../../widgets/table/table-view.tsx';
import { useTable } from '../../widgets/table/use-table.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { FaultNote } from './fault-note.tsx';
import { Lines } from './lines.tsx';
import { useSettled } from './use-settled.ts';
import { useThingBindings } from './use-thing-bindings.tsx';
import { Waiting } from './waiting.tsx';

export interface ResourceListProps<Row> {
  readonly source: ListSource<Row>;
  readonly columns: readonly Column<Row>[];
  /** What stands where there are no rows, and what to do about it. */
  readonly emptyWords: string;
  /** Where a row opens; rows without a place do not. */
  readonly open?: (row: Row) => Location;
  /** What the inspector shows of the row under the cursor. */
  readonly facts: (row: Row) => readonly Fact[];
  /** More of the inspector, below the facts; also where there is no row. */
  readonly details?: (row: Row | undefined, pane: Pane) => ReactNode;
  /** What can be done with the marked rows, or with the one under the cursor. */
  readonly actions?: (rows: readonly Row[], list: LiveList<Row>) => readonly Binding[];
  readonly sort?: Sort;
  /** Lines above the table, for a list that is part of something larger. */
  readonly header?: { readonly height: number; readonly node: ReactNode };
  readonly bindings?: readonly Binding[];
}

/** Lines in which a fault is told below rows that are still shown. */
const faultHeight = 3;

export function ResourceList<Row extends object>(props: ResourceListProps<Row>) {
  const { source, columns, emptyWords, open, facts, details, actions, sort, header, bindings = [] } = props;
  const shell = useShell();
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const list = useList(source, shell.focus === 'sections' ? 'visible' : 'focused');
  useFreshnessReport(list.freshness);
  const [remembered, remember] = useMemory<TableState>('table');

  const fault = list.fault ?? list.pageFault;
  const faultLines = fault ? faultHeight : 0;
  const unreadable = list.dropped === 0 ? '' : `${list.dropped} row${list.dropped === 1 ? '' : 's'} could not be read`;
  const noteLines = unreadable === '' ? 0 : 1;
  const tableHeight = Math.max(4, pane.height - faultLines - noteLines - (header?.height ?? 0));
  const openRow = (row: Row): void => {
    const target = open?.(row);
    if (!target) return;
    rememberSiblings(target.view, table.arranged.ids);
    shell.open(target);
  };
  const table = useTable({
    rows: list.rows,
    columns,
    id: source.id,
    height: tableHeight,
    initial: remembered ?? { ...initialTableState, sort },
    onOpen: open ? openRow : undefined,
  });
  useEffect(() => remember(table.state), [remember, table.state]);

  const { current } = table;
  const thing = current && { id: source.id(current), json: current };
  const does = useThingBindings({
    thing,
    title: table.targets.length > 1 ? `${table.targets.length} marked` : (thing?.id ?? ''),
    refresh: list.refresh,
    actions: actions?.(table.targets, list) ?? [],
  });
  // What asks the service waits until the cursor rests: one request, not one for each row it passes.
  const settled = useSettled(thing?.id);
  const resting = settled === thing?.id;
  const factRows = current ? factLines(facts(current), inspector.width - 2, theme) : [];

  return (
    <Panes
      bindings={[...bindings, ...does]}
      main={
        <Box flexDirection="column">
          {header ? header.node : null}
          {list.loaded || fault ? null : <Waiting words="Asking the service" />}
          {list.loaded ? (
            <TableView
              table={table}
              columns={columns}
              id={source.id}
              width={pane.width}
              focused={pane.focused}
              total={list.rows.length}
              hasMore={list.hasMore}
              emptyWords={emptyWords}
              onNearEnd={list.loadMore}
            />
          ) : null}
          {unreadable === '' ? null : (
            <Lines
              lines={[theme.styles.warning(` ${theme.glyphs.warning} ${unreadable}`)]}
              width={pane.width}
              height={1}
            />
          )}
          {fault ? (
            <FaultNote fault={fault} width={pane.width} height={list.loaded ? faultHeight : pane.height} />
          ) : null}
        </Box>
      }
      inspector={
        <Box flexDirection="column" paddingLeft={1} width={inspector.width}>
          <Lines lines={factRows} width={inspector.width - 2} height={Math.min(factRows.length, inspector.height)} />
          {details && resting
            ? details(current, {
                ...inspector,
                width: inspector.width - 2,
                height: Math.max(0, inspector.height - factRows.length),
              })
            : null}
        </Box>
      }
    />
  );
}
