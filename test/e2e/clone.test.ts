/**
 * README's first lines in a fresh clone, with nothing on the path but Node and npm. `.ci/run` installs the packages of
 * such a clone with `npm ci`, and runs the tests in it.
 */
import { execFile, execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { examples } from '../readme.ts';
import { freshClone, repository } from './packed.ts';
import { freshHome, openSession } from './session.ts';

const [runs, , packs] = examples.filter(({ language }) => language === 'sh').map(({ text }) => text.trim());

/** The copy of all packages may take minutes on a busy machine. */
const timeout = 400_000;

let folder: string;
let clone: string;
let home: ReturnType<typeof freshHome>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-clone-'));
  clone = join(folder, 'clone');
  await freshClone(clone);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const pathOf = (name: string) =>
    realpathSync(
      execFileSync('sh', ['-c', `command -v ${name}`])
        .toString()
        .trim(),
    );
  // npm runs scripts with sh.
  for (const name of ['npm', 'sh']) symlinkSync(pathOf(name), join(bin, name));
  symlinkSync(process.execPath, join(bin, 'node'));
  home = freshHome();
  // The access of this machine to the registry, and its downloads.
  const network =
    /^(npm_config_(registry|cache|userconfig|cafile|(https?_|no)?proxy)|(https?|no)_proxy|node_extra_ca_certs|ssl_cert_\w+)$/i;
  const inherited = Object.entries(process.env).filter(([name]) => network.test(name));
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'cache', 'userconfig']);
  const [, cache = '', userconfig = ''] = /^cache=(.*)\nuserconfig=(.*)$/m.exec(stdout) ?? [];
  const npm = { npm_config_cache: cache, npm_config_userconfig: userconfig, npm_config_audit: 'false' };
  Object.assign(home.env, Object.fromEntries(inherited), npm, { PATH: bin });
});
afterAll(async () => {
  await home.remove();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const sh = (line: string, more: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)('/bin/sh', ['-ec', line], { cwd: clone, env: { ...home.env, ...more } });

it('is installed and started with one line', { timeout }, async () => {
  expect(runs).toBe('npm ci && npm start');
  const [install = '', start = ''] = runs?.split(' && ') ?? [];
  // Unpacking 500 MB takes most of npm's time, so copy the packages, and run the scripts that npm runs after that.
  await sh(`${install} --dry-run`);
  await promisify(execFile)('cp', ['-R', join(repository, 'node_modules'), clone]);
  await sh('npm rebuild && npm run dependencies');
  const session = openSession(home.env, { inShell: ['/bin/sh', '-c', start], cwd: clone });
  await session.waitFor('▸ t-words');
  session.press('q');
  expect(await session.ended).toMatchObject({ exitCode: 0 });
});

it('is packed, even if `npm ci` has not run (C21), and linked with its man page (C8)', { timeout }, async () => {
  expect(packs).toBe('npm pack\nnpm install --global ./benchtop-*.tgz');
  const [aside, asked] = [join(folder, 'node_modules'), join(folder, 'asked')];
  renameSync(join(clone, 'node_modules'), aside);
  rmSync(join(clone, 'dist'), { recursive: true });
  // Restore what the first test has installed.
  const npm = join(home.home, 'npm');
  const lines = [`[ "$*" = ci ] || exec '${join(folder, 'bin/npm')}' "$@"`, `echo "$PWD" >> '${asked}'`];
  writeFileSync(npm, ['#!/bin/sh', ...lines, `exec /bin/mv '${aside}' node_modules`, ''].join('\n'), { mode: 0o755 });
  const prefix = join(folder, 'global');
  await sh(packs ?? '', { npm_config_prefix: prefix, PATH: `${home.home}:${home.env['PATH']}` });
  expect(readFileSync(asked, 'utf8')).toBe(`${clone}\n`);
  expect(readdirSync(join(prefix, 'bin'))).toEqual(['benchtop']);
  expect(readdirSync(join(prefix, 'share/man/man1'))).toEqual(['benchtop.1']);
});
