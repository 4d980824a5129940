/** Prebuilt help: found for exactly the arguments that ask for it. */
import { describe, expect, it } from 'vitest';
import { helpText, prebuiltTexts } from '../../src/commands/help.ts';
import { prebuiltName, printPrebuilt } from '../../src/commands/prebuilt.ts';
import { commands } from '../../src/commands/table/commands.ts';
import { cliOn } from './cli.ts';

const texts = new Map(Object.entries(await prebuiltTexts()));

describe('prebuilt help', () => {
  it.each([
    [['--help'], 'Usage: benchtop [COMMAND]'],
    [['-h'], 'Usage: benchtop [COMMAND]'],
    [['help'], 'Usage: benchtop [COMMAND]'],
    [['list', '-h'], 'Usage: benchtop list WHAT'],
    [['help', 'list'], 'Usage: benchtop list WHAT'],
    [['secret', '--help'], 'Usage: benchtop secret COMMAND'],
    [['help', 'secret', 'set'], 'Usage: benchtop secret set NAME'],
    [['-V'], 'benchtop '],
  ])('is found for %j', (words, start) => {
    expect(texts.get(prebuiltName(words))).toMatch(new RegExp(`^${start.replaceAll(/[[\]]/g, '\\$&')}`));
  });

  it.each([
    [['list', 'runs', '--help']],
    [['chat', 'm', '-h']],
    [['secret set', '--help']],
    [['--profile', 'x', '--help']],
    [['help', 'nonsense']],
    [['--version', '--json']],
    [['__proto__', '--help']],
    [[]],
  ])('is not used for what needs parsing: %j', words => {
    expect(texts.has(prebuiltName(words))).toBe(false);
  });

  it('has a single pair of parentheses after a description', () => {
    expect([...texts.values()].filter(text => /\)\s+\(/.test(text))).toEqual([]);
  });

  it('is the same as parsing gives, for every command', async () => {
    const cli = cliOn({ baseUrl: '', apiKey: '' });
    for (const name of Object.keys(commands)) {
      const words = [...name.split(' '), '--help'];
      expect(await cli('', words)).toEqual({ code: 0, out: texts.get(prebuiltName(words)), notes: '' });
    }
    expect((await cli('', ['--help'], { columns: 200 })).out).toBe(texts.get('--help'));
    expect((await cli('', ['--version'])).out).toBe(texts.get('--version'));
  });

  it('is formatted again if the terminal is narrower', async () => {
    const text = await helpText('list', 50);
    const lines = text.slice(0, text.indexOf('\nExamples:')).split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(50);
  });

  it('is formatted by a program without a build', () => {
    expect(printPrebuilt(['--help'], new URL('../../src/', import.meta.url))).toBe(false);
  });
});
