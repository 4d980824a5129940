/** The command lines of the tools. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it.each([
  { word: '--help', status: 0, stdout: 'its usage', stderr: '' },
  { word: '--nothing', status: 2, stdout: '', stderr: expect.stringMatching(/^Unknown option [^\n]*\n\nits usage$/) },
])('$word prints the usage of a tool, and no stack trace (X13)', ({ word, ...printed }) => {
  const script = `import { optionsOf } from './tools/rig/options.ts'; optionsOf('its usage', { seed: 1 });`;
  const args = ['--input-type=module', '--eval', script, '--', word];
  expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject(printed);
});
