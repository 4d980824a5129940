/**
 * Caches the compiled code of the bundle's files. Node's own cache (`module.enableCompileCache`) is filled before a file
 * runs, with what V8 compiles first: the other functions are compiled at every start. This one is filled afterwards.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

interface Compiled {
  readonly script: Script;
  readonly path: string;
  /** Checksum of the source. */
  readonly sum: number;
}

/** The folder of the code that is loaded now. */
let folder = '';
/** What is compiled, and not yet in the cache. */
let uncached: Compiled[] = [];

/** V8 does not check the code that it reads: damaged code ends the process. */
const sumOf = (data: Uint8Array): number => process.getBuiltinModule('node:zlib').crc32(data);

/** Two checksums, of the source and of the code, which V8 reads in place if its address is a multiple of eight. */
const headBytes = 8;

function readCode(path: string, sum: number): Buffer | undefined {
  try {
    const data = readFileSync(path);
    const code = data.subarray(headBytes);
    return data.readUInt32LE(0) === sum && data.readUInt32LE(4) === sumOf(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function writeCode({ script, path, sum }: Compiled): void {
  const code = script.createCachedData();
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(sum, 0);
  head.writeUInt32LE(sumOf(code), 4);
  const fresh = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(fresh, Buffer.concat([head, code]), { mode: 0o600 });
    renameSync(fresh, path);
  } catch {
    // The next start compiles it again.
    rmSync(fresh, { force: true });
  }
}

/** A CommonJS module is the body of a function. */
const opening = Buffer.from('(function(exports,require,module,__filename,__dirname){');
const closing = Buffer.from('\n})');

function compile(file: string): Script {
  const data = readFileSync(file);
  const [path, sum] = [join(folder, basename(file)), sumOf(data)];
  const cachedData = readCode(path, sum);
  // Joined as bytes: V8 would copy joined strings.
  const source = Buffer.concat([opening, data, closing]).toString();
  // The columns of a stack trace are those of the file.
  const options = { filename: file, columnOffset: -opening.length };
  const script = new Script(source, cachedData ? { ...options, cachedData } : options);
  if (!cachedData || script.cachedDataRejected) uncached.push({ script, path, sum });
  return script;
}

/** Parts of Node that are loaded when they are first used, because most processes never need them. */
const late: ReadonlySet<string> = new Set(
  ['child_process', 'crypto', 'dns', 'fs/promises', 'http', 'http2', 'https', 'readline', 'sqlite', 'tls', 'v8'].map(
    name => `node:${name}`,
  ),
);

/** Has no properties of its own, which the bundle would copy, but those of its prototype, which the bundle keeps. */
function whenUsed(id: string): object {
  return Object.create(new Proxy({}, { get: (_, name) => Reflect.get(process.getBuiltinModule(id) as object, name) }));
}

/**
 * Loads the bundle's `.cjs` files with the compiled code of a folder, where missing code is written when the process
 * exits at the latest.
 *
 * @param purpose of the process: for another one, other functions run
 */
export function cacheCompiledCode(root: string, purpose: string): void {
  folder = join(root, `${process.version}-${process.arch}`, purpose);
  createRequire(import.meta.url).extensions['.cjs'] = (module, file) => {
    const load = (id: string): unknown => (late.has(id) ? whenUsed(id) : module.require(id));
    const run = compile(file).runInThisContext() as (...values: unknown[]) => void;
    run.call(module.exports, module.exports, load, module, file, dirname(file));
  };
  process.on('exit', saveCompiledCode);
}

/** Writes missing code, with the functions that have run so far. To be called before V8 gets other flags. */
export function saveCompiledCode(): void {
  for (const compiled of uncached) writeCode(compiled);
  uncached = [];
  // Code is valid under the same flags only.
  if (!folder.endsWith('-later')) folder += '-later';
}
