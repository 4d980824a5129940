import { describe, expect, it, vi } from 'vitest';
import type { TerminalPort } from '../../../../src/ui/app/terminal-port.ts';
import { openInPager } from '../../../../src/ui/views/record/open-external.ts';

describe('the pager', () => {
  it('is less by default, and none if PAGER is empty', async () => {
    const commands: string[] = [];
    const terminal = {
      runExternal: async (_: string, [, line = '']: readonly string[]) => {
        commands.push(line);
        return 0;
      },
    } as unknown as TerminalPort;
    const open = (pager: string | undefined) => {
      vi.stubEnv('PAGER', pager);
      return openInPager({ name: 'run.json', parts: ['{}'] }, terminal);
    };
    await open(undefined);
    await open('more -s');
    await expect(open(' ')).rejects.toThrow('PAGER is empty');
    expect(commands).toEqual(['less "$1"', 'more -s "$1"']);
  });
});
