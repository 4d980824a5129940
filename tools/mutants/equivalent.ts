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
    reason: 'An existing folder fails with EEXIST, with the same result; other systems may throw another error.',
  },
  {
    file: 'src/local/model/trainer.ts',
    before: 'each < logitGradient.length',
    after: 'each <= logitGradient.length',
    reason: 'Writes beyond the end of a typed array are dropped.',
  },
  {
    file: 'src/text/fuzzy.ts',
    before: 'hits.length === 0',
    after: 'false',
    reason: 'Saves sorting: the hits of the first term are already sorted.',
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
    reason: 'Like an empty text, it names neither a terminal nor a locale.',
  },
  {
    file: 'src/text/width.ts',
    before: 'grapheme.length > 32',
    after: 'true',
    reason: 'Only skips the cache; the width is measured again.',
  },
  {
    file: 'src/text/width.ts',
    before: 'marks.push({ start, width: own }) > 0',
    after: 'marks.push({ start, width: own }) >= 0',
    reason: '`push` returns the new length, which is at least 1.',
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
    reason: 'Only affects the cache; widths are measured again.',
  })),
  {
    file: 'src/text/wrap.ts',
    before: '!printableAscii.test(paragraph)',
    after: 'true',
    reason: 'Only saves the segmenter: both ways wrap such a text alike.',
  },
  ...[
    ['index < width', 'index <= width'],
    ['token < logits.length', 'token <= logits.length'],
    ['last === undefined', 'false'],
  ].map(([before = '', after = '']) => ({
    file: 'src/local/model/network.ts',
    before,
    after,
    reason: 'Reads beyond the end count as 0, and writes beyond the end of a typed array are dropped.',
  })),
  {
    file: 'src/net/agents.ts',
    before: 'added.length > 0',
    after: 'added.length >= 0',
    reason: 'Without a list, Node also trusts its own certificates.',
  },
  {
    file: 'src/net/agents.ts',
    before: "'utf8'",
    after: "''",
    reason: 'Node and the pattern accept the bytes of a certificate like its text.',
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
    reason: 'Only saves measuring and storing text that is too long to show.',
  })),
  {
    file: 'src/service/operation-call.ts',
    before: 'target?.apiKey',
    after: 'target.apiKey',
    reason: 'A target that came from a supervisor is requested from the same supervisor again.',
  },
  {
    file: 'src/service/operation-call.ts',
    before: 'this.#credential?.value',
    after: 'this.#credential.value',
    reason: 'A refused request was sent, with a credential.',
  },
  {
    file: 'src/service/uploads.ts',
    before: "'shownWithout'",
    after: "''",
    reason: 'Advice on a refused key, which uploads do not have: a 401 concerns the address.',
  },
  {
    file: 'src/net/body.ts',
    before: 'bytes.transfer(0);',
    after: '',
    reason: 'Only frees memory before the next garbage collection.',
  },
  {
    file: 'src/net/wire.ts',
    before: "outgoing.on('error', () => {});",
    after: '',
    reason: 'Only Node 22 reports a refused tunnel twice; the tests run on a later one.',
  },
];
