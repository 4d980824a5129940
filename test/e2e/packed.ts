/** The package from `npm pack`, installed in empty folders, and the releases of Node that it must work on. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const repository = fileURLToPath(new URL('../..', import.meta.url));
const execute = promisify(execFile);

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Readonly<Record<string, unknown>> & {
    readonly version: string;
    readonly engines: { readonly node: string };
    readonly scripts: Readonly<Record<string, string>>;
  };

/** The oldest release that `engines` allows, and the newest there is. */
export const nodeReleases = [`${readManifest(repository).engines.node.replace('>=', '')}.0`, '26.10.0'] as const;

/** Runs npm. Returns its standard output. */
async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await execute('npm', ['--no-audit', '--no-fund', '--loglevel=error', ...args], { cwd });
  return stdout;
}

/** The path of a release of Node; downloaded once. */
export async function nodeRelease(version: string): Promise<string> {
  const folder = join(repository, 'node_modules/.cache/benchtop', `node-${version}`);
  const packageName = `node-${process.platform}-${process.arch}`;
  const path = join(folder, 'node_modules', packageName, 'bin/node');
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  await npm(['install', '--no-save', `${packageName}@${version}`], folder);
  return path;
}

export interface Packed {
  readonly tarball: string;
  /** Paths in the package. */
  readonly files: readonly string[];
  /** Unpacked size in bytes. */
  readonly size: number;
  readonly manifest: ReturnType<typeof readManifest>;
  /** Installs the package into an empty folder, with the npm and the Node first on the path. Returns the folder. */
  readonly install: (environment: NodeJS.ProcessEnv) => Promise<string>;
  readonly remove: () => void;
}

/** Makes a fresh clone: the files that are tracked, or would be. */
export async function freshClone(clone: string): Promise<void> {
  const { stdout: tracked } = await execute('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: repository,
  });
  for (const path of tracked.split('\0').filter(name => name && existsSync(join(repository, name)))) {
    cpSync(join(repository, path), join(clone, path));
  }
}

/** Packs a fresh clone, with the packages that `npm ci` installed here. */
export async function pack(): Promise<Packed> {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-pack-'));
  const clone = join(folder, 'clone');
  await freshClone(clone);
  symlinkSync(join(repository, 'node_modules'), join(clone, 'node_modules'));
  const said = await npm(['pack', '--json', '--pack-destination', folder], clone);
  // Output of scripts that npm runs comes before it.
  const report: unknown = JSON.parse(said.slice(said.search(/^[[{]/m)));
  const [packed] = (Array.isArray(report) ? report : Object.values(report as object)) as {
    filename: string;
    files: { path: string }[];
    unpackedSize: number;
  }[];
  if (!packed) throw new Error(`npm pack said ${said}`);
  const tarball = join(folder, packed.filename);
  return {
    tarball,
    files: packed.files.map(({ path }) => path),
    size: packed.unpackedSize,
    manifest: readManifest(clone),
    install: async environment => {
      const empty = mkdtempSync(join(folder, 'installed-'));
      writeFileSync(join(empty, 'package.json'), '{}');
      await execute('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: empty, env: environment });
      return empty;
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** A path on which a release of Node comes first. */
export function pathWith(node: string): string {
  return [dirname(node), process.env['PATH']].join(delimiter);
}
