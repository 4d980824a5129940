/** Mutants that no test can kill, each with the reason. */

export interface Equivalent {
  readonly file: string;
  /** The node's text, before and after the change. */
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [];
