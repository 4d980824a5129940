/** The part of a list read so far. The same object until something in it changes. */
export interface ListData<Row> {
  readonly rows: readonly Row[];
  /** Whether these are all the service's rows. */
  readonly complete: boolean;
  /** Unreadable rows. */
  readonly dropped: number;
  /** Rows left out because another row of their page has the same id. */
  readonly repeated: number;
  /** Why the list may be incomplete. */
  readonly notes: readonly string[];
  /**
   * When the newest remembered row was seen, if rows were remembered instead of listed; 0 if there are none. Epoch
   * milliseconds.
   */
  readonly remembered_at: number | undefined;
  /** Increases with each state of the list. */
  readonly version: number;
}
