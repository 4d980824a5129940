/** Mutants that no test can kill, each with the reason. */

export interface Equivalent {
  readonly file: string;
  /** The node's text, before and after the change. */
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/text/ownership.ts',
    before: 'statSync(path, { throwIfNoEntry: false })',
    after: 'false',
    reason: 'A folder that is there fails with EEXIST, which is as good; other systems may say something else.',
  },
  {
    file: 'src/local/model/trainer.ts',
    before: 'each < slope.length',
    after: 'each <= slope.length',
    reason: 'What is written beyond the end of a typed array is dropped.',
  },
  { file: 'src/text/numbers.ts', before: 'value > 0', after: 'value >= 0', reason: 'The value is infinite, never 0.' },
  {
    file: 'src/text/fuzzy.ts',
    before: 'hits.length === 0',
    after: 'false',
    reason: 'Spares sorting: the hits of the first term are sorted already.',
  },
  ...["'one'", "'results'"].map(before => ({
    file: 'src/queries/evaluations.ts',
    before,
    after: "''",
    reason:
      'Part of the key of a query: any text is as good that no other key beside it has. Nothing is stored under it.',
  })),
  {
    file: 'src/queries/models.ts',
    before: "['models', 'chat']",
    after: '[]',
    reason: 'The key of a query: any is as good that no other query has. Nothing is stored under it.',
  },
];
