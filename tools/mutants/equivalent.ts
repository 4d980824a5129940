/** Mutants that no test can kill, each with the reason. */

interface Equivalent {
  readonly file: string;
  readonly reason: string;
  /** The node's text, before and after the change. */
  readonly changes: readonly (readonly [before: string, after: string])[];
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/base/ownership.ts',
    reason: 'An existing folder fails with EEXIST, with the same result; other systems may throw another error.',
    changes: [['statSync(path, { throwIfNoEntry: false })', 'false']],
  },
  {
    file: 'src/local/model/trainer.ts',
    reason: 'Writes beyond the end of a typed array are dropped.',
    changes: [['each < logitGradient.length', 'each <= logitGradient.length']],
  },
  {
    file: 'src/text/fuzzy.ts',
    reason: 'Saves sorting: the hits of the first term are already sorted.',
    changes: [['hits.length === 0', 'false']],
  },
  {
    file: 'src/text/filter.ts',
    reason: 'Compiling an expression throws nothing else.',
    changes: [['!(error instanceof ExpressionError)', 'false']],
  },
  {
    file: 'src/text/terminal.ts',
    reason: 'Like an empty text, it names neither a terminal nor a locale.',
    changes: [["''", "'mutant'"]],
  },
  {
    file: 'src/text/width.ts',
    reason: '`push` returns the new length, which is at least 1.',
    changes: [['marks.push({ start, width: own }) > 0', 'marks.push({ start, width: own }) >= 0']],
  },
  {
    file: 'src/text/width.ts',
    reason: 'Only affects the cache; widths are measured again.',
    changes: [
      ['knownWidths.set(grapheme, width);', ''],
      ['known !== undefined', 'false'],
      ['grapheme.length > 32', 'true'],
      ['grapheme.length > 32', 'grapheme.length >= 32'],
      ['grapheme.length > 32', 'false'],
      ['grapheme.length > 32', 'grapheme.length <= 32'],
      ['knownWidths.size >= maximumKnown', 'knownWidths.size > maximumKnown'],
      ['knownWidths.size >= maximumKnown', 'knownWidths.size < maximumKnown'],
      ['knownWidths.size >= maximumKnown', 'true'],
      ['knownWidths.size >= maximumKnown', 'false'],
      ['knownWidths.clear();', ''],
    ],
  },
  {
    file: 'src/text/wrap.ts',
    reason: 'Only saves the segmenter: both ways wrap such a text alike.',
    changes: [['!printableAscii.test(paragraph)', 'true']],
  },
  {
    file: 'src/local/model/network.ts',
    reason: 'Reads beyond the end count as 0, and writes beyond the end of a typed array are dropped.',
    changes: [
      ['index < width', 'index <= width'],
      ['token < logits.length', 'token <= logits.length'],
      ['last === undefined', 'false'],
    ],
  },
  {
    file: 'src/net/agents.ts',
    reason: 'Without a list, Node also trusts its own certificates.',
    changes: [['added.length > 0', 'added.length >= 0']],
  },
  {
    file: 'src/net/agents.ts',
    reason: 'Node and the pattern accept the bytes of a certificate like its text.',
    changes: [["'utf8'", "''"]],
  },
  {
    file: 'src/service/operation-call.ts',
    reason: 'A target that came from a supervisor is requested from the same supervisor again.',
    changes: [['target?.apiKey', 'target.apiKey']],
  },
  {
    file: 'src/service/operation-call.ts',
    reason: 'A refused request was sent, with a credential.',
    changes: [['this.#credential?.value', 'this.#credential.value']],
  },
  {
    file: 'src/service/uploads.ts',
    reason: 'Advice on a refused key, which uploads do not have: a 401 concerns the address.',
    changes: [["'shownWithout'", "''"]],
  },
  {
    file: 'src/net/wire.ts',
    reason: 'Only Node 22 reports a refused tunnel twice; the tests run on a later one.',
    changes: [["outgoing.on('error', () => {});", '']],
  },
  {
    file: 'src/net/wire.ts',
    reason: 'Node writes nothing for an empty last piece.',
    changes: [['at < body.byteLength', 'at <= body.byteLength']],
  },
  {
    file: 'src/net/wire.ts',
    reason: 'Only connects to the proxy once more: the message reads the result for certificate errors alone.',
    changes: [
      ['!(error instanceof WireFailure) || !isCertificateError(error.code)', 'false'],
      [
        '!(error instanceof WireFailure) || !isCertificateError(error.code)',
        '(!(error instanceof WireFailure)) && (!isCertificateError(error.code))',
      ],
    ],
  },
];
