/**
 * Bundles the program: ESM, production React, split so that what the first frame does not need (the local
 * service, the HTTP client, Markdown, chat) is read from disk only when it is used.
 */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type CodeSplittingNameFunction, type Plugin, rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The command that opens the workbench. */
const screen = `${root}src/commands/tui.tsx`;
const main = `${root}src/main.ts`;
/** What loads the other commands. */
const dispatch = `${root}src/commands/run.ts`;

/** Ink imports its devtools only if the environment asks for them; a bundle has none. */
const withoutDevtools: Plugin = {
  name: 'without-devtools',
  resolveId: { filter: { id: /^react-devtools-core$/ }, handler: () => '\0no-devtools' },
  load: { filter: { id: /no-devtools$/ }, handler: () => 'export default {}' },
};

type ModuleGraph = Parameters<CodeSplittingNameFunction>[1];

/** The modules that `entries` import, directly or not, other than by `import()`. */
function importedBy(entries: readonly string[], graph: ModuleGraph): Set<string> {
  const found = new Set<string>();
  const waiting = [...entries];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    waiting.push(...(graph.getModuleInfo(id)?.importedIds ?? []));
  }
  return found;
}

/**
 * One file for what only the first frame needs and one for what it shares with other commands. Split further, Node takes
 * 25 ms to find, read and link seventy files. What `main` needs itself stays with it: Node compiles it before the cache
 * of compiled code is switched on, and again with every start.
 */
function startChunks(): CodeSplittingNameFunction {
  let chunks: Record<'main' | 'line' | 'screen' | 'shared', Set<string>> | undefined;
  return (id, graph) => {
    if (!chunks) {
      const late = (id: string) => graph.getModuleInfo(id)?.dynamicallyImportedIds ?? [];
      const commands = late(dispatch).filter(command => command !== screen);
      chunks = {
        main: importedBy([main], graph),
        line: importedBy([dispatch], graph),
        screen: importedBy([screen], graph),
        shared: importedBy(commands, graph),
      };
    }
    if (chunks.main.has(id)) return id === main ? null : 'base';
    // What reads a command line also says what is wrong with it: without all that the other commands share.
    if (chunks.line.has(id) && (chunks.screen.has(id) || chunks.shared.has(id))) return 'line';
    if (!chunks.screen.has(id)) return null;
    return chunks.shared.has(id) ? 'shared' : 'screen';
  };
}

/** What a bundle is made of: its files, and for each the modules that are in it. */
export interface Bundled {
  readonly fileName: string;
  readonly imports: readonly string[];
  readonly modules: readonly string[];
}

/** Writes the program into `folder`, in the place of what is there. `plugins` come before those of every build. */
export async function bundle(folder: string, plugins: readonly Plugin[] = []): Promise<Bundled[]> {
  const bundled = await rolldown({
    cwd: root,
    // Programs that Node starts by path: the command line, and the workers of the local service.
    input: { main, worker: `${root}src/local/engine/worker.ts` },
    platform: 'node',
    transform: { define: { 'process.env.NODE_ENV': '"production"' }, target: 'node22' },
    moduleTypes: { '.txt': 'text' },
    plugins: [...plugins, withoutDevtools],
    preserveEntrySignatures: false,
    // "use client" says something to servers only.
    onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
  });
  await rm(folder, { recursive: true, force: true });
  const { output } = await bundled.write({
    dir: folder,
    format: 'esm',
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups: [{ name: startChunks(), debugName: 'start', includeDependenciesRecursively: false }] },
  });
  await bundled.close();
  return output.flatMap(file =>
    file.type === 'chunk'
      ? [{ fileName: file.fileName, imports: file.imports, modules: Object.keys(file.modules) }]
      : [],
  );
}
