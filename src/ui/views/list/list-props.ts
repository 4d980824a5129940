/** The properties of a list on screen. */
import type { ComponentType, ReactNode } from 'react';
import type { Column } from '../../../present/column.ts';
import type { Command } from '../../../present/command.ts';
import type { Fact } from '../../../present/fact.ts';
import type { AncestorsOf } from '../../../present/rows.ts';
import type { Sort } from '../../../present/sort.ts';
import type { ListSource } from '../../../queries/lists/list-source.ts';
import type { Waiter } from '../../../queries/lists/read-all.ts';
import type { Advice } from '../../../resources/define.ts';
import type { Place, SearchedTexts } from '../../../resources/place.ts';
import type { ResourceRef } from '../../../store/store.ts';
import type { Pane } from '../../app/view.tsx';
import type { PagedList } from '../../data/use-list.ts';
import type { LivePart } from '../../data/use-live.ts';
import type { Binding } from '../../keys/router.tsx';
import type { TableState } from '../../widgets/table/table-state.ts';
import type { Table } from '../../widgets/table/use-table.ts';
import type { ExportWay, OtherFile } from '../record/export-window.tsx';
import type { FactsPart } from '../record/use-references.ts';

export type PlaceOf<Row> = (row: Row) => Place | undefined;

export interface PreviewProps<Row> {
  readonly row: Row;
  readonly box: Pane;
  /** Whether the cursor rests on the row. */
  readonly rests: boolean;
}

/** The rows that can be exported. */
export interface ListedRows<Row> {
  /** In the order they were marked. */
  readonly marked: readonly Row[];
  readonly current: Row | undefined;
  readonly isFiltered: boolean;
  /** Reads the marked rows, or all filtered ones in table order. @throws Error with the reason if rows are missing */
  readonly read: (waiter: Waiter) => Promise<readonly Row[]>;
}

export interface ResourceListProps<Row> {
  /** Stable name under which the user's choice of columns is saved. */
  readonly name: string;
  readonly source: ListSource<Row>;
  readonly parts?: readonly LivePart[];
  /** Whether the parent was deleted; the header shows it. */
  readonly deleted?: boolean;
  /** Rows to show instead of the list's own. */
  readonly rows?: readonly Row[];
  /** When the oldest of these rows was read, in epoch milliseconds: shows their age before the first response. */
  readonly rowsAt?: number | undefined;
  readonly columns: readonly Column<Row>[];
  readonly emptyText: string;
  /** Replaces `emptyText` if the service does not list such rows. */
  readonly noneSeen?: string;
  readonly emptyAdvice?: Advice;
  /** The place that a row opens; rows without one do not open. */
  readonly open?: PlaceOf<Row>;
  /** Whether a row has changed: the keys for neighbours skip the others. By default, they stop at every row. */
  readonly isNeighbour?: (row: Row) => boolean;
  /** Other places that a row opens, by command, and the reason if it opens none. */
  readonly opens?: readonly { readonly command: Command; readonly place: PlaceOf<Row>; readonly why?: string }[];
  /** Facts in the inspector about the row under the cursor. */
  readonly facts: (row: Row) => readonly Fact[];
  /** Text about the row under the cursor that no column has room for, on the line below the rows. */
  readonly below?: ((row: Row) => string | undefined) | undefined;
  /** More lines in the inspector, below the facts. The row is undefined if there is none or the cursor moves. */
  readonly details?: (row: Row | undefined, pane: Pane) => ReactNode;
  /**
   * A preview of the row below its facts or, while these are hidden, below a short list: drawn at once from known data
   * even while the cursor moves, and from the service once it rests.
   */
  readonly preview?: ComponentType<PreviewProps<Row>>;
  /** Whether a list that fills the screen makes room for the preview. */
  readonly keepsPreview?: boolean;
  /** The list's parent, below the facts about the row: lines and facts. */
  readonly about?: ((width: number) => FactsPart) | undefined;
  /** Whether new rows may come first; see `TableOptions`. */
  readonly keepsTop?: boolean;
  /** The rows in groups, shown while the list is neither filtered nor sorted. */
  readonly grouped?: readonly Row[] | undefined;
  /** For a tree, see `createArrange`; must be a module-level constant. */
  readonly ancestorsOf?: AncestorsOf<Row>;
  /** The rows in a group, given its header row. */
  readonly membersOf?: (row: Row) => readonly Row[] | undefined;
  /** Replaces opening a row's place: returns the function to call, or undefined to open the place. */
  readonly toggles?: (row: Row) => (() => void) | undefined;
  /** Actions on the marked rows, or on the one under the cursor. */
  readonly actions?: (rows: readonly Row[], list: PagedList<Row>, table: Table<Row>) => readonly Binding[];
  /** For a list of rollouts: the title of its menu of actions, and which of its bindings the menu offers first. */
  readonly menu?: { readonly title: string; readonly commands: readonly Command[] } | undefined;
  /** Files that can be exported besides the rows. */
  readonly files?: (rows: ListedRows<Row>) => readonly (OtherFile | ExportWay)[];
  readonly sort?: Sort;
  /** Adds data from elsewhere to the rows; must stay the same function while nothing changes. */
  readonly join?: (rows: readonly Row[]) => readonly Row[];
  /** Ids of columns that joining completes, even if the list has unread rows. */
  readonly joined?: readonly string[];
  /** Notes below the rows, in addition to the notes about the list itself. */
  readonly notes?: readonly string[];
  /** Shown beside the filter: which parts of the rows are unread and therefore not searched. */
  readonly unsearched?: string | undefined;
  /** Lines below a short table, in at most this height. */
  readonly footer?: (height: number) => readonly string[];
  /** Lines above the table, two cells narrower than the pane, for a list that is part of a larger view. */
  readonly header?: readonly string[];
  /**
   * Whether the header hides the table except its last line, which counts the rows and shows the filter being typed.
   */
  readonly isFolded?: boolean;
  /** The error shown by the header, so that its request id can be copied. */
  readonly headerError?: Error | undefined;
  /** The error that the header shows in full, so that the list need not repeat it. */
  readonly errorAbove?: Error | undefined;
  /**
   * The trajectories that `//` searches, for all rows or for one; if there are none, `//` begins an expression that
   * filters the rows.
   */
  readonly texts?: SearchedTexts | ((row: Row) => SearchedTexts | undefined) | undefined;
  /** A function receives the filter, if there is a valid one. */
  readonly bindings?: readonly Binding[] | ((filter: string | undefined) => readonly Binding[]);
  /** Additional commands that move the cursor by a number of rows. */
  readonly moves?: readonly { readonly command: Command; readonly by: number }[];
  /** The id of the row that the cursor starts on; by default, the first row. */
  readonly startAt?: string | undefined;
  readonly startFilter?: string | undefined;
  /** Called with the row under the cursor when it changes. */
  readonly onCurrent?: (row: Row | undefined) => void;
  /** Called with the visible rows and the table's state whenever these change. */
  readonly onShown?: (rows: readonly Row[], state: TableState) => void;
  /** A row's name; by default, its id is shown. */
  readonly label?: (row: Row) => string;
  /** A row's id on the service, if it differs from `id`. */
  readonly serviceId?: (row: Row) => string;
  /** The resource to pin to Watch for a row. */
  readonly pin?: (row: Row) => ResourceRef | undefined;
  /** The list's parent, e.g. a run: copied and pinned if there is no row. */
  readonly whole?: {
    readonly id: string;
    readonly json: unknown;
    readonly pin?: ResourceRef;
    /** The parent's resource, for stepping to neighbours in the list it was opened from. */
    readonly siblings?: string;
  };
}
