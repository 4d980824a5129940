/** The views of uploads: their texts for each phase, and that none of them ends the program. */

import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { UploadTrajectoriesResult } from '../../../../src/contract/trajectories.ts';
import { AuthenticationError, NetworkError, RateLimitError } from '../../../../src/service/errors.ts';
import type { Service } from '../../../../src/service/index.ts';
import type { RememberedStore } from '../../../../src/store/store.ts';
import type { TrajectoryRecords } from '../../../../src/store/trajectory-records.ts';
import { Program } from '../../../../src/ui/app/program.tsx';
import type { KeyOverrides } from '../../../../src/ui/keys/key.ts';
import { registry } from '../../../../src/ui/views/registry.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';
import { PathPicker } from '../../../../src/ui/windows/path-picker.tsx';
import { TrajectoryUpload } from '../../../../src/uploads/trajectory-upload.ts';
import { Jobs } from '../../../../src/workbench/jobs.ts';
import { eventually } from '../../../eventually.ts';
import { clientOf, startService, type TestService } from '../../../local/server/running.ts';
import { openScreen } from '../../../screen.ts';
import { withAnswers } from '../../../service/fake-service.ts';
import {
  around,
  benchmarksOf,
  type Folder,
  folderOf,
  nameOf,
  remembered,
  task,
  uploadOf,
} from '../../../uploads/world.ts';
import { newWorkbench } from '../../../workbench/new-workbench.ts';
import { noTerminal, openOnStage } from '../../stage.tsx';

let local: TestService;
let service: Service;
beforeAll(async () => {
  local = await startService();
  service = clientOf(local);
});
afterAll(async () => {
  await service.close();
  await local.end();
});

/** The program, opened at the upload of a folder. */
async function openUpload(
  folder: Folder,
  connect: () => Promise<Service> = async () => service,
  memory: RememberedStore = remembered()(),
  overrides: KeyOverrides = {},
) {
  const workbench = newWorkbench({ service: connect, remembered: () => memory });
  const job = await uploadOf(folder, memory);
  workbench.jobs.add(job);
  const start = { view: 'benchmark-upload', jobId: job.id, label: folder.label } as const;
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registry}
      terminal={noTerminal}
      start={start}
      overrides={overrides}
    />,
    { columns: 120, rows: 30 },
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
  await screen.waitFor(text => /not sent yet|already sent/.test(text));
  return { screen, job };
}

describe('the upload of a benchmark', () => {
  it('says that there is no connection, and sends once there is one', async () => {
    let down = true;
    const { screen } = await openUpload(folderOf(1), async () => {
      if (down) throw new NetworkError('The local service did not start: no answer in 15 s.', {});
      return service;
    });
    await screen.press('enter');
    await screen.waitFor('did not start');
    expect(screen.text()).toContain('it failed before any file was sent: enter tries again');
    down = false;
    await screen.press('enter');
    await screen.waitFor('uploaded; enter opens it');
    expect(screen.text()).toContain('1 of 1 file ');
  });

  it('names the keys from the settings', async () => {
    const chosen = { 'upload.start': ['ctrl-g'], 'upload.open': ['ctrl-e'] };
    const { screen } = await openUpload(folderOf(1), undefined, undefined, chosen);
    expect(screen.text()).toContain('not sent yet: ctrl-g sends it');
    await screen.press('ctrl-g');
    await screen.waitFor('uploaded; ctrl-e opens it');
  });

  it('names a file that is too large, and does not say that something was sent', async () => {
    const folder = folderOf(1);
    truncateSync(join(folder.path, nameOf(0)), 300 * 1024 * 1024);
    const { screen } = await openUpload(folder);
    await screen.press('enter');
    await screen.waitFor('data/a.txt has 300 MiB; a file may have 256 MiB');
    expect(screen.text()).toContain('it failed before any file was sent');
    expect(screen.text()).not.toContain('{');
  });

  it('says after a stop in its first file that no file was sent', async () => {
    const folder = folderOf(2);
    const memory = remembered();
    const failing = around(service, (call, _, go) =>
      call === 'put' ? Promise.reject(new NetworkError('The line is cut.', {})) : go(),
    );
    await (await uploadOf(folder, memory())).run(async () => failing);
    const { screen } = await openUpload(folder, undefined, memory());
    await screen.waitFor('0 of 2 files already sent: enter continues; a partly sent file will be sent again');
  });

  it('can be given its agent without a connection', async () => {
    const { screen, job } = await openUpload(folderOf(1), () => new Promise(() => {}));
    await screen.press('A');
    await screen.waitFor('Which agent owns the benchmark?');
    await screen.type('agt_mine');
    await screen.press('enter');
    await screen.waitFor(text => text.includes('agent agt_mine') && !text.includes('Which agent owns'));
    expect(job.state.agent).toBe('agt_mine');
  });

  it('offers the agents that the service lists', async () => {
    const agents = [
      { agent_id: 'agt_1', name: 'writer' },
      { agent_id: 'agt_2', name: 'tutor' },
    ];
    const listing = withAnswers(service, {
      listAgents: () => ({ items: agents, has_more: false, next_cursor: null, dropped: 0 }),
    });
    const shown = { ...listing, background: listing };
    const { screen, job } = await openUpload(folderOf(1), async () => shown);
    await eventually(async () => {
      await screen.press('A');
      await screen.waitFor('Which agent owns the benchmark?');
      await screen.press('right', 'right');
      if (screen.text().includes('agt_2')) return;
      await screen.press('esc');
      throw new Error('They are not listed yet.');
    });
    await screen.press('enter');
    await screen.waitFor(text => text.includes('agent agt_2') && !text.includes('Which agent owns'));
    expect(job.state.agent).toBe('agt_2');
  });

  it('opens the benchmark even if nothing was left to send', async () => {
    const folder = folderOf(2);
    folder.putManifest([{ ...task, grader: { kind: 'regex', pattern: '(' } }]);
    const { screen } = await openUpload(folder);
    await screen.press('enter');
    await screen.waitFor('it failed');
    folder.putManifest();
    await screen.press('enter');
    await screen.waitFor('uploaded; enter opens it');
    await screen.press('enter');
    await screen.waitFor(`Benchmarks › ${folder.label}`);
  });

  it('repeats only the build if only that failed', async () => {
    const folder = folderOf(2);
    let broken = true;
    const limited = around(service, (call, _, go) => {
      if (call !== 'build' || !broken) return go();
      broken = false;
      return Promise.reject(new RateLimitError('Slow down.', { status: 429, requestId: 'req_1' }));
    });
    const { screen } = await openUpload(folder, async () => limited);
    await screen.press('enter');
    await screen.waitFor('Slow down.');
    await screen.press('enter');
    await screen.waitFor('uploaded; enter opens it');
    expect(benchmarksOf(local.folder, folder.label)).toHaveLength(1);
  });

  it('makes a new benchmark only on its own key if the old one was ingested with other options', async () => {
    const folder = folderOf(2);
    let lost = false;
    const losing = around(service, async (call, _, go) => {
      const result = await go();
      if (call !== 'ingest' || lost) return result;
      lost = true;
      throw new NetworkError('The connection was lost.', { outcomeUnknown: true });
    });
    const { screen } = await openUpload(folder, async () => losing);
    await screen.press('enter');
    await screen.waitFor('The connection was lost.');
    folder.putManifest([task, { ...task, name: 'two' }]);
    await screen.press('enter');
    await screen.waitFor('N uploads the folder as a new benchmark');
    await screen.press('enter');
    expect(benchmarksOf(local.folder, folder.label)).toHaveLength(1);
    await screen.press('N');
    await screen.waitFor('uploaded; enter opens it');
    expect(benchmarksOf(local.folder, folder.label)).toHaveLength(2);
  });

  it('stops and continues', async () => {
    const folder = folderOf(3);
    const { promise: gate, resolve } = Promise.withResolvers<void>();
    const slow = around(service, async (call, _, go) => {
      if (call === 'put') await gate;
      return go();
    });
    const { screen } = await openUpload(folder, async () => slow);
    await screen.press('enter');
    await screen.waitFor('0 of 3 files');
    await screen.waitFor(text => text.includes('sending'));
    await screen.press('c');
    resolve();
    await screen.waitFor('stopped before any file was sent');
    await screen.press('enter');
    await screen.waitFor('uploaded; enter opens it');
  });
});

it('the window that picks a folder has one cursor, even if the current folder can be picked', async () => {
  const folder = folderOf(1);
  const stage = openOnStage(close => (
    <PathPicker
      title="A folder"
      choose="folder"
      accepts={name => name === 'manifest.json'}
      start={folder.path}
      onChoose={close}
      onClose={close}
    />
  ));
  await stage.waitFor('ctrl-o reads this folder');
  expect(stage.text().match(/▸ \S+/g)).toEqual(['▸ data/']);
});

it('the window that picks a folder narrows its list as the user types, and shows a folder from its start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-picker-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['one', 'other', 'two/first', 'two/second']) mkdirSync(join(folder, name), { recursive: true });
  const stage = openOnStage(close => (
    <PathPicker
      title="A folder"
      choose="folder"
      accepts={() => false}
      start={folder}
      onChoose={close}
      onClose={close}
    />
  ));
  await stage.waitFor('▸ one/');
  await stage.type('two\u001b[B');
  await stage.waitFor('▸ two/');
  await stage.type('\r');
  await stage.waitFor('▸ first/');
  await stage.type('\u001b[B');
  await stage.waitFor('▸ second/');
});

describe('the upload of trajectories', () => {
  it('opens a row, and [ and ] move through the rows of the upload', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'benchtop-trajectories-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'three.jsonl');
    const line = (content: string) => JSON.stringify({ messages: [{ role: 'user', content }] });
    writeFileSync(path, `${line('first of all')}\nbroken\n${line('second of all')}\n${line('third of all')}\n`);
    const workbench = newWorkbench({ service: async () => service });
    const job = new TrajectoryUpload('job', path, 'walk');
    workbench.jobs.add(job);
    const screen = openScreen(
      <Program
        workbench={workbench}
        theme={createTheme()}
        registry={registry}
        terminal={noTerminal}
        start={{ view: 'trajectory-upload', jobId: 'job', dataset: 'walk' }}
      />,
      { columns: 120, rows: 30 },
    );
    onTestFinished(() => {
      screen.close();
      workbench.close();
    });
    await job.run(async () => service);
    await screen.waitFor('3 stored');
    await screen.press('enter');
    await screen.waitFor('first of all');
    await screen.press(']');
    await screen.waitFor('second of all');
    await screen.press(']');
    await screen.waitFor('third of all');
    await screen.press(']');
    await screen.waitFor('This is the last one');
    await screen.press('[');
    await screen.waitFor('second of all');
  });
});

/**
 * The program at the upload of a file of trajectories, which polls nothing by itself; `answer` comes first each time, and
 * in place of the service's if it gives one.
 */
async function openTrajectories(
  dataset: string,
  answer: () => Promise<UploadTrajectoriesResult | undefined>,
  records?: TrajectoryRecords,
) {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-trajectories-'));
  const path = join(folder, 'two.jsonl');
  const lines = [1, 2].map(index => JSON.stringify({ messages: [{ role: 'user', content: `${dataset} ${index}` }] }));
  writeFileSync(path, lines.join('\n'));
  const held = withAnswers(service, {
    uploadTrajectories: async (input, options) =>
      (await answer()) ?? service.call('uploadTrajectories', input, options),
  });
  const connect = async () => held;
  const poll = { focusedMs: 600_000, visibleMs: 600_000 };
  const workbench = newWorkbench({ service: connect, poll });
  const job = new TrajectoryUpload('job', path, dataset, { records });
  workbench.jobs.add(job);
  const start = { view: 'trajectory-upload', jobId: 'job', dataset } as const;
  const screen = openScreen(
    <Program workbench={workbench} theme={createTheme()} registry={registry} terminal={noTerminal} start={start} />,
    { columns: 120, rows: 30 },
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (accountOf = held.accountOf) => job.run(async () => ({ ...held, accountOf }));
  return { screen, path, run };
}

it('shows what the service said about a batch, and why a trajectory failed (A11, B12)', async () => {
  const reason = { code: 'too_long', message: 'one is too long', context: { field: 'steps' } };
  const failures = [reason, { ...reason, message: 'it is too long', item_index: 0 }];
  const { screen, run } = await openTrajectories('reported', async () => ({ failures, message: 'none stored' }));
  await run();
  await screen.waitFor('it is too long (too_long)  {"field":"steps"}');
  expect(screen.text()).toContain('0 stored  0 skipped  1 failed  1 unknown');
  expect(screen.text()).toContain(
    'lines 1 to 2: a failure of the batch: one is too long (too_long)  {"field":"steps"}',
  );
  expect(screen.text()).toContain('lines 1 to 2: the service reports: none stored');
  // The rows come first where there is little room.
  await screen.resize(60, 15);
  await screen.waitFor('2 reports need a larger terminal');
  expect(screen.text()).toContain('✗ failed');
});

it('converts the same formats as the command, and says so (attack31 A3)', async () => {
  const { screen, path, run } = await openTrajectories('converted', async () => undefined);
  const messages = [{ role: 'user', content: 'hi' }];
  const scored = { prompt: 'hi', completion: 'ho', score: 0.5 };
  const turns = { conversations: [{ from: 'human', value: 'hi' }] };
  const records = [{ messages }, scored, { messages, system: 'be kind' }, turns];
  writeFileSync(path, records.map(each => JSON.stringify(each)).join('\n'));
  await run();
  await screen.waitFor('4 stored  0 skipped  0 failed');
  await screen.waitFor("Read 1 trajectory from a trainer's dump.");
  const { items } = await service.call('listTrajectories', { query: { dataset_name: 'converted' } });
  expect(items.map(({ reward }) => reward)).toEqual(expect.arrayContaining([0.5, null]));
  // The rows come first where there is little room.
  await screen.resize(60, 15);
  await screen.waitFor('4 reports need a larger terminal');
  expect(screen.text()).toContain('uploaded');
});

it('says that all of it, or some, was sent before, and what happens if the record is deleted', async () => {
  const { screen, path, run } = await openTrajectories(
    'before',
    async () => undefined,
    remembered()().trajectoryUploads,
  );
  await run();
  await screen.waitFor('everything was sent');
  await run();
  await screen.waitFor(text => /nothing to send: everything was sent before \(\d\d:\d\d:\d\d\)/.test(text));
  expect(screen.text()).toContain('0 stored  0 skipped  0 failed  2 sent before');
  await run(async () => 'another');
  const words = '2 sent before with another API key, maybe to another organization.';
  await screen.waitFor(words);
  await screen.resize(60, 15);
  await screen.waitFor(text => text.replaceAll(/[\s│]+/g, ' ').includes(words));
  await screen.resize(120, 30);
  appendFileSync(path, `\n${JSON.stringify({ messages: [{ role: 'user', content: 'one more' }] })}`);
  await run();
  await screen.waitFor(text => /sent; 2 skipped, sent before \(\d\d:\d\d:\d\d\)/.test(text));
  expect(screen.text()).toContain('1 stored  0 skipped  0 failed  2 sent before');
  await screen.press('d');
  await screen.waitFor('forgotten: upload the file again to send all of it');
  expect(screen.text()).not.toContain('not again');
  await run();
  await screen.waitFor('everything was sent');
  // The local service has them.
  expect(screen.text()).toContain('0 stored  3 skipped  0 failed');
});

describe('the upload of trajectories in the background', () => {
  it('is in the lists and their counts as soon as it ends, in any view', async () => {
    const answer = Promise.withResolvers<undefined>();
    const { screen, run } = await openTrajectories('elsewhere', () => answer.promise);
    await screen.waitFor('two.jsonl into elsewhere');
    const running = run();
    await screen.type(':trajectories\r');
    await screen.waitFor(text => text.includes('TASK') && /Trajectories +\d/.test(text));
    await screen.type(':datasets\r');
    await screen.waitFor(text => text.includes('DATASET') && /Datasets +\d/.test(text));
    const countOf = (section: string) => Number(new RegExp(`${section} +(\\d+)`).exec(screen.text())?.[1]);
    const [datasets, trajectories] = [countOf('Datasets'), countOf('Trajectories')];
    expect(screen.text()).not.toMatch(/│[▸ ]+elsewhere/);
    answer.resolve(undefined);
    await running;
    await screen.waitFor(text => /│[▸ ]+elsewhere/.test(text));
    await screen.waitFor(() => countOf('Datasets') === datasets + 1 && countOf('Trajectories') === trajectories + 2);
  });
});

describe('a failed upload of trajectories', () => {
  it('does not say that something is stored if its first request was refused', async () => {
    const { screen, run } = await openTrajectories('refused', async () => {
      throw new AuthenticationError('The key was refused.', { status: 401 });
    });
    await run();
    await screen.waitFor('The key was refused.');
    expect(screen.text()).toContain('it failed: nothing was sent; upload the file again to retry');
  });

  it('says that what was sent is stored if the service may have it', async () => {
    const { screen, run } = await openTrajectories('lost', async () => {
      throw new NetworkError('The line is cut.', { outcomeUnknown: true });
    });
    await run();
    await screen.waitFor('The line is cut.');
    expect(screen.text()).toContain('it failed: progress is kept');
  });
});

describe('completed jobs', () => {
  it('are removed, the oldest first; running ones never', () => {
    const jobs = new Jobs();
    const busy = new TrajectoryUpload('busy', '/nowhere', 'x');
    Object.defineProperty(busy, 'busy', { value: true });
    jobs.add(busy);
    for (let index = 0; index < 100; index += 1) jobs.add(new TrajectoryUpload(`job ${index}`, '/nowhere', 'x'));
    expect(jobs.list().length).toBeLessThan(30);
    expect(jobs.get('busy')).toBeDefined();
    expect(jobs.get('job 99')).toBeDefined();
    expect(jobs.get('job 0')).toBeUndefined();
  });
});

/** The notice is wrapped where the path of the file is long. */
const offersResume = (text: string): boolean => text.replaceAll(/[│\s]+/g, ' ').includes('ctrl-r resumes it');

describe('an unfinished upload', () => {
  /** The program at its benchmarks, restarted with remembered data. */
  function openBenchmarks(memory: RememberedStore, { readOnly = false, connect = async () => service } = {}) {
    const workbench = newWorkbench({ service: connect, remembered: () => memory, readOnly });
    const screen = openScreen(
      <Program workbench={workbench} theme={createTheme()} registry={registry} terminal={noTerminal} />,
      { columns: 120, rows: 30 },
    );
    onTestFinished(() => {
      screen.close();
      workbench.close();
    });
    return screen;
  }

  /** An upload that the line cut in its second file. */
  async function cut() {
    const folder = folderOf(3);
    const memory = remembered();
    const upload = await uploadOf(folder, memory());
    const dead = new NetworkError('The line is cut.', {});
    const failing = around(service, (call, name, go) =>
      call === 'put' && name !== nameOf(0) ? Promise.reject(dead) : go(),
    );
    await upload.run(async () => failing);
    expect(upload.state).toMatchObject({ phase: 'failed', sentFiles: 1 });
    return { folder, memory };
  }

  /** The next start, in which the upload is resumed and is in the middle of a file; `fail` ends it with these words. */
  async function resumed(memory: RememberedStore, words: string) {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const slow = around(service, async (call, _, go) => {
      if (call !== 'put') return go();
      asked.resolve();
      await answer.promise;
      throw new NetworkError(words, {});
    });
    const screen = openBenchmarks(memory, { connect: async () => slow });
    await screen.waitFor(offersResume);
    await screen.press('ctrl-r');
    await screen.waitFor('already sent: enter continues');
    await screen.press('enter');
    await asked.promise;
    return { screen, fail: answer.resolve };
  }
  const words = 'The upload of';

  it('is offered after a restart, resumed with one key, and then not offered any more', async () => {
    const { folder, memory } = await cut();
    const screen = openBenchmarks(memory());
    await screen.waitFor(offersResume);
    expect(screen.text()).toContain(words);
    await screen.press('ctrl-r');
    await screen.waitFor('1 of 3 files already sent: enter continues');
    await screen.press('enter');
    await screen.waitFor('uploaded; enter opens it');
    expect(benchmarksOf(local.folder, folder.label)).toHaveLength(1);
    await screen.press('esc');
    await screen.waitFor('▸ ');
    expect(screen.text()).not.toContain(words);
    const next = openBenchmarks(memory());
    await next.waitFor(folder.label);
    expect(next.text()).not.toContain(words);
  });

  it('is not offered while it continues, and is again if it fails', async () => {
    const { memory } = await cut();
    const { screen, fail } = await resumed(memory(), 'The line is cut.');
    await screen.press('esc');
    await screen.waitFor('ready to launch');
    expect(screen.text()).not.toContain(words);
    fail();
    await screen.waitFor(offersResume);
  });

  it('is announced if it fails in the background, and reopened with its error', async () => {
    const { folder, memory } = await cut();
    const { screen, fail } = await resumed(memory(), 'The service has left.');
    await screen.type(':datasets\r');
    await screen.waitFor('DATASET');
    fail();
    await screen.waitFor(`The upload of ${folder.label} failed: The service has left; ctrl-r in Benchmarks resumes it`);
    await screen.press('!');
    await screen.waitFor(text => text.split('The service has left').length === 3);
    await screen.press('esc');
    await screen.type(':benchmarks\r');
    await screen.waitFor(offersResume);
    await screen.press('ctrl-r');
    await screen.waitFor('it failed, but sent files are kept');
    expect(screen.text()).toContain('✗ The service has left.');
  });

  it('is counted in the frame and listed in Watch while it continues, and its end is announced', async () => {
    const { folder, memory } = await cut();
    const answer = Promise.withResolvers<void>();
    const slow = around(service, async (call, _, go) => {
      if (call === 'put') await answer.promise;
      return go();
    });
    const screen = openBenchmarks(memory(), { connect: async () => slow });
    await screen.waitFor(offersResume);
    await screen.press('ctrl-r');
    await screen.waitFor('already sent: enter continues');
    await screen.press('enter');
    await screen.waitFor(`uploading ${folder.label} 33%`);
    await screen.type(':watch\r');
    await screen.waitFor('WATCHED');
    const line = (): string =>
      screen
        .text()
        .split('\n')
        .find(each => each.includes('▸')) ?? '';
    expect(line()).toMatch(new RegExp(`${folder.label} +33\\.3% +. sending`));
    answer.resolve(undefined);
    await screen.waitFor(`The upload of ${folder.label} is done`);
    expect(screen.text()).not.toContain('uploading');
    await screen.waitFor(() => new RegExp(`${folder.label} +100% +. uploaded`).test(line()));
    await screen.press('enter');
    await screen.waitFor('uploaded; enter opens it');
  });

  it('is forgotten on request, and if its folder is gone', async () => {
    const { memory } = await cut();
    const screen = openBenchmarks(memory());
    await screen.waitFor(offersResume);
    await screen.press('ctrl-r');
    await screen.waitFor('already sent: enter continues');
    await screen.press('d');
    await screen.waitFor('not sent yet');
    await screen.press('esc');
    await screen.waitFor('ready to launch');
    expect(screen.text()).not.toContain(words);

    const gone = await cut();
    rmSync(gone.folder.path, { recursive: true });
    const other = openBenchmarks(gone.memory());
    await other.waitFor(offersResume);
    await other.press('ctrl-r');
    await other.waitFor('cannot be resumed');
    await other.press('esc');
    expect(other.text()).not.toContain(words);
  });

  it('is not offered in read-only mode', async () => {
    const { memory } = await cut();
    const screen = openBenchmarks(memory(), { readOnly: true });
    await screen.waitFor('ready to launch');
    expect(screen.text()).not.toContain(words);
  });
});

describe('an unfinished upload of trajectories', () => {
  /** The datasets after the second request of an upload has failed so. */
  async function openAfter(error: Error, dataset: string) {
    const folder = mkdtempSync(join(tmpdir(), 'benchtop-upload-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'words.jsonl');
    const lines = Array.from({ length: 120 }, (_, index) =>
      JSON.stringify({ messages: [{ role: 'user', content: `unfinished ${index}` }] }),
    );
    writeFileSync(path, lines.join('\n'));
    const memory = remembered();
    let sent = 0;
    const failing = withAnswers(service, {
      uploadTrajectories: async (input, options) => {
        sent += 1;
        if (sent === 2) throw error;
        return service.call('uploadTrajectories', input, options);
      },
    });
    const cut = new TrajectoryUpload('job', path, dataset, { records: memory().trajectoryUploads });
    await cut.run(async () => failing);
    expect(cut.state).toMatchObject({ phase: 'failed', counts: { stored: 100 } });

    const store = memory();
    const workbench = newWorkbench({
      service: async () => service,
      remembered: () => store,
    });
    const start = { view: 'list', resource: 'datasets' } as const;
    const screen = openScreen(
      <Program workbench={workbench} theme={createTheme()} registry={registry} terminal={noTerminal} start={start} />,
      { columns: 160, rows: 30 },
    );
    onTestFinished(() => {
      screen.close();
      workbench.close();
    });
    await screen.waitFor(offersResume);
    return screen;
  }

  it('is offered after a restart, and its window shows how much was sent', async () => {
    const limited = new RateLimitError('Slow down.', { status: 429, requestId: 'req_1' });
    const screen = await openAfter(limited, 'cut-words');
    expect(screen.text().replaceAll(/[│\s]+/g, ' ')).toContain('into cut-words (100 stored');
    await screen.press('ctrl-r');
    await screen.waitFor('Already sent to cut-words: 100 stored');
    await screen.press('enter');
    await screen.waitFor('20 stored  0 skipped  0 failed  100 sent before');
    await screen.press('esc');
    await screen.waitFor('DATASET');
    expect(offersResume(screen.text())).toBe(false);
  });

  it('asks whether to resend what may be stored, and does not by itself (A1)', async () => {
    const lost = new NetworkError('The line is cut.', { outcomeUnknown: true });
    const screen = await openAfter(lost, 'asked-words');
    await screen.press('ctrl-r');
    await screen.waitFor('Already sent to asked-words: 100 stored, 0 skipped, 0 failed, 20');
    expect(screen.text()).toContain('Send the unknown ones again');
    await screen.press('enter');
    await screen.waitFor('sent; 20 unknown');
    expect(screen.text()).toContain('0 stored  0 skipped  0 failed  20 unknown  100 sent before');
    expect(screen.text()).not.toContain('everything was sent');
    await screen.press('esc');
    await screen.waitFor(offersResume);
    await screen.press('ctrl-r');
    await screen.waitFor('Send the unknown ones again');
    await screen.press('tab', 'tab', 'right');
    await screen.waitFor('they may be stored twice');
    await screen.press('enter');
    await screen.waitFor('20 stored  0 skipped  0 failed  100 sent before');
  });
});
