/** The mutants of a source file: small changes that a test should notice. */
import { parseSync } from 'oxc-parser';
import { createPrng } from '../../src/base/prng.ts';

export interface Mutant {
  /** Path in the repository. */
  readonly file: string;
  readonly line: number;
  readonly operator: string;
  /** Offsets of the node in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** The node's text, before and after; a removed statement has an empty one. */
  readonly before: string;
  readonly after: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value;

/** The replacements of each operator. */
const binaries: ReadonlyMap<string, readonly string[]> = new Map([
  ['<', ['<=', '>=']],
  ['<=', ['<', '>']],
  ['>', ['>=', '<=']],
  ['>=', ['>', '<']],
  ['===', ['!==']],
  ['!==', ['===']],
  ['+', ['-']],
  ['-', ['+']],
  ['*', ['/']],
  ['/', ['*']],
  ['%', ['*']],
]);
const logicals: ReadonlyMap<string, string> = new Map([
  ['&&', '||'],
  ['||', '&&'],
  ['??', '&&'],
]);

/** Nodes that are never evaluated, or cannot be replaced by an expression. */
const skipped = /^(TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|Import|ExportAll)/;

/** Every mutant of a file, in source order. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const found: Mutant[] = [];
  const textOf = ({ start, end }: Pick<Node, 'start' | 'end'>): string => text.slice(start, end);
  const add = (operator: string, node: Pick<Node, 'start' | 'end'>, after: string): void => {
    const { start, end } = node;
    found.push({
      file,
      operator,
      start,
      end,
      line: text.slice(0, start).split('\n').length,
      before: textOf(node),
      after,
    });
  };
  const test = (node: unknown, isLoop: boolean): void => {
    if (!isNode(node)) return;
    if (!isLoop) add('condition', node, 'true');
    add('condition', node, 'false');
  };
  const result = (node: unknown): void => {
    if (isNode(node) && !/Literal|Identifier/.test(node.type)) add('return value', node, 'undefined');
  };

  const isText = (node: unknown): boolean =>
    isNode(node) && (node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string'));

  const mutate = (node: Node): void => {
    const { left, right, operator, argument } = node;
    switch (node.type) {
      case 'BinaryExpression': {
        if (!isNode(left) || !isNode(right) || (operator === '+' && (isText(left) || isText(right)))) return;
        const kind = /[<>=]/.test(String(operator)) ? 'comparison' : 'arithmetic';
        for (const other of binaries.get(String(operator)) ?? [])
          add(kind, node, `${textOf(left)} ${other} ${textOf(right)}`);
        return;
      }
      case 'LogicalExpression': {
        const other = logicals.get(String(operator));
        if (other && isNode(left) && isNode(right)) add('logic', node, `(${textOf(left)}) ${other} (${textOf(right)})`);
        return;
      }
      case 'UnaryExpression':
        if (operator === '!' && isNode(argument)) add('negation', node, textOf(argument));
        return;
      case 'Literal':
        if (typeof node['value'] === 'boolean') add('boolean', node, String(!node['value']));
        if (typeof node['value'] === 'string') add('text', node, node['value'] === '' ? "'mutant'" : "''");
        return;
      case 'TemplateLiteral':
        add('text', node, "''");
        return;
      case 'ArrayExpression':
        if (textOf(node).length > 2) add('array', node, '[]');
        return;
      case 'ObjectExpression':
        if (textOf(node).length > 2) add('object', node, '{}');
        return;
      case 'ChainExpression': {
        for (const { index } of textOf(node).matchAll(/\?\.(?=[A-Za-z_$#])/g)) {
          const whole = textOf(node);
          add('optional chain', node, `${whole.slice(0, index)}.${whole.slice(index + 2)}`);
        }
        return;
      }
      case 'IfStatement':
      case 'ConditionalExpression':
        test(node['test'], false);
        return;
      case 'WhileStatement':
      case 'ForStatement':
        test(node['test'], true);
        return;
      case 'ReturnStatement':
        result(argument);
        return;
      case 'ArrowFunctionExpression':
        if (node['expression'] === true) result(node['body']);
        return;
      case 'ExpressionStatement': {
        const inner = node['expression'];
        const isSuper =
          isNode(inner) &&
          inner.type === 'CallExpression' &&
          isNode(inner['callee']) &&
          inner['callee'].type === 'Super';
        if (typeof node['directive'] !== 'string' && !isSuper) add('statement', node, '');
        return;
      }
      default:
    }
  };

  const visit = (node: Node, parent?: Node, key = ''): void => {
    if (skipped.test(node.type)) return;
    const isName = (key === 'key' && parent?.['computed'] === false) || key === 'quasi' || key === 'source';
    if (!isName) mutate(node);
    for (const [name, value] of Object.entries(node)) {
      if (name === 'typeAnnotation' || name === 'typeArguments' || name === 'decorators') continue;
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child) && !isName) visit(child, node, name);
    }
  };
  const { program } = parseSync(file, text);
  if (isNode(program)) visit(program);
  return found;
}

/** Samples up to `count` mutants, in a random order, numbered from 0. Leaves out the first `from` of them. */
export function sampleOf<Item>(
  mutants: readonly Item[],
  { count, seed, from }: { readonly count: number; readonly seed: number; readonly from: number },
): { readonly id: number; readonly mutant: Item }[] {
  const { next } = createPrng(seed);
  const rest = [...mutants];
  const taken: Item[] = [];
  while (taken.length < count && rest.length > 0) taken.push(...rest.splice(Math.floor(next() * rest.length), 1));
  return taken.map((mutant, id) => ({ id, mutant })).slice(from);
}

/** Sorts by the first number that differs. */
export function byNumbers(one: readonly number[], other: readonly number[]): number {
  const differences = one.map((value, index) => value - (other[index] ?? 0));
  return differences.find(difference => difference !== 0) ?? 0;
}

/** The call in instrumented code that tests whether a mutant is active. */
const isActive = (id: number): string => `globalThis.__mutant?.(${id})`;

/** The text with these mutants in it, each switched on by its number. */
export function withMutants(
  text: string,
  mutants: readonly { readonly id: number; readonly mutant: Mutant }[],
): string {
  const insertions = mutants.flatMap(({ id, mutant: { start, end, after, operator } }) => {
    const [open, close] =
      // In braces, so that a following `else` belongs to the preceding `if`.
      operator === 'statement' ? [`{ if (!${isActive(id)}) `, ' }'] : [`(${isActive(id)} ? (${after}) : (`, '))'];
    const size = end - start;
    return [
      // An outer node opens first and closes last.
      { at: start, order: [1, -size, id], text: open },
      { at: end, order: [0, size, -id], text: close },
    ];
  });
  insertions.sort((one, other) => byNumbers([one.at, ...one.order], [other.at, ...other.order]));
  let [result, from] = ['', 0];
  for (const { at, text: inserted } of insertions) {
    result += text.slice(from, at) + inserted;
    from = at;
  }
  return result + text.slice(from);
}
