import { readFileSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TerminalPort } from '../../../../src/ui/app/terminal-port.ts';
import { openInPager } from '../../../../src/ui/views/record/open-external.ts';
import { saveFile } from '../../../../src/ui/views/record/save-file.ts';

describe('the pager', () => {
  it('is less by default, and none if PAGER is empty', async () => {
    const commands: string[] = [];
    const terminal = {
      runExternal: async (_: string, [, line = '']: readonly string[]) => {
        commands.push(line);
        return 0;
      },
    } as unknown as TerminalPort;
    const open = (environment: Record<string, string>) =>
      openInPager({ name: 'run.json', parts: ['{}'] }, terminal, environment);
    await open({});
    await open({ PAGER: 'more -s' });
    await expect(open({ PAGER: ' ' })).rejects.toThrow('PAGER is empty');
    expect(commands).toEqual(['less "$1"', 'more -s "$1"']);
  });
});

it.each(['../escaped-by-a-name.txt', '/tmp/escaped-by-a-name.txt'])(
  '%s is saved in the folder of the program',
  async name => {
    const path = await saveFile({ name, parts: ['what it says'] });
    try {
      expect(dirname(path)).toBe(process.cwd());
      expect(basename(path)).toMatch(/escaped-by-a-name\.txt$/);
      expect(readFileSync(path, 'utf8')).toBe('what it says');
    } finally {
      rmSync(path, { force: true });
    }
  },
);
