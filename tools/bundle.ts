/**
 * Bundles the program: ESM, production React, split so that code the first frame does not need (the local service, the
 * HTTP client, Markdown, chat) is loaded only when it is used.
 */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type CodeSplittingNameFunction, type Plugin, rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The module that loads what talks to the service. */
const connect = `${root}src/commands/connect.ts`;
/** The command that opens the workbench. */
const screen = `${root}src/commands/tui.tsx`;
const main = `${root}src/main.ts`;
/** The module that loads the other commands. */
const dispatch = `${root}src/commands/run.ts`;

/** Ink imports its devtools only if the environment asks for them; the bundle has none. */
export const withoutDevtools: Plugin = {
  name: 'without-devtools',
  resolveId: { filter: { id: /^react-devtools-core$/ }, handler: () => '\0no-devtools' },
  load: { filter: { id: /no-devtools$/ }, handler: () => 'export default {}' },
};

type ModuleGraph = Parameters<CodeSplittingNameFunction>[1];

/** The modules that `entries` import statically, directly or not. */
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
 * One chunk for what only the first frame needs, and one for what it shares with the command line, with other commands or
 * with both; one for what talks to the service, which the first answer waits for. With more chunks Node takes 25 ms to find, read and link seventy files. What `main` itself needs stays with it:
 * Node compiles it before the compile cache is enabled, on every start.
 */
function startChunks(): CodeSplittingNameFunction {
  let chunks: Record<'main' | 'line' | 'screen' | 'shared' | 'service', Set<string>> | undefined;
  return (id, graph) => {
    if (!chunks) {
      const late = (id: string) => graph.getModuleInfo(id)?.dynamicallyImportedIds ?? [];
      const commands = late(dispatch).filter(command => command !== screen);
      chunks = {
        main: importedBy([main], graph),
        line: importedBy([dispatch], graph),
        screen: importedBy([screen], graph),
        shared: importedBy(commands, graph),
        service: importedBy(late(connect), graph),
      };
    }
    if (chunks.main.has(id)) return id === main ? null : 'base';
    // The command line parser reports errors itself, without the code shared by the commands.
    if (chunks.line.has(id)) {
      if (chunks.screen.has(id) || chunks.service.has(id)) return 'text';
      return chunks.shared.has(id) ? 'line' : null;
    }
    if (!chunks.screen.has(id)) return chunks.service.has(id) ? 'service' : null;
    return chunks.shared.has(id) ? 'shared' : 'screen';
  };
}

/** The result of a bundle: its files, each with its modules. */
export interface Bundled {
  readonly fileName: string;
  readonly imports: readonly string[];
  readonly modules: readonly string[];
}

/** Bundles the program into `folder`, replacing its content. `plugins` run before the standard ones. */
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
    onLog: (level, log, report) => {
      // What should be loaded late is loaded at once, because something imports it statically.
      if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') report('error', log);
      // "use client" only matters to servers.
      else if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
    },
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
