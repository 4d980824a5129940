/**
 * Bundles the program as CommonJS, whose compiled code benchtop caches (`src/base/compiled-code.ts`), with production
 * React. Code that the first frame does not need (the local service, the HTTP client, Markdown, chat) is in chunks of
 * its own, loaded on first use.
 */
import { rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type CodeSplittingNameFunction, type Plugin, rolldown } from 'rolldown';
import { checkPatches } from './patched.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The module that loads the client of the service. */
const connect = `${root}src/commands/connect.ts`;
/** The command that opens the workbench. */
const screen = `${root}src/commands/tui.tsx`;
const main = `${root}src/main.ts`;
/** The module that loads the other commands. */
const dispatch = `${root}src/commands/run.ts`;
/** Stands in for classes of Intl. */
const intl = `${root}src/base/late-intl.ts`;
/** Stands in for globals of Node. */
const globals = `${root}src/base/late-globals.ts`;
/** The entries of the local service's process. */
const daemon = [`${root}src/commands/serve.ts`, `${root}src/local/daemon/serve.ts`];

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
 * Few chunks, because each takes Node a millisecond to find and read: one for modules of the first frame alone, one for
 * those that it shares with commands, one for those that the local service shares as well, and one for the client, which
 * the first answer waits for. The modules of `main` itself stay with it, because it is compiled at every start.
 */
function startChunks(): CodeSplittingNameFunction {
  let chunks: Record<'main' | 'line' | 'screen' | 'commands' | 'service' | 'daemon', Set<string>> | undefined;
  return (id, graph) => {
    if (!chunks) {
      const late = (id: string) => graph.getModuleInfo(id)?.dynamicallyImportedIds ?? [];
      const commands = late(dispatch).filter(command => command !== screen);
      chunks = {
        main: importedBy([main], graph),
        line: importedBy([dispatch], graph),
        screen: importedBy([screen], graph),
        commands: importedBy(commands, graph),
        service: importedBy(late(connect), graph),
        daemon: importedBy(daemon, graph),
      };
      const inkIn = [...chunks.commands].find(command => command.includes('/node_modules/ink/'));
      if (inkIn) throw new Error(`A command imports ${inkIn}: every command and the local service would load it.`);
    }
    if (chunks.main.has(id)) return id === main ? null : 'base';
    // The command line parser reports errors itself, without the code shared by the commands.
    if (chunks.line.has(id)) {
      if (chunks.screen.has(id) || chunks.service.has(id)) return 'text';
      return chunks.commands.has(id) ? 'line' : null;
    }
    if (!chunks.screen.has(id)) return chunks.service.has(id) ? 'service' : null;
    if (chunks.daemon.has(id) || chunks.service.has(id)) return 'core';
    return chunks.commands.has(id) ? 'shared' : 'screen';
  };
}

/** The result of a bundle: its files, each with its modules. */
interface Bundled {
  readonly fileName: string;
  readonly imports: readonly string[];
  readonly modules: readonly string[];
}

/** Bundles the program into `folder`, replacing its content. */
export async function bundle(folder: string, plugins: readonly Plugin[] = []): Promise<Bundled[]> {
  checkPatches(root);
  const bundled = await rolldown({
    cwd: root,
    // Programs that Node starts by path: the command line, and the workers of the local service.
    input: { main, worker: `${root}src/local/engine/worker.ts` },
    platform: 'node',
    transform: {
      define: { 'process.env.NODE_ENV': '"production"' },
      inject: {
        'Intl.Segmenter': [intl, 'Segmenter'],
        'Intl.ListFormat': [intl, 'ListFormat'],
        ReadableStream: [globals, 'ReadableStream'],
      },
      target: 'node22',
    },
    // Used by `signal-exit`.
    resolve: { alias: { assert: `${root}src/base/late-assert.ts` } },
    moduleTypes: { '.txt': 'text' },
    plugins: [...plugins],
    preserveEntrySignatures: false,
    onLog: (level, log, report) => {
      // A static import defeats a dynamic import of the same module.
      if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') report('error', log);
      // "use client" only matters to servers.
      else if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
    },
  });
  await rm(folder, { recursive: true, force: true });
  const { output } = await bundled.write({
    dir: folder,
    format: 'cjs',
    strict: true,
    charset: 'ascii',
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: { groups: [{ name: startChunks(), debugName: 'start', includeDependenciesRecursively: false }] },
  });
  await bundled.close();
  // Otherwise Node would take the files for ESM, like the package.
  await writeFile(`${folder}/package.json`, '{ "type": "commonjs" }\n');
  return output.flatMap(file =>
    file.type === 'chunk'
      ? [{ fileName: file.fileName, imports: file.imports, modules: Object.keys(file.modules) }]
      : [],
  );
}
