/**
 * Adds a resource to a copy of the repository as CONTRIBUTING.md describes: four files and one line in each of three
 * index files. All checks of resources must pass without any other change.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from './contributing-code.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const copied = [
  'src',
  'test',
  'tools',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'biome.json',
  '.gitignore',
];

const code = codeOf('How to add a resource');
const isIndex = (path: string): boolean => existsSync(join(root, path));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-contributing-'));
  for (const name of copied) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, text] of code) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, (isIndex(path) ? readFileSync(target, 'utf8') : '') + text);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a script in the copy. @throws Error with its output if it fails */
async function run(script: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, ...args], {
    cwd: folder,
    env: { ...process.env, VITEST: undefined, FORCE_COLOR: '0' },
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${script} ${args.join(' ')} failed:\n${error.stdout}\n${error.stderr}`);
  });
  return stdout + stderr;
}

const vitest = 'node_modules/vitest/vitest.mjs';

describe('a resource', () => {
  it('takes four files, and one line in each of three index files', () => {
    const paths = [...code.keys()];
    expect(paths.filter(path => !isIndex(path)).map(dirname)).toEqual([
      'src/contract',
      'src/resources',
      'src/local/server/routes',
      'test/conformance/records',
    ]);
    const lines = paths.filter(isIndex).map(path => code.get(path)?.trimEnd().split('\n').length);
    expect(lines).toEqual([1, 1, 1]);
  });

  it('is formatted as in CONTRIBUTING once npm run format has sorted the index files', async () => {
    const biome = 'node_modules/@biomejs/biome/bin/biome';
    const paths = [...code.keys()];
    await run(biome, 'check', '--write', ...paths);
    await run(biome, 'check', ...paths);
    for (const path of paths.filter(each => !isIndex(each))) {
      expect(readFileSync(join(folder, path), 'utf8')).toBe(code.get(path));
    }
  });

  it('passes type checks, and imports nothing from higher layers', async () => {
    // Only the program and the records: checking the tests too takes twice as long.
    const config = {
      extends: './tsconfig.json',
      compilerOptions: { incremental: false },
      include: ['src', 'test/conformance'],
    };
    writeFileSync(join(folder, 'tsconfig.changed.json'), JSON.stringify(config));
    await run('node_modules/typescript/bin/tsc', '--project', 'tsconfig.changed.json');
    expect(await run('tools/check-layers.ts')).toContain(', 0 errors');
  });

  it('is in the list, the record, the palette, help, Watch and on the command line', async () => {
    const report = await run(vitest, 'run', 'test/resources.test.tsx', '-t', 'projects');
    // Of all resources, and of the sample.
    expect(Number(/(\d+) passed/.exec(report.slice(report.indexOf('Tests')))?.[1])).toBeGreaterThan(5);
  });

  // Some hundred tests, in a separate process.
  it('needs no changes to the checks of all operations and views', { timeout: 400_000 }, async () => {
    const files = ['test/contract', 'test/service/calls.test.ts', 'test/ui/app/completeness.test.ts'];
    // With -u: the contract as it is written out in shape.txt gains the endpoints.
    await run(vitest, 'run', '-u', ...files, 'test/ui/program/reach.test.tsx');
  });
});
