/**
 * Bundles the program into `dist/`: ESM, production React, split so that what the first frame does not need
 * (the local service, the HTTP client, Markdown, chat) is read from disk only when it is used.
 */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Programs that Node starts by path: the command line, and the workers of the local service. */
const entryPoints = {
  main: 'src/main.ts',
  worker: 'src/local/engine/worker.ts',
};

/** Ink imports its devtools conditionally, which a bundler hoists into an unconditional import. */
const withoutDevtools: Plugin = {
  name: 'without-devtools',
  setup(context) {
    context.onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'react-devtools-core', namespace: 'empty' }));
    context.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default {}' }));
  },
};

/** Ink measures every cell with `string-width`; ours gives the same numbers sooner. */
const quickWidths: Plugin = {
  name: 'quick-widths',
  setup(context) {
    const ours = `${root}src/text/string-width.ts`;
    context.onResolve({ filter: /^string-width$/ }, ({ importer }) =>
      importer.startsWith(`${root}src/text/`) ? undefined : { path: ours },
    );
  },
};

await rm(`${root}/dist`, { recursive: true, force: true });
const result = await build({
  absWorkingDir: root,
  entryPoints,
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  minify: true,
  sourcemap: false,
  legalComments: 'linked',
  metafile: process.argv.includes('--meta'),
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.txt': 'text' },
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  plugins: [withoutDevtools, quickWidths],
  logLevel: 'warning',
});
if (result.metafile) {
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${root}/dist/meta.json`, JSON.stringify(result.metafile));
}
