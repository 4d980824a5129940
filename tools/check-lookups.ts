/**
 * Finds lookups in plain objects by a name known only at run time. Such a name may come over the wire and be
 * `__proto__` or `constructor`, which every object inherits; a `Map`, or `own` of `src/base/own-property.ts`, finds only its own
 * entries. Checks `object[name]`, `name in object` and `{ [name]: value } = object` in `src`, wherever the type of
 * `name` is `string` rather than a set of known words. Arrays are indexed by numbers and are not affected.
 */
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isBindingElement,
  isComputedPropertyName,
  isElementAccessExpression,
} from 'typescript/unstable/ast/is';
import { API, type Type, TypeFlags } from 'typescript/unstable/sync';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Exempt: it first checks whether the object has the name. */
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

const errors: string[] = [];
let files = 0;
for (const fileName of program.getSourceFileNames()) {
  const path = relative(root, fileName).replaceAll('\\', '/');
  const file = path.startsWith('src/') && path !== allowed ? program.getSourceFile(fileName) : undefined;
  if (!file) continue;
  files += 1;
  const visit = (node: Node): void => {
    const name = nameIn(node);
    if (name && isAnyString(checker.getTypeAtLocation(name))) {
      const line = file.text.slice(0, node.getStart(file)).split('\n').length;
      errors.push(`${path}:${line}: ${node.getText(file)}: use own() or a Map`);
    }
    node.forEachChild(visit);
  };
  visit(file);
}
api.close();

for (const error of errors) console.error(error);
console.log(`lookups: ${files} files, ${errors.length} errors`);
process.exitCode = errors.length > 0 ? 1 : 0;
