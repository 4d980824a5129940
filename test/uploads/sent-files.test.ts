/** The sent files of a folder, before and after its record is read again. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { tablesInMemory } from '../../src/store/tables.ts';
import { UploadRecords } from '../../src/store/upload-records.ts';
import { manifestName } from '../../src/uploads/benchmark-plan.ts';
import { SentFiles } from '../../src/uploads/sent-files.ts';

const file = (path: string, size = 10) => ({ path, absolute: `/d/${path}`, size, mtimeMs: 1 });
const [a, b] = [file('a'), file('b')];

function opened() {
  const records = new UploadRecords(tablesInMemory('prod'));
  const sent = new SentFiles(records, '/d');
  const again = () => {
    const read = new SentFiles(records, '/d');
    read.load();
    return read;
  };
  return { records, sent, again };
}

it('are read back unchanged: the id, the phase, the manifest, and the files', () => {
  const { sent, again } = opened();
  expect([again().benchId, again().paths(), again().isIngested()]).toEqual([undefined, [], false]);
  sent.declare('bench_1', [a, b], [a, b]);
  expect([sent.declaredNow('a'), sent.declaredNow('c'), sent.sentNow('a'), sent.holds(a)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  sent.add('a', '10 1');
  expect([sent.sentNow('a'), sent.sentNow('b'), sent.holds(a), sent.holds(file('a', 11))]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  sent.add('b', '10 1');
  sent.setPhase('ingested', 'm');
  const read = again();
  expect([read.benchId, read.paths(), read.isIngested()]).toEqual(['bench_1', ['a', 'b'], true]);
  expect([read.declaredNow('a'), read.sentNow('a'), read.holds(a)]).toEqual([false, false, true]);
  expect(read.isAllOf({ manifestFingerprint: 'm', files: [a, b] })).toBe(true);
  expect(read.isAllOf({ manifestFingerprint: 'n', files: [a, b] })).toBe(false);
  expect(read.isAllOf({ manifestFingerprint: 'm', files: [a] })).toBe(false);
  expect(read.isAllOf({ manifestFingerprint: 'm', files: [a, b, file('c')] })).toBe(false);
});

it('may contain the manifest as an ordinary file', () => {
  const { sent } = opened();
  const manifest = file(manifestName);
  sent.declare('bench_1', [manifest], [manifest]);
  sent.add(manifest.path, '10 1');
  sent.setPhase('ingested', 'm');
  expect(sent.paths()).toEqual([manifestName]);
  expect(sent.isAllOf({ manifestFingerprint: 'm', files: [] })).toBe(true);
});

it('are no longer ingested once another file is about to be sent', () => {
  const { sent, again, records } = opened();
  sent.declare('bench_1', [a], [a]);
  sent.setPhase('ingested', 'm');
  const setPhase = vi.spyOn(records, 'setPhase');
  sent.begin([]);
  expect([sent.isIngested(), setPhase.mock.calls.length]).toEqual([true, 0]);
  sent.begin(['b']);
  expect([sent.isIngested(), again().isIngested(), sent.paths()]).toEqual([false, false, ['a', 'b']]);
  expect(again().isAllOf({ manifestFingerprint: 'm', files: [] })).toBe(false);
  sent.begin(['b']);
  expect(setPhase).toHaveBeenCalledTimes(1);
});

it('are empty before the service has issued an id, and for any other id', () => {
  const { sent, again, records } = opened();
  const note = vi.spyOn(records, 'note');
  sent.begin(['a']);
  sent.setPhase('ingesting', 'm');
  sent.flush();
  expect([sent.paths(), note.mock.calls, records.unfinished()]).toEqual([[], [], []]);
  sent.declare('bench_1', [a], [a]);
  sent.add('a', '10 1');
  sent.declare('bench_1', [b], []);
  expect([sent.holds(a), sent.declaredNow('a'), sent.paths()]).toEqual([true, true, ['a']]);
  sent.declare('bench_2', [b], [b]);
  expect([sent.benchId, sent.holds(a), sent.declaredNow('a'), sent.sentNow('a'), sent.paths()]).toEqual([
    'bench_2',
    false,
    false,
    false,
    ['b'],
  ]);
  sent.flush();
  expect([again().benchId, again().paths()]).toEqual(['bench_2', ['b']]);
  expect(records.files('/d', 'bench_2').get('a')).toBeUndefined();
});

it('are deleted with their id, or with the whole record', () => {
  const { sent, again, records } = opened();
  sent.declare('bench_1', [a], [a]);
  records.begin('/d', 'bench_2');
  sent.forget();
  expect([sent.benchId, sent.paths(), again().benchId]).toEqual([undefined, [], 'bench_2']);
  sent.startOver();
  expect([sent.benchId, again().benchId]).toEqual([undefined, undefined]);
});

it('are written half a second after the last write, not earlier', () => {
  let at = 10_000;
  const now = vi.spyOn(Date, 'now').mockImplementation(() => at);
  onTestFinished(() => now.mockRestore());
  const { sent, records } = opened();
  sent.declare('bench_1', [a, b], []);
  sent.flush();
  const note = vi.spyOn(records, 'note');
  const written = () => note.mock.calls.map(([, , files]) => files.map(([path]) => path));
  at += 500;
  sent.add('a', '10 1');
  expect(written()).toEqual([]);
  at += 1;
  sent.add('b', '10 1');
  expect(written()).toEqual([['a', 'b']]);
});
