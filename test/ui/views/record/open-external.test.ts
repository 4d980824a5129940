import { describe, expect, it } from 'vitest';
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
    const open = (environment: Record<string, string>) =>
      openInPager({ name: 'run.json', parts: ['{}'] }, terminal, environment);
    await open({});
    await open({ PAGER: 'more -s' });
    await expect(open({ PAGER: ' ' })).rejects.toThrow('PAGER is empty');
    expect(commands).toEqual(['less "$1"', 'more -s "$1"']);
  });
});
