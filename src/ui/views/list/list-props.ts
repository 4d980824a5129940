/** The properties of a list on the screen. */
import type { ComponentType, ReactNode } from 'react';
import type { Column } from '../../../present/column.ts';
import type { Command } from '../../../present/command.ts';
import type { Fact } from '../../../present/fact.ts';
import type { Sort } from '../../../present/sort.ts';
import type { ListSource } from '../../../queries/lists/list-source.ts';
import type { Waiter } from '../../../queries/lists/read-all.ts';
import type { Advice } from '../../../resources/define.ts';
import type { Place, SearchedTexts } from '../../../resources/place.ts';
import type { ResourceRef } from '../../../store/store.ts';
import type { Pane } from '../../app/view.tsx';
import type { PagedList } from '../../data/use-list.ts';
import type { Live } from '../../data/use-live.ts';
import type { Binding } from '../../keys/router.tsx';
import type { Table } from '../../widgets/table/use-table.ts';
import type { ExportWay, OtherFile } from '../record/export-window.tsx';
import type { FactsPart } from '../record/use-doors.ts';

export type PlaceOf<Row> = (row: Row) => Place | undefined;

export interface PreviewProps<Row> {
  readonly row: Row;
  readonly box: Pane;
  /** Whether the cursor rests on the row. */
  readonly rests: boolean;
}

/** The rows to export. */
export interface ListedRows<Row> {
  /** In the order of marking. */
  readonly marked: readonly Row[];
  readonly current: Row | undefined;
  /** Reads all: the marked rows, or the filtered ones in the order of the table. @throws Error that says why rows are missing */
  readonly read: (waiter: Waiter) => Promise<readonly Row[]>;
}

export interface ResourceListProps<Row> {
  /** Stable name under which the choice of columns is saved. */
  readonly name: string;
  readonly source: ListSource<Row>;
  /** Other data of the view besides the list, for the freshness; a refresh reads all of it. */
  readonly parts?: readonly (Pick<Live<unknown>, 'refresh'> & Partial<Pick<Live<unknown>, 'freshness'>>)[];
  /** The parent was deleted; the header says so. */
  readonly deleted?: boolean;
  /** Rows to show instead of the list's own. */
  readonly rows?: readonly Row[];
  /** When the oldest of these rows was read, in epoch milliseconds: their age before the first answer. */
  readonly rowsAt?: number | undefined;
  readonly columns: readonly Column<Row>[];
  readonly emptyWords: string;
  /** Replaces `emptyWords` if the service does not list such rows. */
  readonly noneSeen?: string;
  readonly emptyAdvice?: Advice;
  /** Where a row opens; rows without a place do not. */
  readonly open?: PlaceOf<Row>;
  /** Whether the keys for neighbours stop at a row; by default at every row. */
  readonly isNeighbour?: (row: Row) => boolean;
  /** Other places that a row opens, by command, and the reason if it opens none. */
  readonly opens?: readonly { readonly command: Command; readonly place: PlaceOf<Row>; readonly why?: string }[];
  /** Facts in the inspector about the row under the cursor. */
  readonly facts: (row: Row) => readonly Fact[];
  /** Text about the row under the cursor, in the line below the rows, if no column has room for it. */
  readonly below?: ((row: Row) => string | undefined) | undefined;
  /** More lines in the inspector, below the facts. The row is undefined if there is none or the cursor moves. */
  readonly details?: (row: Row | undefined, pane: Pane) => ReactNode;
  /**
   * A preview of the row below its facts or, while these are hidden, below few rows: drawn at once from known data even
   * while the cursor moves, and from the service once it rests.
   */
  readonly preview?: ComponentType<PreviewProps<Row>>;
  /** Whether a list that fills the screen makes room for the preview. */
  readonly keepsPreview?: boolean;
  /** The parent of the list, below the facts about the row: lines, and facts. */
  readonly about?: ((width: number) => FactsPart) | undefined;
  /** New rows may come first: see `TableOptions`. */
  readonly keepsTop?: boolean;
  /** The rows in groups, shown while there is neither a filter nor an order. */
  readonly grouped?: readonly Row[] | undefined;
  /** The rows of a group, for its header row. */
  readonly membersOf?: (row: Row) => readonly Row[] | undefined;
  /** Replaces opening the place of a row: returns the function to call; undefined to open it. */
  readonly toggles?: (row: Row) => (() => void) | undefined;
  /** Actions on the marked rows, or on the one under the cursor. */
  readonly actions?: (rows: readonly Row[], list: PagedList<Row>, table: Table<Row>) => readonly Binding[];
  /** Files that can be exported besides the rows. */
  readonly files?: (rows: ListedRows<Row>) => readonly (OtherFile | ExportWay)[];
  readonly sort?: Sort;
  /** Adds data from elsewhere to the rows; the same function while nothing changes. */
  readonly join?: (rows: readonly Row[]) => readonly Row[];
  /** Ids of columns that the joined rows make complete, even if the list has unread rows. */
  readonly joined?: readonly string[];
  /** Notes below the rows, in addition to the notes about the list itself. */
  readonly notes?: readonly string[];
  /** Shown beside the filter: the unread parts of the rows, which it cannot search. */
  readonly unsearched?: string | undefined;
  /** Lines below a table of few rows, in at most this height. */
  readonly footer?: (height: number) => readonly string[];
  /** Lines above the table, two cells narrower than the pane, for a list that is part of a larger view. */
  readonly header?: readonly string[];
  /** The error shown by the header, so that its request id can be copied. */
  readonly headerError?: Error | undefined;
  /** The error that the header shows in full, so that the list need not repeat it. */
  readonly errorAbove?: Error | undefined;
  /**
   * The trajectories that `//` searches, of all rows or of one; without any, `//` begins an expression that filters the
   * rows.
   */
  readonly texts?: SearchedTexts | ((row: Row) => SearchedTexts | undefined) | undefined;
  readonly bindings?: readonly Binding[];
  /** Commands that move the cursor by some rows, besides the usual ones. */
  readonly moves?: readonly { readonly command: Command; readonly by: number }[];
  /** The id of the row under the cursor at first; by default, the cursor is on the first row. */
  readonly startAt?: string | undefined;
  /** Called with the row under the cursor whenever it changes. */
  readonly onCurrent?: (row: Row | undefined) => void;
  /** The name of a row; by default, its id is shown. */
  readonly label?: (row: Row) => string;
  /** The id of a row at the service, if it differs from `id`. */
  readonly serviceId?: (row: Row) => string;
  /** The reference for pinning a row to Watch. */
  readonly pin?: (row: Row) => ResourceRef | undefined;
  /** The parent of the list, e.g. a run: copied and pinned if there is no row. */
  readonly whole?: {
    readonly id: string;
    readonly json: unknown;
    readonly pin?: ResourceRef;
    /** The parent's resource, to step to neighbours in the list it was opened from. */
    readonly siblings?: string;
  };
}
