/** README is true: its tables match the code, its names exist, and its settings are accepted. */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../src/config/settings-file.ts';
import { graderSpec } from '../src/grading/graders.ts';
import { installWays, published, workflowSteps } from '../tools/published.ts';
import { withBlocks } from '../tools/readme.ts';
import { temporaryFolder } from './config/folder.ts';
import { examples, readme } from './readme.ts';

describe('README', () => {
  it('has the tables that `npm run readme` writes', () => {
    expect(readme).toBe(withBlocks(readme));
  });

  it('names no registry package while there is none, and cannot be published by mistake', () => {
    const { private: isPrivate } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(isPrivate === true).toBe(published === undefined);
    const commands = (name?: string) => [...installWays(name).flatMap(([, lines]) => lines), ...workflowSteps(name)];
    const named = /npx (?!vitest|tsx|patch-package)|npm install --global (?!\.\/)/;
    expect(commands('@scope/benchtop').filter(line => named.test(line))).toEqual([
      'npx @scope/benchtop',
      'npm install --global @scope/benchtop',
      '- run: npm install --global @scope/benchtop',
    ]);
    if (published !== undefined) return;
    expect(commands().filter(line => named.test(line))).toEqual([]);
    expect(readme).not.toMatch(named);
  });

  it('links to existing files', () => {
    const paths = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path = '']) => path);
    expect(paths).toContain('docs/benchtop.svg');
    expect(paths.filter(path => !existsSync(path))).toEqual([]);
  });

  it('shows settings that are read without a warning, with the usual file mode', async () => {
    const example = examples.find(({ path }) => path === 'config.json');
    const path = join(await temporaryFolder(), 'config.json');
    await writeFile(path, example?.text ?? '', { mode: 0o644 });
    expect(readSettings(path)).toMatchObject({ settings: { defaultProfile: 'prod' }, warnings: [] });
  });

  it('names the Node that the package requires, and the changelog starts with its version', () => {
    const { engines, version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(readme).toContain(`needs [Node](https://nodejs.org) ${engines.node.replace('>=', '')} or newer`);
    expect(/^## (\S+)/m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1]).toBe(version);
  });

  it('shows every kind of grader, as the local service accepts it', () => {
    const rows = [...readme.matchAll(/^\| `(\{"kind".*?\})` /gm)].map(([, text = '']) => text.replaceAll('\\|', '|'));
    const kinds = rows.map(text => graderSpec.parse(JSON.parse(text)).kind);
    expect(kinds).toEqual(graderSpec.def.options.map(option => [...option.shape.kind.def.values][0]));
  });
});
