/**
 * Checks that a file imports only from its own layer and from those below. Reads every `import`, `export … from` and
 * `import()`, including types, in `src` or in the given folder. oxlint finds cycles.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

const source = resolve(process.argv[2] ?? fileURLToPath(new URL('../src', import.meta.url)));

/** Layers that all others may import. */
const small = ['base', 'text'];

/** The layers of screens and the frame. They may import only the errors of the service. */
const belowScreens = [
  ...small,
  'config',
  'contract',
  'service/errors.ts',
  'present',
  'store',
  'queries',
  'workbench',
  'uploads',
  'chat',
  'resources',
  'ui/keys',
  'ui/data',
  'ui/widgets',
  'ui/navigation',
];

/** Allowed imports per layer: other layers, and single files of them. Every file may import from its own layer. */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  text: ['base'],
  contract: small,
  grading: [...small, 'contract/finish-reason.ts'],
  config: [...small, 'contract'],
  net: [...small, 'contract', 'config/proxy.ts'],
  service: [...small, 'contract', 'config', 'net'],
  // Its rollouts share the rate limit of an upstream server.
  local: [...small, 'contract', 'grading', 'config/proxy.ts', 'net', 'service/gate.ts'],
  present: [...small, 'contract'],
  store: small,
  // How certain a mean is belongs to the data that is read, kept and remembered.
  queries: [
    ...small,
    'contract',
    'config',
    'present/statistics/full-reward.ts',
    'present/statistics/interval.ts',
    'present/statistics/task-mean.ts',
    'present/statistics/tasks.ts',
    'service',
    'store',
  ],
  workbench: [...small, 'contract', 'config', 'service', 'store', 'queries'],
  uploads: [...small, 'contract', 'config', 'service', 'store', 'queries', 'workbench'],
  chat: [...small, 'contract', 'service', 'store', 'workbench'],
  resources: [...small, 'contract', 'present', 'service', 'store', 'queries', 'workbench'],
  rollouts: [...small, 'contract', 'grading', 'present', 'service', 'store', 'queries', 'resources'],
  'ui/data': [
    ...small,
    'contract',
    'service/errors.ts',
    'service/index.ts',
    'service/request.ts',
    'store',
    'queries',
    'workbench',
    'uploads',
    'resources',
  ],
  'ui/keys': [...small, 'present'],
  'ui/widgets': [...small, 'contract', 'present', 'ui/keys'],
  'ui/navigation': [...small, 'resources', 'ui/keys', 'ui/widgets'],
  'ui/app': belowScreens,
  'ui/windows': [...belowScreens, 'ui/app'],
  'ui/views': [...belowScreens, 'rollouts', 'ui/app', 'ui/windows'],
  commands: [
    ...small,
    'contract',
    'config',
    'net',
    'service',
    'local',
    'present',
    'store',
    'queries',
    'workbench',
    'uploads',
    'chat',
    'resources',
    'rollouts',
    'ui/app',
    'ui/data',
    'ui/keys',
    'ui/widgets',
    'ui/views/registry.ts',
  ],
  'main.ts': ['commands', ...small, 'config'],
};

/** The layer of a file in `src`, e.g. `ui/widgets`. */
function layerOf(path: string): string {
  const parts = path.split('/');
  return parts[0] === 'ui' ? parts.slice(0, 2).join('/') : (parts[0] ?? path);
}

function importsOf(path: string): string[] {
  const text = readFileSync(join(source, path), 'utf8');
  const { module } = parseSync(path, text);
  const named = [...module.staticImports, ...module.staticExports.flatMap(entry => entry.entries)]
    .map(entry => entry.moduleRequest?.value)
    .filter(name => name !== undefined);
  const dynamic = module.dynamicImports.map(({ moduleRequest }) =>
    text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
  );
  return (
    [...named, ...dynamic]
      .filter(name => name.startsWith('.'))
      .map(name => relative(source, join(source, dirname(path), name)))
      // The file with the version.
      .filter(name => name !== '../package.json')
  );
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map(path => path.replaceAll('\\', '/'))
  .filter(path => /\.tsx?$/.test(path))
  .sort();
const errors: string[] = [];

for (const path of files) {
  const layer = layerOf(path);
  const allowed = mayImport[layer];
  if (!allowed) errors.push(`${path}: there is no such layer; add it to tools/check-layers.ts`);
  for (const target of new Set(importsOf(path))) {
    const targetLayer = layerOf(target);
    if (targetLayer !== layer && !allowed?.includes(targetLayer) && !allowed?.includes(target))
      errors.push(`${path} imports ${target}: ${layer} may not use ${targetLayer}`);
  }
}

for (const error of errors) console.error(error);
console.log(`layers: ${files.length} files, ${errors.length} errors`);
process.exitCode = errors.length > 0 ? 1 : 0;
