/**
 * Joins what a bundle needs at its start into one file. A bundler that splits makes a file of every set of modules that
 * the same entries share, seventy for the first frame; to find, read and link them takes Node 25 ms.
 */
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { parseSync } from 'oxc-parser';

type Outputs = Metafile['outputs'];

/** The file of the entry and all that it imports, directly or not, by their names. */
function neededAtStart(outputs: Outputs, entry: string): Set<string> {
  const first = new Set<string>();
  const visit = (path: string): void => {
    if (first.has(basename(path))) return;
    first.add(basename(path));
    for (const { path: imported, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external) visit(imported);
    }
  };
  visit(entry);
  return first;
}

/** What a name of a file is called in the joined one. */
const joinedName = (files: readonly string[], file: string, name: string): string => `${name}_${files.indexOf(file)}`;

/**
 * Joins the files in `folder` that the output of `entryPoint` needs at its start, under the name of its own file. The others
 * then import from there.
 */
export async function joinFirst(outputs: Outputs, entryPoint: string, folder: string, root: string): Promise<void> {
  const entry = Object.keys(outputs).find(path => outputs[path]?.entryPoint === entryPoint);
  if (!entry) throw new Error(`The bundle has no output for ${entryPoint}`);
  const first = neededAtStart(outputs, entry);
  const files = [...first];
  const target = basename(entry);
  const exportsOf = (file: string): readonly string[] =>
    Object.entries(outputs).find(([path]) => basename(path) === file)?.[1].exports ?? [];

  const stay: Plugin = {
    name: 'stay',
    setup(context) {
      context.onResolve({ filter: /^\.\// }, ({ path, kind }) => {
        if (kind === 'dynamic-import' && first.has(basename(path))) {
          throw new Error(`${path} is loaded late and needed at the start: import it in one way`);
        }
        return first.has(basename(path)) ? undefined : { path, external: true };
      });
    },
  };
  const exported = files.map(file => {
    const names = exportsOf(file).map(name => `${name} as ${joinedName(files, file, name)}`);
    return `export { ${names.join(', ')} } from './${file}';`;
  });
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: {
      contents: [`export { ${exportsOf(target).join(', ')} } from './${target}';`, ...exported].join('\n'),
      resolveDir: folder,
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    minify: true,
    legalComments: 'none',
    write: false,
    plugins: [stay],
    logLevel: 'warning',
  });
  for (const path of Object.keys(outputs)) {
    const file = basename(path);
    if (!file.endsWith('.js') || first.has(file)) continue;
    const source = await readFile(join(folder, file), 'utf8');
    await writeFile(join(folder, file), importFromJoined(source, file, files, target));
  }
  const legal = files.map(file => join(folder, `${file}.LEGAL.txt`)).filter(path => existsSync(path));
  const licences = await Promise.all(legal.map(path => readFile(path, 'utf8')));
  for (const path of [...files.map(file => join(folder, file)), ...legal]) await rm(path);
  await writeFile(join(folder, `${target}.LEGAL.txt`), licences.join('\n'));
  await writeFile(join(folder, target), outputFiles[0]?.text ?? '');
}

/** The source of a late file, with what it imported from joined ones imported from where that is now. */
function importFromJoined(source: string, file: string, files: readonly string[], target: string): string {
  const { module } = parseSync(file, source);
  if (module.dynamicImports.some(({ moduleRequest }) => files.some(name => moduleOf(source, moduleRequest) === name))) {
    throw new Error(`${file} loads late what is needed at the start`);
  }
  let out = '';
  let at = 0;
  for (const { start, end, moduleRequest, entries } of module.staticImports) {
    const from = basename(moduleRequest.value);
    if (!files.includes(from)) continue;
    const names = entries.map(({ importName, localName }) => {
      if (importName.kind === 'NamespaceObject') throw new Error(`${file} imports all of ${from}`);
      const name = importName.kind === 'Default' ? 'default' : (importName.name ?? '');
      return `${joinedName(files, from, name)} as ${localName.value}`;
    });
    out += `${source.slice(at, start)}import{${names.join(',')}}from"./${target}";`;
    at = end;
  }
  return out + source.slice(at);
}

function moduleOf(source: string, { start, end }: { readonly start: number; readonly end: number }): string {
  return basename(source.slice(start + 1, end - 1));
}
