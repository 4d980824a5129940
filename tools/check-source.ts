/**
 * Three checks of `src` by its syntax and types.
 *
 * Lookups in plain objects by a name known only at run time: it may come over the wire and be `__proto__` or
 * `constructor`, which every object inherits; a `Map`, or `own` of `src/base/own-property.ts`, finds only its own
 * entries. These are `object[name]`, `name in object` and `{ [name]: value } = object`, wherever the type of `name` is
 * `string` rather than a set of known words. Arrays are indexed by numbers and are not affected.
 *
 * Literal regular expressions that may take quadratic time on a text, which may come over the wire; constructed ones need
 * a test. To fix one, begin a run at its first character, `/(?<!x)x+$/`; keep the start out of the loop, `/<[^<>]*>/`;
 * bound it, `/<.{0,200}>/`; or leave out a `$` that always holds. `trimEnd` of `src/base/trim.ts` replaces `/x+$/`.
 *
 * Calls with one argument per item of a list. A call takes about 100,000 arguments, and lists that came over the wire may
 * be longer: use `pushAll`, `maxOf` or `minOf` of `src/base/many.ts`.
 */
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isComputedPropertyName,
  isElementAccessExpression,
  isPropertyAccessExpression,
  isRegularExpressionLiteral,
  isSpreadElement,
} from 'typescript/unstable/ast/is';
import { API, type Type, TypeFlags } from 'typescript/unstable/sync';
import { isSlow } from './slow-expressions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** May look up any name: it first checks whether the object has the name. */
const allowed = 'src/base/own-property.ts';
const anyName = TypeFlags.String | TypeFlags.Any | TypeFlags.Unknown;

const api = new API({ cwd: root });
const [project] = api.updateSnapshot({ openProjects: [resolve(root, 'tsconfig.json')] }).getProjects();
if (!project) throw new Error('tsconfig.json gives no project');
const { checker, program } = project;

function isAnyString(type: Type | undefined): boolean {
  if (!type) return false;
  if (type.isUnionType()) return type.getTypes().some(isAnyString);
  if (type.flags & TypeFlags.TypeParameter) return isAnyString(checker.getBaseConstraintOfType(type));
  return (type.flags & anyName) !== 0;
}

/** The name that a node looks up, if any. */
function nameIn(node: Node): Node | undefined {
  if (isElementAccessExpression(node)) return node.argumentExpression;
  if (isBinaryExpression(node)) return node.operatorToken.kind === SyntaxKind.InKeyword ? node.left : undefined;
  if (!isBindingElement(node) || !node.propertyName || !isComputedPropertyName(node.propertyName)) return undefined;
  return node.propertyName.expression;
}

const takesMany = /^(?:push|unshift|splice|concat|fromCharCode|fromCodePoint)$/;
const takesNumbers = /^Math\.(?:max|min|hypot)$/;

/** Whether a call may have as many arguments as a list has items. */
function hasManyArguments(node: Node, file: SourceFile): boolean {
  if (!isCallExpression(node) || !node.arguments.some(isSpreadElement)) return false;
  const { expression } = node;
  if (!isPropertyAccessExpression(expression)) return false;
  return takesMany.test(expression.name.text) || takesNumbers.test(expression.getText(file));
}

let expressions = 0;

/** The error of a node of a file, if any. */
function errorOf(node: Node, file: SourceFile, path: string): string | undefined {
  if (isRegularExpressionLiteral(node)) {
    expressions += 1;
    const text = node.getText(file);
    const end = text.lastIndexOf('/');
    return isSlow(text.slice(1, end), text.slice(end + 1)) ? 'may take quadratic time' : undefined;
  }
  if (hasManyArguments(node, file)) return 'fails for a long list';
  const name = path === allowed ? undefined : nameIn(node);
  return name && isAnyString(checker.getTypeAtLocation(name)) ? 'use own() or a Map' : undefined;
}

const errors: string[] = [];
let files = 0;
for (const fileName of program.getSourceFileNames()) {
  const path = relative(root, fileName).replaceAll('\\', '/');
  const file = path.startsWith('src/') ? program.getSourceFile(fileName) : undefined;
  if (!file) continue;
  files += 1;
  const visit = (node: Node): void => {
    const error = errorOf(node, file, path);
    const line = (): number => file.text.slice(0, node.getStart(file)).split('\n').length;
    if (error) errors.push(`${path}:${line()}: ${node.getText(file)}: ${error}; see tools/check-source.ts`);
    node.forEachChild(visit);
  };
  visit(file);
}
api.close();

for (const error of errors) console.error(error);
console.log(`source: ${files} files, ${expressions} expressions, ${errors.length} errors`);
process.exitCode = errors.length > 0 ? 1 : 0;
