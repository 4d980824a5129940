/** Checks that the packages have the changes of `patches`: `npm ci --ignore-scripts` skips them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The texts of patched files, by path: the lines of each hunk with their context. */
function textsOf(patch: string): (readonly [path: string, text: string])[] {
  return patch.split(/^diff --git a\/\S+ b\//m).flatMap(part => {
    const [head = '', ...hunks] = part.split(/^@@ .*\n/m);
    const path = head.split('\n', 1)[0] ?? '';
    return hunks.map(hunk => {
      const kept = hunk.split('\n').filter(line => /^[ +]/.test(line));
      return [path, kept.map(line => line.slice(1)).join('\n')] as const;
    });
  });
}

/** @throws Error if a package has another version than its patch, or lacks the changes */
export function checkPatches(root: string): void {
  for (const name of readdirSync(join(root, 'patches'))) {
    const [, scoped = '', version] = /^(.+)\+(.+)\.patch$/.exec(name) ?? [];
    if (version === undefined) continue;
    const folder = join(root, 'node_modules', scoped.replace('+', '/'));
    const manifest = join(folder, 'package.json');
    const installed = existsSync(manifest)
      ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string })
      : undefined;
    const isPatched = (): boolean =>
      textsOf(readFileSync(join(root, 'patches', name), 'utf8')).every(([path, text]) =>
        readFileSync(join(root, path), 'utf8').includes(text),
      );
    if (installed?.version !== version || !isPatched()) {
      throw new Error(
        `patches/${name} is not applied. Run \`npm ci\`, or \`npx patch-package\` after another installer.`,
      );
    }
  }
}
