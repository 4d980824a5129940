import { describe, expect, it } from 'vitest';
import type { TerminalPort } from '../../../../src/ui/app/terminal-port.ts';
import { readOutside } from '../../../../src/ui/views/shared/outlets.ts';

describe('the pager', () => {
  it('is less by default, and none where PAGER is empty', async () => {
    const commands: string[] = [];
    const terminal = {
      runExternal: async (_: string, [, line = '']: readonly string[]) => {
        commands.push(line);
        return 0;
      },
    } as unknown as TerminalPort;
    const open = (environment: Record<string, string>) =>
      readOutside({ name: 'run.json', text: '{}' }, 'pager', terminal, environment);
    expect(await open({})).toBeUndefined();
    expect(await open({ PAGER: 'more -s' })).toBeUndefined();
    expect(await open({ PAGER: ' ' })).toContain('PAGER is empty');
    expect(commands).toEqual(['less "$1"', 'more -s "$1"']);
  });
});
