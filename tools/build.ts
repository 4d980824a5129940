/**
 * Bundles the program into `dist/`: ESM, production React, split so that what the first frame does not need
 * (the local service, the HTTP client, Markdown, chat) is read from disk only when it is used. The workbench is a bundle of
 * its own, `dist/screen`, in which all that the first frame needs is one file.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { joinFirst } from './join-first.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The command that opens the workbench. */
const screen = 'src/commands/tui.tsx';

/** The command line finds the workbench in its bundle. */
const screenApart: Plugin = {
  name: 'screen-apart',
  setup(context) {
    context.onResolve({ filter: /\/commands\/tui\.tsx$/ }, () => ({ path: './screen/tui.js', external: true }));
  },
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

/** Parts of Node that the first request to a service on this machine needs none of. */
const notAtOnce = /^(?:node:)?(crypto|dns|http2|https|tls|zlib)$/;

/**
 * Parts of Node that are loaded when something of them is first used, instead of with whatever imports them: 20 ms for those
 * of got alone. An import of `node:http` reads every name that it exports, and one of them loads Node's fetch (20 ms):
 * required, it is as it is. The prototype stands in for the module because that is what esbuild keeps of a required one.
 */
const lateBuiltins: Plugin = {
  name: 'late-builtins',
  setup(context) {
    context.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'require-call' ? undefined : { path: 'node:http', namespace: 'required' },
    );
    context.onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
    context.onResolve({ filter: notAtOnce }, ({ path, kind }) =>
      kind === 'import-statement' ? { path: `node:${notAtOnce.exec(path)?.[1]}`, namespace: 'not-at-once' } : undefined,
    );
    context.onLoad({ filter: /.*/, namespace: 'not-at-once' }, ({ path }) => ({
      contents: `
        let loaded;
        const get = (_, name) => (loaded ??= require('${path}'))[name];
        module.exports = Object.create(new Proxy({}, { get, has: (_, name) => name in (loaded ??= require('${path}')) }));`,
    }));
  },
};

/**
 * Ink's helpers make their segmenters as they are loaded, which takes 7 ms, and cut every line of every frame with them,
 * a hundred times slower than ours does. Those that only walk through a text get ours; the others make theirs late.
 */
const quickSegments: Plugin = {
  name: 'quick-segments',
  setup(context) {
    const made = /const (\w+) = (new Intl\.Segmenter\([^)]*\));/g;
    const late = 'const $1 = { made: undefined, segment(text) { return (this.made ??= $2).segment(text); } };';
    const ours = `import { segments } from ${JSON.stringify(`${root}src/text/width.ts`)};\n`;
    const helpers = /node_modules\/(ink|slice-ansi|wrap-ansi|@alcalzone\/ansi-tokenize)\/.*\.js$/;
    context.onLoad({ filter: helpers }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      if (source.search(made) < 0) return undefined;
      const onlyWalks = !source.includes('.containing(');
      return {
        contents: onlyWalks
          ? ours + source.replace(made, 'const $1 = { segment: segments };')
          : source.replace(made, late),
      };
    });
  },
};

/** Ink composes every cell of every frame; ours looks first which rows are new. */
const quickOutput: Plugin = {
  name: 'quick-output',
  setup(context) {
    const ours = JSON.stringify(`${root}src/ui/app/painter/cached-rows.ts`);
    context.onLoad({ filter: /node_modules\/ink\/build\/output\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const declared = 'export default class Output';
      // Made anew for each character of each line.
      const expression = '/^\\p{Default_Ignorable_Code_Point}+$/u';
      for (const part of [declared, expression]) {
        if (!source.includes(part)) throw new Error(`${path} is not what the build expects: ${part} is not in it`);
      }
      const altered = source.replace(declared, 'class Output').replace(expression, 'ignorable');
      return {
        contents: `import { cachedRows } from ${ours};
          const ignorable = ${expression};
          ${altered}
          export default cachedRows(Output);`,
      };
    });
  },
};

/**
 * What got does as it is loaded, or at every request, and a request to a service on this machine needs none of: its client for
 * HTTP/2, unpacking, an id for those who trace it, and two formatters for its complaints. Each loads a part of Node, or takes
 * milliseconds to make.
 */
const quickGot: Plugin = {
  name: 'quick-got',
  setup(context) {
    const knowsZstd = { "typeof zlib.createZstdDecompress === 'function'": "'zstd' in process.versions" };
    const changes: readonly (readonly [file: RegExp, parts: Readonly<Record<string, string>>])[] = [
      [
        /got\/dist\/source\/core\/options\.js$/,
        {
          "import http2Client from './utils/http2-client.js';": `const http2Client = {
            get globalAgent() { return require('./utils/http2-client.js').default.globalAgent; },
            get auto() { return require('./utils/http2-client.js').default.auto; },
          };`,
          '?? checkServerIdentity,': '?? ((host, certificate) => checkServerIdentity(host, certificate)),',
        },
      ],
      [/got\/dist\/source\/core\/diagnostics-channel\.js$/, { 'return randomUUID();': "return '';" }],
      [/got\/dist\/source\/core\/utils\/decompress-response\.js$/, knowsZstd],
      [/\/decompress-response\/index\.js$/, knowsZstd],
    ];
    for (const [filter, parts] of changes) {
      context.onLoad({ filter }, async ({ path }) => {
        let contents = await readFile(path, 'utf8');
        for (const [part, instead] of Object.entries(parts)) {
          if (!contents.includes(part)) throw new Error(`${path} is not what the build expects: ${part} is not in it`);
          contents = contents.replace(part, instead);
        }
        return { contents };
      });
    }
    const made = /const (\w+) = (new Intl\.ListFormat\([^)]*\));/g;
    const late = 'const $1 = { format: list => $2.format(list) };';
    context.onLoad({ filter: /node_modules\/@sindresorhus\/is\/.*\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(made, late),
    }));
  },
};

const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  minify: true,
  sourcemap: false,
  legalComments: 'linked',
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.txt': 'text' },
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
};
const plugins = [withoutDevtools, quickWidths, yogaBytes, lateBuiltins, quickOutput, quickSegments, quickGot];

await rm(`${root}/dist`, { recursive: true, force: true });
await build({
  ...shared,
  // Programs that Node starts by path: the command line, and the workers of the local service.
  entryPoints: { main: 'src/main.ts', worker: 'src/local/engine/worker.ts' },
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  plugins: [screenApart, ...plugins],
});
const { metafile } = await build({
  ...shared,
  entryPoints: { tui: screen },
  outdir: 'dist/screen',
  chunkNames: '[name]-[hash]',
  metafile: true,
  plugins,
});
await joinFirst(metafile.outputs, screen, join(root, 'dist/screen'), root);
if (process.argv.includes('--meta')) {
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${root}/dist/meta.json`, JSON.stringify(metafile));
}
