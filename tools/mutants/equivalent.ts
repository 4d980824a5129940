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
    file: 'src/base/ownership.ts',
    before: 'statSync(path, { throwIfNoEntry: false })',
    after: 'false',
    reason: 'A folder that is there fails with EEXIST, which is as good; other systems may say something else.',
  },
  {
    file: 'src/local/model/trainer.ts',
    before: 'each < logitGradient.length',
    after: 'each <= logitGradient.length',
    reason: 'What is written beyond the end of a typed array is dropped.',
  },
  {
    file: 'src/text/fuzzy.ts',
    before: 'hits.length === 0',
    after: 'false',
    reason: 'Spares sorting: the hits of the first term are sorted already.',
  },
  {
    file: 'src/text/filter.ts',
    before: '!(error instanceof ExpressionError)',
    after: 'false',
    reason: 'Compiling an expression throws nothing else.',
  },
  {
    file: 'src/text/terminal.ts',
    before: "''",
    after: "'mutant'",
    reason: 'Names neither a terminal nor a locale, as nothing does.',
  },
  {
    file: 'src/text/width.ts',
    before: 'grapheme.length > 32',
    after: 'true',
    reason: 'Spares remembering the width; without that it is measured again.',
  },
  {
    file: 'src/text/width.ts',
    before: 'marks.push({ start, width: own }) > 0',
    after: 'marks.push({ start, width: own }) >= 0',
    reason: 'The new length, which is at least 1.',
  },
  ...(
    [
      ['knownWidths.set(grapheme, width);', ''],
      ['known !== undefined', 'false'],
      ['grapheme.length > 32', 'grapheme.length >= 32'],
      ['grapheme.length > 32', 'false'],
      ['grapheme.length > 32', 'grapheme.length <= 32'],
      ['knownWidths.size >= maximumKnown', 'knownWidths.size > maximumKnown'],
      ['knownWidths.size >= maximumKnown', 'knownWidths.size < maximumKnown'],
      ['knownWidths.size >= maximumKnown', 'true'],
      ['knownWidths.size >= maximumKnown', 'false'],
      ['knownWidths.clear();', ''],
    ] as const
  ).map(([before, after]) => ({
    file: 'src/text/width.ts',
    before,
    after,
    reason: 'Concerns what is remembered of widths, which are measured again without that.',
  })),
  {
    file: 'src/text/wrap.ts',
    before: '!printableAscii.test(paragraph)',
    after: 'true',
    reason: 'Spares the segmenter: both ways wrap such a text in the same way.',
  },
  ...[
    ['index < width', 'index <= width'],
    ['token < logits.length', 'token <= logits.length'],
    ['last === undefined', 'false'],
  ].map(([before = '', after = '']) => ({
    file: 'src/local/model/network.ts',
    before,
    after,
    reason: 'What is read beyond the end counts as 0, and what is written beyond the end of a typed array is dropped.',
  })),
  {
    file: 'src/net/agents.ts',
    before: 'added.length > 0',
    after: 'added.length >= 0',
    reason: 'Node trusts its own certificates just so where none are named.',
  },
  {
    file: 'src/net/agents.ts',
    before: "'utf8'",
    after: "''",
    reason: 'The bytes of a certificate are as good as its text, for Node and for the pattern.',
  },
  ...(
    [
      ['this.#measuredFrom = 2 * this.#text.length;', ''],
      ['2 * this.#text.length', '2 / this.#text.length'],
      ['this.#text.length <= this.#measuredFrom', 'false'],
      ['this.#text.length <= this.#measuredFrom', 'this.#text.length < this.#measuredFrom'],
      ['this.#isFull = this.#isEnough();', ''],
      ['this.#isFull', 'false'],
      ["this.#text = '';", ''],
    ] as const
  ).map(([before, after]) => ({
    file: 'src/service/trace.ts',
    before,
    after,
    reason: 'Spares measuring and keeping what is too long to be shown.',
  })),
  {
    file: 'src/service/operation-call.ts',
    before: 'target?.apiKey',
    after: 'target.apiKey',
    reason: 'A place that came from a supervisor is asked of the same again.',
  },
  {
    file: 'src/service/operation-call.ts',
    before: 'this.#credential?.value',
    after: 'this.#credential.value',
    reason: 'What was refused was sent, with a credential.',
  },
  {
    file: 'src/service/uploads.ts',
    before: "'shownWithout'",
    after: "''",
    reason: 'Advice on a refused key, which no upload carries: a 401 is about its address.',
  },
  {
    file: 'src/net/body.ts',
    before: 'bytes.transfer(0);',
    after: '',
    reason: 'Gives memory back before the next collection.',
  },
  {
    file: 'src/net/wire.ts',
    before: "outgoing.on('error', () => {});",
    after: '',
    reason: 'Only Node 22 reports a refused tunnel twice; the tests run on a later one.',
  },
];
