import type { SavedList } from '../../store/lists.ts';

/** The part of a list read so far. The same object until something in it changes. */
export interface ListData<Row> extends SavedList {
  readonly rows: readonly Row[];
  readonly remembered_at: number | undefined;
  /** Increases with each state of the list. */
  readonly version: number;
}
