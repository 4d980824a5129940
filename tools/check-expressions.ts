/**
 * Refuses regular expressions in `src` that may take quadratic time on a text, which may come over the wire. Checks
 * literals; constructed expressions need a test.
 *
 * To fix one, begin a run at its first character, `/(?<!x)x+$/`; keep the start out of the loop, `/<[^<>]*>/`; bound
 * it, `/<.{0,200}>/`; or leave out a `$` that always holds. `trimEnd` of `src/base/trim.ts` replaces `/x+$/`.
 */
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Node } from 'typescript/unstable/ast';
import { isRegularExpressionLiteral } from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';
import { isSlow } from './slow-expressions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const api = new API({ cwd: root });
const [project] = api.updateSnapshot({ openProjects: [resolve(root, 'tsconfig.json')] }).getProjects();
if (!project) throw new Error('tsconfig.json gives no project');
const { program } = project;

const errors: string[] = [];
let expressions = 0;
for (const fileName of program.getSourceFileNames()) {
  const path = relative(root, fileName).replaceAll('\\', '/');
  const file = path.startsWith('src/') ? program.getSourceFile(fileName) : undefined;
  if (!file) continue;
  const visit = (node: Node): void => {
    if (isRegularExpressionLiteral(node)) {
      expressions += 1;
      const text = node.getText(file);
      const end = text.lastIndexOf('/');
      if (isSlow(text.slice(1, end), text.slice(end + 1))) {
        const line = file.text.slice(0, node.getStart(file)).split('\n').length;
        errors.push(`${path}:${line}: ${text}: may take quadratic time; see tools/check-expressions.ts`);
      }
    }
    node.forEachChild(visit);
  };
  visit(file);
}
api.close();

for (const error of errors) console.error(error);
console.log(`expressions: ${expressions}, ${errors.length} errors`);
process.exitCode = errors.length > 0 ? 1 : 0;
