/** A resource's list with its inspector. */
import { Box } from 'ink';
import { useEffect } from 'react';
import { type Column, describeIfAbsent } from '../../../present/column.ts';
import { columnsIn } from '../../../present/row-filter.ts';
import { type Freshness, freshnessOfParts } from '../../../queries/freshness.ts';
import type { RowsAge } from '../../../queries/lists/reader.ts';
import { useTime } from '../../app/clock.tsx';
import { ErrorNote } from '../../app/error-note.tsx';
import { useLoadingText } from '../../app/loading.tsx';
import { type Pane, usePane, View } from '../../app/view.tsx';
import { useSettled } from '../../data/use-settled.ts';
import { KeyScope, useKeyOf } from '../../keys/router.tsx';
import { useSiblings } from '../../navigation/memory.tsx';
import { Lines } from '../../widgets/lines.tsx';
import { TableView } from '../../widgets/table/table-view.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { linesAround, useReferences } from '../record/use-references.ts';
import { useListBindings } from './list-bindings.tsx';
import { describeEmptyList, describeRowsAge, listFacts, rowCount, shownFreshness, withAge } from './list-messages.ts';
import type { ResourceListProps } from './list-props.ts';
import { errorHeight, type ListTable, minPreviewLines, useListTable } from './list-table.ts';

export function ResourceList<Row extends object>(props: ResourceListProps<Row>) {
  const { parts = [], rowsAt, onShown } = props;
  const shown = useListTable(props);
  const { current, shown: inSight, state } = shown.table;
  useEffect(() => onShown?.({ current, shown: inSight, state }), [onShown, current, inSight, state]);
  const old = shown.list.oldest(shown.table.shown);
  const freshness = withAge(shown.live.freshness, rowsAt);
  return (
    <View
      freshness={freshnessOfParts([shownFreshness(freshness, old), ...parts.flatMap(part => part.freshness ?? [])])}
      bindings={useListBindings(props, shown)}
      main={<ListPane {...props} {...shown} age={useAgeText(shown, old, freshness)} />}
      inspector={<RowInspector {...props} row={shown.table.current} />}
    />
  );
}

/** The age of the rows in view, if they are older than the list. */
function useAgeText<Row>({ table, list }: ListTable<Row>, old: RowsAge | undefined, freshness: Freshness): string {
  const { filter, sort } = table.state;
  const inOrder = filter === '' && (sort === undefined || list.sortedAs === 'service');
  return useTime(now => describeRowsAge(old, freshness, inOrder, now));
}

type ListPaneProps<Row> = Omit<ResourceListProps<Row>, keyof ListTable<Row>> &
  ListTable<Row> & { readonly age: string };

function ListPane<Row extends object>(props: ListPaneProps<Row>) {
  const { header = [], table, list, error, loaded, room } = props;
  const pane = usePane('main');
  const { styles } = useTheme();
  const words = useTableTexts(props);
  const { read } = useSiblings();
  return (
    <Box flexDirection="column">
      <Lines lines={header.map(line => ` ${line}`)} width={pane.width} height={room.header} />
      {/* The table is shown before its rows, because the user may already be typing a filter. */}
      {loaded || !error ? (
        <Box flexDirection="column" height={room.table} justifyContent="flex-end" overflow="hidden">
          <TableView
            table={table}
            columns={props.columns}
            id={props.source.id}
            width={pane.width}
            focused={pane.focused}
            total={props.rows.length}
            hasMore={list.hasMore}
            reading={list.reading}
            read={read}
            defaultSort={props.initial?.sort}
            {...words}
          />
        </Box>
      ) : null}
      {props.footer && loaded ? (
        <Lines lines={props.footer(room.footer).map(line => ` ${line}`)} width={pane.width} height={room.footer} />
      ) : null}
      {props.preview && room.footer > 0 ? (
        <PreviewBelow {...props} row={table.current} box={{ ...pane, width: pane.width - 2, height: room.footer }} />
      ) : null}
      <Lines lines={room.notes.map(note => styles.muted(note))} width={pane.width} height={room.notes.length} />
      {error ? (
        <ErrorNote
          error={error}
          width={pane.width}
          height={loaded ? errorHeight : pane.height - room.header - room.notes.length}
        />
      ) : null}
    </Box>
  );
}

/** The preview of the row under the cursor. */
function PreviewBelow<Row>({
  source,
  preview: Preview,
  row,
  box,
}: Pick<ResourceListProps<Row>, 'source' | 'preview'> & { readonly row: Row | undefined; readonly box: Pane }) {
  const id = row && source.id(row);
  const isResting = useSettled(id) === id;
  return (
    <Box paddingLeft={1} height={box.height}>
      {Preview && row ? <Preview row={row} box={box} rests={isResting} /> : null}
    </Box>
  );
}

/** How many rows cannot be filtered or sorted by a column yet, in words; empty if there are none. */
function describeUnread<Row>(column: Column<Row> | undefined, rows: readonly Row[]): string {
  const unread = rows.filter(row => column?.isUnread?.(row) && column.value(row) === undefined).length;
  return unread > 0 ? `${column?.title} unread in ${unread} of ${rowCount(rows.length)}` : '';
}

/** The words shown in place of the rows, and below them. */
function useTableTexts<Row extends object>(props: ListPaneProps<Row>) {
  const { table, list, live, loaded, read, sort, age, emptyText } = props;
  const keyOf = useKeyOf();
  const asking = useLoadingText();
  const { filter } = table.state;
  const words = typeof emptyText === 'string' ? emptyText : emptyText(live.freshness.kind === 'unlisted');
  const { rows } = table.arranged;
  const sorted = props.columns.find(({ id }) => id === table.state.sort?.column);
  // A filter leaves out rows that lack a value, so count the unread values of all rows.
  const filtered = new Set(columnsIn(filter, props.columns));
  const unread = [...filtered].map(column => describeUnread(column, props.rows));
  if (!filtered.has(sorted)) unread.push((sorted && describeIfAbsent(sorted, rows)) ?? describeUnread(sorted, rows));
  const empty = {
    loaded,
    asking,
    hasMore: list.hasMore,
    dropped: list.dropped,
    filter,
    notice: table.noticeLines[0],
    read,
  };
  return {
    emptyText: describeEmptyList(empty, words, keyOf),
    unsearched: [(filter !== '' && props.groups?.unsearched) || '', ...unread].filter(Boolean).join('  '),
    facts: [...listFacts({ ...list, read, filtered: filter !== '', sorted: sort !== undefined }, keyOf), age],
  };
}

interface RowInspectorProps<Row>
  extends Pick<ResourceListProps<Row>, 'source' | 'facts' | 'details' | 'preview' | 'about'> {
  readonly row: Row | undefined;
}

/**
 * The facts about the row under the cursor, and details once the cursor rests: one request instead of one for each row
 * it passes.
 */
function RowInspector<Row extends object>(props: RowInspectorProps<Row>) {
  const { source, facts, details, preview: Preview, about, row } = props;
  const inspector = usePane('inspector');
  const id = row && source.id(row);
  const isResting = useSettled(id) === id;
  const width = inspector.width - 2;
  const parts = [{ facts: row ? facts(row) : [] }, about?.(width) ?? { facts: [] }];
  const { focused, height } = inspector;
  const isPreviewed = Preview !== undefined && row !== undefined && inspector.shown;
  // Long facts leave half the lines to the preview, which users read first.
  const least = isPreviewed ? Math.ceil(height / 2) : height;
  const references = useReferences(parts, { pane: 'inspector', width, focused, height, least });
  // The preview of the row follows its facts.
  const above = isPreviewed ? (references.partAt[1] ?? 0) : references.lines.length;
  const [first, rest] = [references.lines.slice(0, above), references.lines.slice(above)];
  const at = references.at ?? 0;
  const shown = Math.min(first.length, least);
  const room = height - shown;
  // The other parts share the rest, until the user scrolls: then the facts get all lines.
  const half = Math.max(Math.floor(room / 2), Math.min(room, minPreviewLines));
  const previewed = isPreviewed ? (details || rest.length > 0 ? half : room) : 0;
  const below = Math.min(rest.length, room - previewed);
  const box = { ...inspector, width, height: room - previewed - below };
  return (
    <KeyScope active={focused} bindings={references.bindings}>
      {references.from === undefined ? (
        <Box flexDirection="column" paddingLeft={1} width={inspector.width}>
          <Lines
            lines={linesAround(first, shown, at < above ? references.at : undefined)}
            width={width}
            height={shown}
          />
          {isPreviewed ? <Preview row={row} box={{ ...box, height: previewed }} rests={isResting} /> : null}
          <Lines lines={linesAround(rest, below, at < above ? undefined : at - above)} width={width} height={below} />
          {details?.(isResting ? row : undefined, box)}
        </Box>
      ) : (
        <Box paddingLeft={1}>
          <Lines
            lines={linesAround(references.lines, height, undefined, references.from)}
            width={width}
            height={height}
          />
        </Box>
      )}
    </KeyScope>
  );
}
