/** Sessions of the whole program in process, on the real local service. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningService } from '../../../src/local/daemon/daemon.ts';
import { serve } from '../../../src/local/daemon/serve.ts';
import type { PollIntervals } from '../../../src/queries/polling.ts';
import { createService, type Service } from '../../../src/service/index.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import type { TerminalPort } from '../../../src/ui/app/terminal-port.ts';
import { registry } from '../../../src/ui/views/registry.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { eventually } from '../../eventually.ts';
import { openScreen, type ScreenOptions } from '../../screen.ts';
import { hostileServer, json, serviceAt } from '../../service/hostile-server.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';

let local: RunningService;
let folder: string;
let service: Service;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-session-'));
  local = await serve({ dataFolder: folder });
  const key = async () => local.apiKey;
  service = createService({ baseUrl: local.baseUrl, apiKey: key, inferenceToken: key, userAgent: 'test' });
  const [first] = (await service.call('listBenchmarks')).items;
  await eventually(async () =>
    expect((await service.call('getBenchmarkReadiness', { params: { bench_id: first?.bench_id ?? '' } })).ready).toBe(
      true,
    ),
  );
});
afterAll(async () => {
  await service.close();
  await local.stop();
  rmSync(folder, { recursive: true, force: true });
});

function open(options: ScreenOptions & { readOnly?: boolean; poll?: PollIntervals } = {}) {
  const copied: string[] = [];
  let quit = 0;
  const terminal: TerminalPort = {
    writeRaw: sequence => copied.push(sequence),
    runExternal: async () => 0,
    suspend: () => {},
    quit: () => {
      quit += 1;
    },
    repaint: () => {},
  };
  const workbench = newWorkbench({
    service: async () => service,
    profile: 'local',
    readOnly: options.readOnly ?? false,
    ...(options.poll && { poll: options.poll }),
  });
  const screen = openScreen(
    <Program workbench={workbench} theme={createTheme()} registry={registry} terminal={terminal} />,
    { columns: 140, rows: 40, ...options },
  );
  const close = (): void => {
    screen.close();
    workbench.close();
  };
  return { screen, workbench, copied, close, quits: () => quit };
}

describe('a newcomer', () => {
  it('evaluates a model, watches the run and reads its worst trajectory', async () => {
    const { screen, close } = open();
    await screen.waitFor('▸ t-words');
    expect(screen.text()).toContain('what-is-it');
    await screen.waitFor('ready to launch');
    await screen.press('e');
    await screen.waitFor('benchtop/aesop-small');
    await screen.press('right', 'right');
    await screen.waitFor('benchtop/tutor-base');
    await screen.press('enter');
    await screen.waitFor('28 of 28 rollouts');
    await screen.waitFor('✓ completed');
    await screen.waitFor(text => /mean 0\.\d+/.test(text));
    const [run] = await service.call('listEvalRuns', {
      params: {
        bench_id: (await service.call('listBenchmarks')).items.find(({ label }) => label === 't-words')?.bench_id ?? '',
      },
    });
    const { trajectory_rewards } = await service.call('getTrajectoryRewards', {
      params: { eval_run_id: run?.eval_run_id ?? '' },
    });
    const mean = trajectory_rewards.reduce((sum, { reward }) => sum + (reward ?? 0), 0) / trajectory_rewards.length;
    expect(run?.reward_mean).toBeCloseTo(mean, 12);
    await screen.waitFor('▸ t-words-');
    await screen.press('enter');
    await screen.waitFor(text => text.includes('words begin with T') && text.includes('assistant'));
    await screen.press(']');
    await screen.waitFor('2/28');
    await screen.press('esc');
    await screen.waitFor('28 of 28 rollouts');
    close();
  });

  it('deletes a run only after being asked', async () => {
    const { screen, close } = open();
    await screen.waitFor('▸ t-words');
    await screen.type(':');
    await screen.type('runs');
    await screen.press('enter');
    await screen.waitFor('▸ t-words tutor-base');
    await screen.press('d');
    await screen.waitFor('Delete this run?');
    await screen.press('enter');
    await screen.waitFor(text => !text.includes('Delete this run?'));
    expect(screen.text()).toContain('▸ t-words tutor-base');
    await screen.press('d');
    await screen.waitFor('Delete this run?');
    await screen.press('y');
    await screen.waitFor('No runs yet');
    close();
  });
});

describe('chat', () => {
  it('answers, counts, and offers to edit the question', async () => {
    const { screen, close } = open();
    await screen.waitFor('▸ t-words');
    await screen.type(':');
    await screen.type('chat');
    await screen.press('enter');
    await screen.waitFor('benchtop/aesop-small');
    await screen.type('tell me about tea');
    await screen.press('enter');
    await screen.waitFor('output tokens');
    expect(screen.text()).toContain('you');
    expect(screen.text()).toMatch(/\d+ input tokens/);
    await screen.press('esc', 'E');
    await screen.waitFor('Editing question 1 of 1');
    await screen.waitFor('› tell me about tea');
    close();
  });

  it('says that a model does not exist, and keeps the question', async () => {
    const { screen, close } = open();
    await screen.waitFor('▸ t-words');
    await screen.type(':');
    await screen.type('chat');
    await screen.press('enter');
    await screen.waitFor('benchtop/aesop-small');
    await screen.press('ctrl-o');
    await screen.waitFor('Which model should answer?');
    await screen.press('tab');
    await screen.type('nobody');
    await screen.press('enter');
    await screen.waitFor('No messages with nobody yet');
    await screen.type('hello');
    await screen.press('enter');
    await screen.waitFor('There is no model nobody');
    expect(screen.text()).toContain('hello');
    close();
  });
});

describe('the screen', () => {
  it.each([
    [200, 60],
    [120, 40],
    [80, 24],
    [60, 15],
  ])('fits %i×%i and is framed on all sides', async (columns, rows) => {
    const { screen, close } = open({ columns, rows });
    await screen.waitFor('▸ t-words');
    const lines = screen.text().split('\n');
    expect(lines).toHaveLength(rows);
    expect(lines[0]).toMatch(/^┌.*┐$/);
    expect(lines.at(-1)).toMatch(/^└─*┘$/);
    expect(lines.every(line => line.length === columns)).toBe(true);
    close();
  });

  it('says what it needs if the terminal is too small, and is restored later', async () => {
    const { screen, close } = open({ columns: 50, rows: 12 });
    await screen.waitFor('60×15');
    await screen.resize(80, 24);
    await screen.waitFor('▸ t-words');
    close();
  });

  it('sends few bytes for a cursor move', async () => {
    const { screen, close } = open({ columns: 200, rows: 60 });
    await screen.waitFor('ready to launch');
    await screen.press('j', 'k');
    await screen.waitFor('ready to launch');
    screen.bytes();
    await screen.press('j');
    expect(screen.bytes()).toBeLessThan(600);
    close();
  });

  it('sends nothing while polls bring no change', async () => {
    // An answer counts as late after two and a half intervals, which a busy machine must not take.
    const poll = { focusedMs: 1_000, visibleMs: 1_000 };
    const { screen, workbench, close } = open({ columns: 200, rows: 60, poll });
    await screen.waitFor('▸ t-words');
    // Models have no ages, which would change by themselves.
    await screen.type(':models\r');
    await screen.waitFor('▸ benchtop/aesop-small');
    // Each count is drawn when it is first known.
    for (const section of ['Trajectories', 'Datasets', 'Runtimes', 'Secrets'])
      await screen.waitFor(text => new RegExp(`${section} +\\d`).test(text));
    const answers = (count: number): Promise<void> => {
      let left = count;
      return new Promise(resolve => {
        const stop = workbench.cache.getQueryCache().subscribe(event => {
          if (event.type !== 'updated' || event.action.type !== 'success') return;
          left -= 1;
          if (left > 0) return;
          stop();
          resolve();
        });
      });
    };
    await answers(3);
    await screen.press();
    screen.bytes();
    await answers(8);
    expect(screen.bytes()).toBe(0);
    close();
  });

  it('offers help for its own commands, with a search', async () => {
    const { screen, close } = open();
    await screen.waitFor('▸ t-words');
    await screen.press('?');
    await screen.waitFor('evaluate a model on it');
    await screen.type('/anew');
    await screen.press('enter', 'esc', 'esc');
    await screen.waitFor(text => !text.includes('Help'));
    close();
  });

  it('removes everything that writes in read-only mode', async () => {
    const { screen, close } = open({ readOnly: true });
    await screen.waitFor('▸ t-words');
    expect(screen.text()).toContain('read-only');
    expect(screen.text()).not.toContain('evaluate');
    await screen.press('e');
    expect(screen.text()).not.toContain('Evaluate on');
    close();
  });

  it('copies an id by OSC 52', async () => {
    const { screen, copied, close } = open();
    await screen.waitFor('▸ t-words');
    await screen.press('y');
    await screen.waitFor('Sent to the clipboard: bench_');
    expect(copied.join('')).toContain('\u001b]52;c;');
    close();
  });

  it('follows a macro: palette, view, filter and row in one write', async () => {
    const { screen, close } = open();
    await screen.waitFor('▸ t-words');
    await screen.type(':models\r');
    await screen.waitFor('▸ benchtop/aesop-small');
    await screen.type('-/sums\rj');
    await screen.waitFor('▸ small-sums');
    close();
  });

  it('filters while typing', async () => {
    const { screen, close } = open();
    await screen.waitFor('▸ t-words');
    await screen.type('/sums');
    await screen.waitFor('▸ small-sums');
    expect(screen.text()).not.toContain('▸ t-words');
    close();
  });

  it('asks to quit when q is pressed', async () => {
    const { screen, close, quits } = open();
    await screen.waitFor('▸ t-words');
    await screen.press('q');
    expect(quits()).toBe(1);
    close();
  });
});

describe('a service with invalid rows', () => {
  it('hides no row because of another, and counts the unreadable ones', async () => {
    const good = { bench_id: 'bench_1', label: 'good\u001b[2J one', family: 'x' };
    const items = [{ label: 'without an id' }, good, 'not a row', { ...good, label: 'once more' }];
    const server = await hostileServer(json({ items, has_more: false, next_cursor: null }));
    const { service: lying } = serviceAt(server.url);
    const workbench = newWorkbench({ service: async () => lying, profile: 'lying' });
    const terminal: TerminalPort = {
      writeRaw: () => {},
      runExternal: async () => 0,
      suspend: () => {},
      quit: () => {},
      repaint: () => {},
    };
    const screen = openScreen(
      <Program workbench={workbench} theme={createTheme()} registry={registry} terminal={terminal} />,
      { columns: 100, rows: 24 },
    );
    await screen.waitFor('▸ good one');
    expect(screen.text()).toContain('2 rows could not be read');
    expect(screen.text()).toContain('1 row with a duplicate id left out');
    expect(screen.text()).not.toContain('once more');
    screen.close();
    workbench.close();
  });
});

describe('a dead service', () => {
  it('is reported, with what to do, and retried', async () => {
    const dead = createService({
      baseUrl: 'http://127.0.0.1:9',
      apiKey: async () => 'k',
      inferenceToken: async () => 'k',
      userAgent: 'test',
    });
    const workbench = newWorkbench({ service: async () => dead, profile: 'dead' });
    const terminal: TerminalPort = {
      writeRaw: () => {},
      runExternal: async () => 0,
      suspend: () => {},
      quit: () => {},
      repaint: () => {},
    };
    const screen = openScreen(
      <Program workbench={workbench} theme={createTheme()} registry={registry} terminal={terminal} />,
      {
        columns: 120,
        rows: 30,
      },
    );
    await screen.waitFor('failing, retry in');
    expect(screen.text()).toContain('127.0.0.1:9');
    screen.close();
    workbench.close();
    await dead.close();
  });
});
