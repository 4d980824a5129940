/** The local service exits, hangs or is replaced while the program is open: no restart is needed. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findService, type LocalAddress } from '../../src/local/daemon/client.ts';
import { lockFolder } from '../../src/local/daemon/files.ts';
import { eventually } from '../eventually.ts';
import { freshHome, newerProgram, openSession, run, type Session } from './session.ts';

let home: ReturnType<typeof freshHome>;
let dataFolder: string;
let session: Session;
beforeAll(() => {
  home = freshHome();
  dataFolder = join(home.home, '.local/share/benchtop');
});
afterAll(() => home.remove());
beforeEach(async () => {
  session = openSession(home.env);
  await session.waitFor('▸ t-words');
});
afterEach(async () => {
  session.signal('SIGTERM');
  await session.ended;
});

/** The service held by this screen. */
const held = (other?: LocalAddress): Promise<LocalAddress> =>
  eventually(async () => {
    const found = await findService(dataFolder);
    if (!found || found.leases === 0 || found.pid === other?.pid) throw new Error('no service holds the screen yet');
    return found;
  });

/** Opens the runs, which sends a request, and goes back. */
async function works(): Promise<void> {
  session.type(':runs\r');
  await session.waitFor('No runs');
  session.type(':bench\r');
  await session.waitFor('▸ t-words');
}

describe('the local service', () => {
  it('is restarted after a kill, before a key is pressed', async () => {
    const first = await held();
    process.kill(first.pid, 'SIGKILL');
    const second = await held(first);
    expect(second.baseUrl).not.toBe(first.baseUrl);
    await works();
    await session.waitFor('live');
    expect(session.text()).not.toMatch(/failing|ECONN|refused/);
  });

  it('is restarted by the next key after a stop elsewhere', async () => {
    const first = await held();
    const { output } = await run(['serve', '--stop'], home.env);
    expect(output).toContain('an open screen starts it again');
    await works();
    await held(first);
  });

  it('makes way for one started by hand, and the screen reconnects', async () => {
    const first = await held();
    const byHand = run(['serve', '--data', dataFolder], home.env);
    const second = await held(first);
    expect(second.background).toBe(false);
    await works();
    process.kill(second.pid, 'SIGTERM');
    expect((await byHand).code).toBe(0);
  });

  it('is replaced by a newer program, whose service the open screen uses and names', async () => {
    const first = await held();
    const newer = join(home.home, 'newer');
    // It is shown for some seconds, perhaps before this test knows the new service.
    const named = session.waitFor('is version 0.2.0, this program is 0.1.0');
    const other = openSession(home.env, { program: newerProgram(newer, '0.2.0') });
    await other.waitFor('▸ t-words');
    const second = await held(first);
    expect(second.version).toBe('0.2.0');
    await named;
    await works();
    other.signal('SIGTERM');
    await other.ended;
    rmSync(newer, { recursive: true, force: true });
    // The next program of this version replaces it again.
    await run(['serve', '--stop'], home.env);
  });

  it('is reported as busy while it hangs, and read again when it continues', async () => {
    const { pid } = await held();
    process.kill(pid, 'SIGSTOP');
    try {
      session.type(':runs\r');
      await session.waitFor('The local service is busy; waiting for it to respond');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await session.waitFor('No runs');
    await works();
  });

  it('is reported as starting while that takes long', async () => {
    const first = await held();
    await run(['serve', '--stop'], home.env);
    // The new service waits for the folder, as for a service that is still saving.
    const unlock = lockFolder(dataFolder);
    expect(unlock).toBeDefined();
    session.type(':runs\r');
    await session.waitFor('The local service has stopped; restarting it…');
    unlock?.();
    await session.waitFor('No runs');
    await held(first);
    await works();
  });
});

describe('an upgrade that removes the files of the open program', () => {
  it('is reported by the parts not opened before, and the rest works', async () => {
    const installed = join(home.home, 'installed');
    const screen = openSession(home.env, { program: newerProgram(installed, '0.3.0') });
    await screen.waitFor('▸ t-words');
    rmSync(installed, { recursive: true });
    screen.press('?');
    await screen.waitFor('it may have been upgraded. Quit and start it again.');
    screen.press('j');
    await screen.waitFor('▸ letter-words');
    screen.signal('SIGTERM');
    expect((await screen.ended).exitCode).toBe(143);
  });
});
