/** `npm run layers` on small trees, and on this program; circular imports, which oxlint finds. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const program = pathOf('tools/check-layers.ts');
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string>>;

/** Writes a tree of files; returns its folder. */
function treeOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'layers-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Checks a tree of files; returns the exit code and the output. */
async function check(files?: Files): Promise<{ code: number; out: string; errors: string[] }> {
  const args = [program, ...(files ? [treeOf(files)] : [])];
  const lines = (text: string): string[] => text.split('\n').filter(Boolean);
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    return { code: 0, out: stdout.trim(), errors: lines(stderr) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout.trim(), errors: lines(stderr) };
  }
}

describe('the layers', () => {
  it('hold for this program', async () => {
    const { code, out, errors } = await check();
    expect(errors).toEqual([]);
    expect(out).toMatch(/^layers: \d{3} files, 0 errors$/);
    expect(code).toBe(0);
  });

  it('allow imports from the same layer, from lower ones, and of listed files of others', async () => {
    const { code, errors } = await check({
      'text/width.ts': 'export const width = 1;',
      'text/wrap.ts': "import { width } from './width.ts'; export const wrap = width;",
      'service/errors.ts': "import { wrap } from '../text/wrap.ts'; export const failed = wrap;",
      'ui/views/list.tsx': "import { failed } from '../../service/errors.ts'; export const list = failed;",
    });
    expect(errors).toEqual([]);
    expect(code).toBe(0);
  });

  it.each([
    ['an import', "import { call } from '../service/call.ts'; export const width = call;"],
    ['an import of a type', "import type { Call } from '../service/call.ts'; export const width: Call = 1;"],
    ['an export', "export { call } from '../service/call.ts';"],
    ['a late import', "export const width = () => import('../service/call.ts');"],
  ])('refuse %s from a higher layer', async (_, text) => {
    const { code, errors } = await check({
      'service/call.ts': 'export type Call = number; export const call = 1;',
      'text/width.ts': text,
    });
    expect(errors).toEqual(['text/width.ts imports service/call.ts: text may not use service']);
    expect(code).toBe(1);
  });

  it('refuse the other files of a layer if only one of its files may be imported', async () => {
    const { errors } = await check({
      'service/call.ts': 'export const call = 1;',
      'ui/views/list.tsx': "import { call } from '../../service/call.ts'; export const list = call;",
    });
    expect(errors).toEqual(['ui/views/list.tsx imports service/call.ts: ui/views may not use service']);
  });

  it('are free of circular imports, also of types', async () => {
    const folder = treeOf({
      'text/one.ts': "import { two } from './two.ts'; export const one = two;",
      'text/two.ts': "import { three } from './three.ts'; export const two = three;",
      'text/three.ts': "import type { one } from './one.ts'; export const three: typeof one = 1;",
    });
    const lint = promisify(execFile)(pathOf('node_modules/.bin/oxlint'), [
      '--config',
      pathOf('.oxlintrc.json'),
      folder,
    ]);
    await expect(lint).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('import(no-cycle)') });
  });

  it('refuse a folder that is not a layer', async () => {
    const { code, errors } = await check({ 'utils/misc.ts': 'export const misc = 1;' });
    expect(errors).toEqual(['utils/misc.ts: there is no such layer; add it to tools/check-layers.ts']);
    expect(code).toBe(1);
  });
});
