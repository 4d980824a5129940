/**
 * Caches the compiled code of the bundle's files. Node's own cache (`module.enableCompileCache`) is written before a
 * file runs, so it lacks the functions that V8 compiles lazily. This one is written after they have run.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

interface Compiled {
  readonly script: Script;
  readonly path: string;
  /** The source's checksum. */
  readonly sum: number;
}

/** The folder for this process's compiled code. */
let folder = '';
/** Scripts that are not in the cache yet. */
let uncachedScripts: Compiled[] = [];

/** V8 does not validate cached code: corrupt code crashes the process. */
const sumOf = (data: Uint8Array): number => process.getBuiltinModule('node:zlib').crc32(data);

/** Checksums of the source and of the code. V8 reads the code in place if its address is a multiple of eight. */
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
    // The next start will compile it again.
    rmSync(fresh, { force: true });
  }
}

/** A CommonJS module is a function body. */
const functionOpening = Buffer.from('(function(exports,require,module,__filename,__dirname){');
const closing = Buffer.from('\n})');

function compile(file: string): Script {
  const data = readFileSync(file);
  const [path, sum] = [join(folder, basename(file)), sumOf(data)];
  const cachedData = readCode(path, sum);
  // Joined as bytes: V8 would copy joined strings.
  const source = Buffer.concat([functionOpening, data, closing]).toString();
  // Makes the columns in stack traces match the file.
  const options = { filename: file, columnOffset: -functionOpening.length };
  const script = new Script(source, cachedData ? { ...options, cachedData } : options);
  if (!cachedData || script.cachedDataRejected) uncachedScripts.push({ script, path, sum });
  return script;
}

/** Built-in Node modules to load on first use, because most processes never need them. */
const lateModules: ReadonlySet<string> = new Set(
  ['child_process', 'crypto', 'dns', 'fs/promises', 'http', 'http2', 'https', 'readline', 'sqlite', 'tls', 'v8'].map(
    name => `node:${name}`,
  ),
);

/** A module that loads on first use. The bundle copies own properties, which would load it, but keeps the prototype. */
function whenUsed(id: string): object {
  return Object.create(new Proxy({}, { get: (_, name) => Reflect.get(process.getBuiltinModule(id) as object, name) }));
}

/**
 * Loads the bundle's `.cjs` files with compiled code from a folder. Missing code is written there, at the latest when
 * the process exits.
 *
 * @param purpose what the process is for, which decides the functions that it runs
 */
export function cacheCompiledCode(root: string, purpose: string): void {
  folder = join(root, `${process.version}-${process.arch}`, purpose);
  createRequire(import.meta.url).extensions['.cjs'] = (module, file) => {
    const load = (id: string): unknown => (lateModules.has(id) ? whenUsed(id) : module.require(id));
    const run = compile(file).runInThisContext() as (...values: unknown[]) => void;
    run.call(module.exports, module.exports, load, module, file, dirname(file));
  };
  process.on('exit', saveCompiledCode);
}

/**
 * Writes missing code to the cache, including the functions that have run so far. Call this before changing V8's flags.
 */
export function saveCompiledCode(): void {
  for (const compiled of uncachedScripts) writeCode(compiled);
  uncachedScripts = [];
  // Compiled code is valid only under the same flags.
  if (!folder.endsWith('-later')) folder += '-later';
}
