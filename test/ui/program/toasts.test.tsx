/** Notices in the line below the panes: they end with their subject, keep the keys visible, and can be read again. */
import { useState } from 'react';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ConnectionMonitor, ConnectionState } from '../../../src/service/supervisor.ts';
import { noConnection } from '../../../src/ui/app/connection.ts';
import { Painter } from '../../../src/ui/app/painter/painter.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import type { KeyOverrides } from '../../../src/ui/keys/key.ts';
import { registry } from '../../../src/ui/views/registry.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { pageOf } from '../../queries/scripted-service.ts';
import { openScreen, type Screen } from '../../screen.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';
import { noTerminal } from '../stage.tsx';
import { ManyRows } from './many-rows.ts';
import { openProgram, type Rig } from './rig.tsx';
import { openWorld, world } from './scripted-world.tsx';

let rig: Rig | undefined;
afterEach(() => {
  rig?.close();
  rig = undefined;
});

async function openList(): Promise<Screen> {
  const start = { view: 'list', resource: 'trajectories' } as const;
  rig = openProgram({ service: new ManyRows(30).service, start, columns: 80, rows: 24 });
  await rig.screen.waitFor('▸ task');
  return rig.screen;
}

describe('a notice about what is shown', () => {
  it.each([
    ['a window is opened', ['?'], 'The ids on the right'],
    ['another view is opened', [':', 'r', 'u', 'n', 's', 'enter'], '│ Runs '],
  ])('ends when %s, and returns the line to the keys', async (_, keys, wanted) => {
    const screen = await openList();
    await screen.press('y');
    await screen.waitFor('Sent to the clipboard');
    await screen.press(...keys);
    await screen.waitFor(wanted);
    await screen.waitFor(text => !text.includes('Sent to the clipboard') && /<(esc|\?)> /.test(text));
  });
});

describe('news', () => {
  it('ends with the next keys, and can be read again', async () => {
    const run = world();
    const screen = openWorld(run, { view: 'list', resource: 'runs' }, { columns: 60, rows: 15 });
    await screen.waitFor('1 running');
    run.status = 'failed';
    await screen.waitFor('✗ baseline failed');
    await screen.press('!');
    await screen.waitFor(text => /Notices.*\n.*\d\d:\d\d:\d\d ✗ baseline failed/.test(text));
    await screen.waitFor('<esc> close');
    await screen.press('esc');
    await screen.waitFor('<?> help');
  });

  it('appears in the window of notices if that is open', async () => {
    const run = world();
    const screen = openWorld(run, { view: 'list', resource: 'runs' });
    await screen.waitFor('1 running');
    await screen.press('!');
    await screen.waitFor('No notices yet');
    run.status = 'failed';
    await screen.waitFor(text => /\d\d:\d\d:\d\d ✗ baseline failed/.test(text));
  });

  it('is separate from answers to keys', async () => {
    const screen = await openList();
    await screen.press('y');
    await screen.waitFor('Sent to the clipboard');
    await screen.press('!');
    await screen.waitFor('No notices yet');
  });
});

describe('the local service', () => {
  const silent = { kind: 'silent', since: 0 } as const;
  const stopped = { kind: 'stopped' } as const;
  const connected = (generation: number) => ({ kind: 'connected', generation, note: undefined }) as const;

  function openWith(initial: ConnectionState, overrides: KeyOverrides = {}) {
    const listeners = new Set<() => void>();
    let state = initial;
    const connection: ConnectionMonitor = {
      get state() {
        return state;
      },
      subscribe: listener => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      retry: () => {},
    };
    const service = async () => new ManyRows(30).service;
    const workbench = newWorkbench({ service, connection, profile: 'local' });
    const screen = openScreen(
      <Program
        workbench={workbench}
        theme={createTheme()}
        registry={registry}
        terminal={noTerminal}
        overrides={overrides}
      />,
      { columns: 80, rows: 24 },
    );
    onTestFinished(() => {
      screen.close();
      workbench.close();
    });
    const become = (next: ConnectionState): void => {
      state = next;
      for (const listener of listeners) listener();
    };
    return { screen, become };
  }

  it('is reported as back after it was lost, but not after it was only busy', async () => {
    const { screen, become } = openWith(connected(1));
    await screen.waitFor('Benchmarks');
    become(silent);
    await screen.waitFor('The local service is busy');
    become(connected(1));
    await screen.waitFor(text => !text.includes('The local service'));
    become(stopped);
    await screen.waitFor('The local service was stopped elsewhere');
    become(connected(2));
    await screen.waitFor('The local service is responding again.');
  });

  it('is found without a redraw', async () => {
    const { screen, become } = openWith({ kind: 'starting', since: Date.now() });
    await screen.waitFor('Benchmarks');
    const drawn = vi.spyOn(Painter.prototype, 'frame');
    onTestFinished(() => drawn.mockRestore());
    become(connected(1));
    // React draws in a microtask.
    await Promise.resolve();
    expect(drawn).not.toHaveBeenCalled();
  });

  it('has its warnings among the notices, once each, with the current keys', async () => {
    const { screen, become } = openWith(connected(1), { 'item.refresh': ['ctrl-g'] });
    const message = `The local service could not be started: ${'its folder is full, '.repeat(4)}as it seems.`;
    await screen.waitFor('Benchmarks');
    for (const retryAt of [1, 2]) {
      become({ kind: 'restarting', since: Date.now() - 60_000 });
      await screen.waitFor('restarting it… 1m');
      become({ kind: 'failed', message, retryAt });
      await screen.waitFor(text => /The local service could not be started.*… {2}<!> more/.test(text));
    }
    await screen.press('!');
    await screen.waitFor(text => text.replaceAll(/[│\s]+/g, ' ').includes('as it seems. ctrl-g tries again.'));
    expect(screen.text().match(/\d\d:\d\d:\d\d/g)).toHaveLength(2);
    expect(screen.text()).toMatch(/restarting it *│/);
  });
});

it('says once which settings need a restart, however often the file is saved (out32 C8)', async () => {
  const workbench = newWorkbench();
  let save = (_: readonly string[]): void => {};
  function Saved() {
    const [warnings, set] = useState<readonly string[]>(['theme waits.']);
    save = set;
    const connection = { ...noConnection, warnings };
    return (
      <Program {...{ workbench, registry, connection }} theme={createTheme()} terminal={noTerminal} notices="off" />
    );
  }
  const screen = openScreen(<Saved />, { columns: 80, rows: 24 });
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
  await screen.waitFor('theme waits.');
  save(['theme waits.']);
  await screen.press('j');
  save(['theme, poll wait.']);
  await screen.waitFor('theme, poll wait.');
  await screen.press('!');
  await screen.waitFor('theme waits.');
  expect(screen.text().match(/theme waits/g)).toHaveLength(1);
});

it('says at the first start where the data is, next to the main keys', async () => {
  rig = openProgram({ connection: { ...noConnection, isLocal: true }, columns: 80, rows: 24 });
  await rig.screen.waitFor('Local service; ctrl-k connects to another');
  expect(rig.screen.text()).toContain('<?> help');
});

describe('the message after a change of several rows', () => {
  it('tells apart those that the service removed and kept, which stay in the list', async () => {
    const service = world('none');
    let rows = ['gone', 'kept'].map(name => ({
      ...{ deployment_id: `dep_${name}`, model_slug: name, role: 'test', is_active: false },
      status: 'DEPLOYED',
    }));
    service.answers.listDeployments = () => pageOf(rows);
    service.answers.getDeployment = ({ deployment_id = '' }) => rows.find(row => row.deployment_id === deployment_id);
    service.answers.undeploy = ({ deployment_id = '' }) => {
      const row_deleted = deployment_id === 'dep_gone';
      rows = rows.filter(row => row.deployment_id !== 'dep_gone');
      return { deployment_id, row_deleted };
    };
    const screen = openWorld(service, { view: 'list', resource: 'deployments' });
    await screen.waitFor(text => text.includes('▸ gone') && text.includes(' kept '));
    await screen.press('space', 'j', 'space', 'd');
    await screen.waitFor('Undeploy 2 deployments?');
    await screen.press('y');
    await screen.waitFor('✓ Undeployed gone. kept: torn down; the service kept its record');
    await screen.waitFor(text => text.includes(' kept ') && !/ gone +[✓●]/.test(text));
    expect(['dep_gone', 'dep_kept'].map(id => service.asked('undeploy', id))).toEqual([1, 1]);
  });
});
