/**
 * Bundles the program into `dist/`: ESM, production React, split so that what the first frame does not need
 * (the local service, the HTTP client, Markdown, chat) is read from disk only when it is used.
 */
import { readFile, rm } from 'node:fs/promises';
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

/**
 * Ink measures every cell with `string-width`; ours gives the same numbers sooner. The package itself is evaluated only
 * when the first text needs it: compiling its expressions takes 20 ms.
 */
const quickWidths: Plugin = {
  name: 'quick-widths',
  setup(context) {
    const ours = `${root}src/text/string-width.ts`;
    context.onResolve({ filter: /^string-width$/ }, ({ importer, kind }) => {
      if (kind === 'require-call') return undefined;
      return importer.startsWith(`${root}src/text/`) ? { path: 'string-width', namespace: 'late' } : { path: ours };
    });
    context.onLoad({ filter: /.*/, namespace: 'late' }, () => ({
      contents: `
        let measure;
        export default (text, options) => (measure ??= require('string-width').default)(text, options);`,
      resolveDir: root,
    }));
  },
};

/**
 * Yoga asks for its WebAssembly by `fetch` of a data URL, for which Node loads its whole HTTP client (20 ms). It is given
 * the bytes instead.
 */
const yogaBytes: Plugin = {
  name: 'yoga-bytes',
  setup(context) {
    const dataUrl = /data:application\/octet-stream;base64,([A-Za-z0-9+/=]+)/;
    const loader = /yoga-layout\/dist\/binaries\/yoga-wasm-base64-esm\.js$/;
    context.onLoad({ filter: loader, namespace: 'file' }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      if (!dataUrl.test(source)) throw new Error(`${path} holds its WebAssembly in another way than the build expects`);
      return {
        contents: `import wasmBinary from 'yoga-wasm:${path}';
          ${source.replace(dataUrl, 'yoga.wasm').replace('export default loadYoga', '')}
          export default options => loadYoga({ wasmBinary, ...options });`,
      };
    });
    context.onResolve({ filter: /^yoga-wasm:/ }, ({ path }) => ({
      path: path.slice('yoga-wasm:'.length),
      namespace: 'yoga-wasm',
    }));
    context.onLoad({ filter: /.*/, namespace: 'yoga-wasm' }, async ({ path }) => {
      const [, base64 = ''] = dataUrl.exec(await readFile(path, 'utf8')) ?? [];
      return { contents: Buffer.from(base64, 'base64'), loader: 'binary' };
    });
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
  plugins: [withoutDevtools, quickWidths, yogaBytes],
  logLevel: 'warning',
});
if (result.metafile) {
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${root}/dist/meta.json`, JSON.stringify(result.metafile));
}
