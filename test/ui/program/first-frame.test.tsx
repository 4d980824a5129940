/**
 * The first frame of a start that has seen the service before: remembered data with its age, until there is an answer.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { RememberedStore } from '../../../src/store/store.ts';
import { noConnection } from '../../../src/ui/app/connection.ts';
import { Painter } from '../../../src/ui/app/painter/painter.ts';
import { type Answers, pageOf, scriptedService } from '../../queries/scripted-service.ts';
import { openProgram, type Rig } from './rig.tsx';
import { passing, startVirtualTime } from './virtual-time.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-first-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const path = (): string => join(folder, 'remembered.db');
const remembered = (scope = 'prod https://one.test/') => ({ remembered: () => RememberedStore.open(path(), scope) });

const rows = ['t-words', 'sums', 'opposites'].map((label, index) => ({
  bench_id: `bench_${index}`,
  label,
  family: 'style',
  eval_run_count: 3,
  updated_at: '2026-01-02T03:04:05Z',
}));

function answers(more: Answers = {}): Answers {
  return {
    listBenchmarks: () => pageOf(rows),
    getBenchmarkReadiness: () => ({ ready: true }),
    listEvalRuns: () => [],
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    ...more,
  };
}

const size = { columns: 120, rows: 30 };

/** A start that reads the list, and ends. */
async function earlierStart(scope?: string): Promise<void> {
  const rig = openProgram({ service: scriptedService(answers()).service, ...remembered(scope), ...size });
  await rig.screen.waitFor('▸ t-words');
  await rig.screen.waitFor('live');
  rig.close();
  await rig.workbench.closed;
}

interface Start extends Rig {
  /** The writes to the terminal. */
  readonly writes: readonly string[];
}

function laterStart(more: Partial<Parameters<typeof openProgram>[0]> = {}): Start {
  const writes: string[] = [];
  const rig = openProgram({ ...remembered(), ...size, ...more, onBytes: bytes => writes.push(bytes) });
  onTestFinished(rig.close);
  return { ...rig, writes };
}

describe('the first frame', () => {
  it('shows the view, at the very first start', () => {
    const { writes } = laterStart({ connection: { ...noConnection, isLocal: true } });
    expect(writes[0]).toContain('Local service; ctrl-k connects to another');
  });

  it('has the rows and the count that an earlier start read, with their age', async () => {
    await earlierStart();
    const { writes, screen } = laterStart();
    for (const { label } of rows) expect(writes[0]).toContain(label);
    await screen.waitFor(text => /stale, read \d+s ago/.test(text));
    expect(screen.text()).toContain('Benchmarks       3');
    expect(screen.text()).toContain('▸ t-words');
  });

  it('has nothing from a service at another address', async () => {
    await earlierStart('prod https://other.test/');
    const { screen } = laterStart();
    await screen.waitFor('loading');
    expect(screen.text()).not.toContain('t-words');
    expect(screen.text()).not.toMatch(/Benchmarks +3/);
  });

  it('ignores what cannot be a page, or a row', async () => {
    await earlierStart();
    const change = (page: string): void => {
      const database = new DatabaseSync(path());
      database.prepare('update pages set page = ?').run(page);
      database.close();
    };
    const list = { format: 1, complete: true, dropped: 0, repeated: 0, notes: [] };
    const unusable = [{ rows: [] }, { ...list, rows: 7 }, { ...list, rows: [null] }, { ...list, format: 2, rows: [] }];
    for (const page of ['', '[', ...unusable.map(each => JSON.stringify(each))]) {
      change(page);
      const { screen, failed, close } = laterStart();
      await screen.waitFor('loading');
      expect(failed).toEqual([]);
      close();
    }
    const rows = [{ bench_id: 'bench_9', label: 'whole' }, { label: 'no id' }, { bench_id: 'bench_8', label: 8 }];
    change(JSON.stringify({ ...list, rows }));
    const { screen, failed } = laterStart();
    await screen.waitFor('stale');
    expect(screen.text()).toContain('▸ whole');
    expect(failed).toEqual([]);
  });

  it('is replaced in place: if the answer is the same, only its age is written', async () => {
    await earlierStart();
    const gate = Promise.withResolvers<void>();
    const listBenchmarks = () =>
      gate.promise.then(() => pageOf(rows.with(1, { ...rows[1], eval_run_count: 4 } as never)));
    // Ages are written as they change.
    startVirtualTime();
    const { screen, writes } = laterStart({ service: scriptedService(answers({ listBenchmarks })).service });
    await passing(screen.waitFor('stale'));
    await passing(screen.waitFor('ready to launch'));
    const before = writes.length;
    gate.resolve();
    await passing(screen.waitFor('live'));
    const written = writes.slice(before).join('');
    // The mark and the words of the frame, and one cell.
    expect(written).not.toContain('t-words');
    expect(written).toContain('4');
    expect(Buffer.byteLength(written)).toBeLessThan(160);
    expect(screen.text()).toMatch(/sums +style +4/);
  });

  it('is followed by one with both the rows and the count of the answer', async () => {
    const gate = Promise.withResolvers<void>();
    const listBenchmarks = () => gate.promise.then(() => pageOf(rows));
    const { screen } = laterStart({ service: scriptedService(answers({ listBenchmarks })).service });
    await screen.waitFor('loading');
    const drawn = vi.spyOn(Painter.prototype, 'frame');
    onTestFinished(() => drawn.mockRestore());
    gate.resolve();
    await screen.waitFor('▸ t-words');
    const frames = drawn.mock.calls.map(([frame]) => stripVTControlCharacters(frame));
    expect(frames.find(frame => frame.includes('t-words'))).toMatch(/Benchmarks +3/);
  });

  it('stays if the service is unreachable, and says so', async () => {
    await earlierStart();
    const listBenchmarks = () => Promise.reject(new Error('the service does not answer'));
    const { screen } = laterStart({ service: scriptedService(answers({ listBenchmarks })).service });
    await screen.waitFor(text => /failing, read \d+s ago/.test(text));
    expect(screen.text()).toContain('▸ t-words');
  });

  it('shows what was running when last seen, in Watch, with its age', async () => {
    const store = RememberedStore.open(path(), 'prod https://one.test/');
    const run = { kind: 'run', id: 'evr_1', label: 'baseline', status: 'running' } as const;
    store.see([{ ...run, record: { eval_run_id: 'evr_1', status: 'running' } }]);
    store.close();
    const { screen } = laterStart({ start: { view: 'watch' } });
    await screen.waitFor('▸ baseline');
    await screen.waitFor(text => /stale, read \d+s ago/.test(text));
    expect(screen.text()).toMatch(/Watch +1/);
  });

  it('is Watch if a command has seen the end of what it started, as the user may not have (out27 A2)', async () => {
    const store = RememberedStore.open(path(), 'prod https://one.test/');
    const run = { kind: 'run', id: 'evr_1', label: 'baseline' } as const;
    store.see([{ ...run, isStart: true }]);
    store.see([{ ...run, status: 'completed', record: { eval_run_id: 'evr_1', status: 'completed' } }]);
    store.close();
    const { screen } = laterStart();
    await screen.waitFor('▸ ');
    expect(screen.text()).toContain('WATCHED');
    expect(screen.text()).toContain('▸ baseline');
  });

  it('is replaced by Watch if something runs now, however recently the lists were read', async () => {
    await earlierStart();
    const run = { training_run_id: 'trn_1', bench_id: 'bench_0', display_name: 'nightly', status: 'running' };
    const { screen } = laterStart({ service: scriptedService(answers({ listTrainingRuns: () => [run] })).service });
    await screen.waitFor(text => text.includes('WATCHED') && text.includes('nightly'));
  });

  it('is private to the user', async () => {
    await earlierStart();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });
});
