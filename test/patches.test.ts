/** The performance patches in `patches/` change no results, and apply to one version only. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import sanitizeAnsi from '../node_modules/ink/build/sanitize-ansi.js';
import manifest from '../package.json' with { type: 'json' };
import { checkPatches } from '../tools/patched.ts';
import fc from '../tools/rig/property.ts';

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

  /** The exit code and the output of the script that `npm ci` runs. */
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

  it('that skipped a patch fails the build', () => {
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
  it('returns the same by the fast path and the slow path, for every character alone and between others', () => {
    const differing = everyCharacter()
      .flatMap(character => [character, `│${character}─`, `${character}${character}`])
      .filter(text => stringWidth(text) !== stringWidth(`${text}${wide}`) - 2);
    expect(differing).toEqual([]);
  });

  it('ignores escape sequences, and counts them on request', () => {
    const styled = '\u001b[1mtea ─\u001b[0m';
    expect(stringWidth(styled)).toBe(5);
    expect(stringWidth(styled, { countAnsiEscapeCodes: true })).toBe(11);
  });
});

describe('ink', () => {
  const piece = fc.constantFrom(
    'm',
    'a',
    ' ',
    '─',
    '日',
    '\u0301',
    '\u{1E8D0}',
    '\t',
    '\n',
    '\u001b[1m',
    '\u001b[38;5;1m',
    '\u001b[m',
  );

  it('keeps text unchanged by the fast path exactly when the slow path does', () => {
    // A bell takes the long way, which strips it.
    const property = fc.property(fc.array(piece), ([...pieces]) => {
      const text = pieces.join('');
      expect(sanitizeAnsi(text)).toBe(sanitizeAnsi(`${text}\u0007`));
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it.each([
    ['moves the cursor', 'a\u001b[2Jb', 'ab'],
    ['has colons', '\u001b[4:3ma', '\u001b[4ma'],
    ['is no SGR', 'a\u001b[>1mb', 'ab'],
    ['is a control', 'a\u0000\u007fb', 'ab'],
    ['comes before a mark', 'a\u001b[1m\u0301b', 'a\u0301\u001b[1mb'],
  ])('changes what %s', (_, text, kept) => {
    expect(sanitizeAnsi(text)).toBe(kept);
  });
});
