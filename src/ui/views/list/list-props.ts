/** The properties of a list on screen. */
import type { ComponentType, ReactNode } from 'react';
import type { Column } from '../../../present/column.ts';
import type { Command } from '../../../present/command.ts';
import type { Fact } from '../../../present/fact.ts';
import type { ListSource } from '../../../queries/lists/list-source.ts';
import type { Waiter } from '../../../queries/lists/read-all.ts';
import type { Place, SearchedTexts } from '../../../resources/place.ts';
import type { ResourceRef } from '../../../store/store.ts';
import type { Pane } from '../../app/view.tsx';
import type { LivePart } from '../../data/use-live.ts';
import type { Binding } from '../../keys/router.tsx';
import type { Table, TableGroups } from '../../widgets/table/use-table.ts';
import type { ExportWay, OtherFile } from '../record/export-window.tsx';
import type { RecordWithParts } from '../record/record-with-parts.ts';
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

/** A row as a resource. */
export interface RowRef {
  /** Only for a resource that can be pinned to Watch. */
  readonly kind?: string | undefined;
  /** Its id on the service, if it differs from the row's. */
  readonly id?: string;
  readonly label: string;
}

export interface ResourceListProps<Row> {
  /** Stable name under which the user's choice of columns is saved. */
  readonly name: string;
  readonly source: ListSource<Row>;
  readonly parts?: readonly LivePart[];
  /** Rows to show instead of the list's own. */
  readonly rows?: readonly Row[];
  /** When the oldest of these rows was read, in epoch milliseconds: shows their age before the first response. */
  readonly rowsAt?: number | undefined;
  readonly columns: readonly Column<Row>[];
  /** A function takes whether the service does not list such rows. */
  readonly emptyText: string | ((isUnlisted: boolean) => string);
  /** The place that a row opens, or a function to call instead; rows without either do not open. */
  readonly open?: (row: Row) => Place | (() => void) | undefined;
  /** The rows that the keys for neighbours stop at, and a word for them; by default, all rows. */
  readonly neighbours?: { readonly kind: string; readonly has: (row: Row) => boolean };
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
  /** `unsearched` is shown beside the filter: which branches are unread and therefore not searched. */
  readonly groups?: TableGroups<Row> & { readonly unsearched?: string | undefined };
  /** Actions on the marked rows, or on the one under the cursor. */
  readonly actions?: (rows: readonly Row[], table: Table<Row>) => readonly Binding[];
  /** For a list of rollouts: the title of its menu of actions, and which of its bindings the menu offers first. */
  readonly menu?: { readonly title: string; readonly commands: readonly Command[] } | undefined;
  /** Files that can be exported besides the rows. */
  readonly files?: (rows: ListedRows<Row>) => readonly (OtherFile | ExportWay)[];
  /** The order and the filter at first, and the id of the row that the cursor starts on; by default, the first row. */
  readonly initial?: { readonly [Part in 'sort' | 'filter' | 'at']?: Place<'list'>[Part] | undefined };
  /** Adds data from elsewhere to the rows; must stay the same function while nothing changes. */
  readonly join?: (rows: readonly Row[]) => readonly Row[];
  /** Ids of columns that joining completes, even if the list has unread rows. */
  readonly joined?: readonly string[];
  /** Notes below the rows, in addition to the notes about the list itself. */
  readonly notes?: readonly string[];
  /** Lines below a short table, in at most this height. */
  readonly footer?: (height: number) => readonly string[];
  /** Lines above the table, two cells narrower than the pane, for a list that is part of a larger view. */
  readonly header?: readonly string[];
  /**
   * Whether the header hides the table except its last line, which counts the rows and shows the filter being typed.
   */
  readonly isFolded?: boolean;
  /**
   * The trajectories that `//` searches, for all rows or for one; if there are none, `//` begins an expression that
   * filters the rows.
   */
  readonly texts?: SearchedTexts | ((row: Row) => SearchedTexts | undefined) | undefined;
  readonly bindings?: readonly Binding[] | ((table: Table<Row>) => readonly Binding[]);
  /** Called with the row under the cursor, the visible rows and the table's state whenever these change. */
  readonly onShown?: (table: Pick<Table<Row>, 'current' | 'shown' | 'state'>) => void;
  /** By default, a row's id is shown, and rows cannot be pinned. */
  readonly refOf?: (row: Row) => RowRef;
  /** The list's parent, e.g. a run: copied if there is no row, and pinned. */
  readonly whole?: {
    readonly pin: ResourceRef;
    readonly json: unknown;
    /** Whether it was deleted or could be read, and its error: the header shows these. */
    readonly state?: Pick<RecordWithParts, 'isDeleted' | 'isRead' | 'error'>;
  };
}
