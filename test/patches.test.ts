/** The performance patches in `patches/` must not change any results, and must not be applied to another version. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { checkPatches } from '../tools/patched.ts';

/** Writes a text without any of the fast paths. */
const wide = '\n日';

/** Ideographs, syllables and private use: uniform blocks without a fast path, so samples are enough. */
const isUniform = (code: number): boolean => code >= 0x3400 && code < 0xfb00;

function everyCharacter(): string[] {
  const characters: string[] = [];
  for (let code = 0x20; code < 0x1_0000; code += isUniform(code) ? 61 : 1) {
    if ((code < 0x7f || code > 0x9f) && (code < 0xd800 || code > 0xdfff)) characters.push(String.fromCharCode(code));
  }
  return characters;
}

describe('an install', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const name = 'string-width';
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'benchtop-patches-'));
    const [patch = ''] = readdirSync(join(root, 'patches')).filter(file => file.startsWith(name));
    for (const path of [`node_modules/${name}`, `patches/${patch}`, 'package.json', 'package-lock.json']) {
      cpSync(join(root, path), join(folder, path), { recursive: true });
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The exit code of the script that `npm ci` runs, and what it printed. */
  function applyPatches(): string {
    const [program = '', ...flags] = manifest.scripts.dependencies.split(' ');
    const path = join(root, 'node_modules', program, 'index.js');
    const { status, stdout } = spawnSync(process.execPath, [path, ...flags], { cwd: folder, encoding: 'utf8' });
    return `${status}: ${stdout}`;
  }

  it('succeeds with the version that a patch was made for', () => {
    expect(applyPatches()).toMatch(/^0: /);
    expect(() => checkPatches(folder)).not.toThrow();
  });

  it('that left out a patch fails the build', () => {
    const path = join(folder, 'node_modules', name, 'index.js');
    const patched = readFileSync(path, 'utf8');
    writeFileSync(path, patched.replace('segmenter ??= new Intl.Segmenter();', ''));
    expect(() => checkPatches(folder)).toThrow(/^patches\/string-width\+.* is not applied/);
    writeFileSync(path, patched);
  });

  it('fails with another version, even if the patch still fits', () => {
    const path = join(folder, 'node_modules', name, 'package.json');
    const installed = JSON.parse(readFileSync(path, 'utf8')) as object;
    writeFileSync(path, JSON.stringify({ ...installed, version: '99.0.0' }));
    expect(applyPatches()).toMatch(/^1: .*version mismatch/s);
    expect(() => checkPatches(folder)).toThrow(/is not applied/);
  });
});

describe('string-width', () => {
  it('gives by the short way what it gives by the long one, for every character alone and between others', () => {
    const differing = everyCharacter()
      .flatMap(character => [character, `│${character}─`, `${character}${character}`])
      .filter(text => stringWidth(text) !== stringWidth(`${text}${wide}`) - 2);
    expect(differing).toEqual([]);
  });

  it('leaves escape sequences out, and counts them on demand', () => {
    const styled = '\u001b[1mtea ─\u001b[0m';
    expect(stringWidth(styled)).toBe(5);
    expect(stringWidth(styled, { countAnsiEscapeCodes: true })).toBe(11);
  });
});
