/** The local service as a process: found, started, replaced, stopped, and kept awake by leases. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { version } from '../../../src/base/version.ts';
import { ensureLocalService, findService, isSilent, stopService } from '../../../src/local/daemon/client.ts';
import type { RunningService } from '../../../src/local/daemon/daemon.ts';
import {
  announceSuccessor,
  DataFolderError,
  isFolderLocked,
  lockFolder,
  writeAddress,
} from '../../../src/local/daemon/files.ts';
import { holdLease, type LeaseEnd } from '../../../src/local/daemon/lease.ts';
import { AlreadyRunning, type ServeOptions, serve } from '../../../src/local/daemon/serve.ts';
import { eventually } from '../../eventually.ts';
import { processesIn } from '../../setup/left.ts';

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const entry = { command: process.execPath, args: [main] };

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-daemon-'));
  onTestFinished(async () => {
    await stopService(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return folder;
}

async function here(dataFolder: string, options: Partial<ServeOptions> = {}): Promise<RunningService> {
  const service = await serve({ dataFolder, version, ...options });
  onTestFinished(() => service.stop());
  return service;
}

const background = { idleMs: 3_600_000 };

describe('starting', () => {
  it('gives concurrent callers the same process, and finds it later', async () => {
    const dataFolder = freshFolder();
    const all = await Promise.all([1, 2, 3].map(() => ensureLocalService({ dataFolder, entry, version })));
    expect(new Set(all.map(({ pid }) => pid)).size).toBe(1);
    expect(all[0]).toMatchObject({ version, background: true, note: undefined });
    expect(await findService(dataFolder)).toMatchObject({ pid: all[0]?.pid });
  });

  it.skipIf(process.platform !== 'linux')(
    'leaves no redundant process, which would serve the folder later',
    async () => {
      const dataFolder = freshFolder();
      const slow = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1_000)', '--'] };
      const both = [slow, entry].map(each => ensureLocalService({ dataFolder, entry: each, version }));
      const [first, second] = await Promise.all(both);
      expect(first?.pid).toBe(second?.pid);
      await eventually(() => expect(processesIn(dataFolder).map(({ pid }) => pid)).toEqual([first?.pid]));
    },
  );

  it('waits for a service that saves its work before it exits, however long that takes', async () => {
    const dataFolder = freshFolder();
    const unlock = lockFolder(dataFolder);
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => {
      vi.restoreAllMocks();
      vi.useRealTimers();
    });
    const waiting = ensureLocalService({ dataFolder, entry, version });
    const started = vi.fn();
    void waiting.then(started, started);
    await eventually(() => expect(existsSync(join(dataFolder, 'service.log'))).toBe(true));
    vi.advanceTimersByTime(16_000);
    const looks = vi.spyOn(performance, 'now');
    await eventually(() => expect(looks.mock.calls.length).toBeGreaterThan(3));
    expect(started).not.toHaveBeenCalled();
    unlock?.();
    expect(await waiting).toMatchObject({ version, background: true });
  });

  it('replaces one of another version when a program starts, and uses it afterwards', async () => {
    const dataFolder = freshFolder();
    const old = await here(dataFolder, { version: '0.0.1', ...background });
    const used = await ensureLocalService({ dataFolder, entry, version, reason: 'lost' });
    expect(used).toMatchObject({ baseUrl: old.baseUrl, note: expect.stringContaining('is version 0.0.1') });
    const started = await ensureLocalService({ dataFolder, entry, version, reason: 'start' });
    expect(started.pid).not.toBe(process.pid);
    expect(started).toMatchObject({ version, note: undefined });
    await old.ended;
  });

  it('passes on the key of its upstream server, and no other variable', async () => {
    const names = 'Object.entries(process.env).filter(([name]) => name.startsWith("BENCHTOP_UPSTREAM"))';
    const shows = { command: process.execPath, args: ['-e', `console.log(${names}.join(" ")); process.exit(9)`, '--'] };
    vi.stubEnv('BENCHTOP_UPSTREAM', 'http://127.0.0.1:7');
    vi.stubEnv('BENCHTOP_UPSTREAM_KEY', 'sk-other');
    vi.stubEnv('BENCHTOP_UPSTREAM_KEY_FILE', 'other');
    onTestFinished(() => void vi.unstubAllEnvs());
    const started = (upstream?: { url: string; key: string }) =>
      ensureLocalService({ dataFolder: freshFolder(), entry: shows, version, upstream });
    await expect(started()).rejects.toThrow(/code 9\.\nNothing was lost/);
    await expect(started({ url: 'http://127.0.0.1:9', key: 'sk-own' })).rejects.toThrow(
      /code 9\.\nBENCHTOP_UPSTREAM_KEY,sk-own\nNothing was lost/,
    );
  });

  it('replaces one that has an upstream server, or another key for it', async () => {
    const dataFolder = freshFolder();
    const upstream = { url: 'http://127.0.0.1:9/v1', key: 'sk-one' };
    const first = await ensureLocalService({ dataFolder, entry, version, upstream });
    expect(first.upstream).toBe(upstream.url);
    const same = await ensureLocalService({ dataFolder, entry, version, upstream });
    expect(same.pid).toBe(first.pid);
    const otherKey = await ensureLocalService({ dataFolder, entry, version, upstream: { ...upstream, key: 'sk-two' } });
    expect(otherKey.pid).not.toBe(first.pid);
    const without = await ensureLocalService({ dataFolder, entry, version });
    expect(without.upstream).toBeNull();
  });

  it('prints the last output of a process that exits, from this start only', async () => {
    const dataFolder = freshFolder();
    const log = join(dataFolder, 'service.log');
    writeFileSync(log, 'words of yesterday\n'.repeat(60_000));
    const broken = {
      command: process.execPath,
      args: ['-e', 'console.error("no room on disk"); process.exit(3)', '--'],
    };
    const failed = ensureLocalService({ dataFolder, entry: broken, version });
    await expect(failed).rejects.toThrow(/did not start: it exited with code 3\.\nno room on disk\n/);
    await expect(failed).rejects.not.toThrow('yesterday');
    // It does not grow forever.
    expect(statSync(log).size).toBeLessThan(1_000);
  });

  it.skipIf(process.platform !== 'linux')('survives a log on a full disk', async () => {
    const dataFolder = freshFolder();
    // No job can begin, which is logged.
    mkdirSync(join(dataFolder, 'jobs-under-way'));
    const log = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [main, 'serve', '--data', dataFolder, '--background'], {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    await eventually(async () => {
      const jobs = child.exitCode === null ? (await findService(dataFolder))?.waiting.length : 'ended';
      expect(jobs).toBeTruthy();
    });
    expect(await findService(dataFolder)).toMatchObject({ pid: child.pid });
  });

  it('waits for a service that is announced as the replacement of the lost one', async () => {
    const dataFolder = freshFolder();
    announceSuccessor(dataFolder);
    const waiting = ensureLocalService({ dataFolder, entry, version, reason: 'lost' });
    const successor = await here(dataFolder, { version: '9.9.9', ...background });
    expect(await waiting).toMatchObject({ baseUrl: successor.baseUrl, pid: process.pid });
  });

  it('can be cancelled', async () => {
    const dataFolder = freshFolder();
    const never = { command: process.execPath, args: ['-e', 'setTimeout(() => {}, 2_000)', '--'] };
    const stop = new AbortController();
    const waiting = ensureLocalService({ dataFolder, entry: never, version, signal: stop.signal });
    await eventually(() => expect(existsSync(join(dataFolder, 'service.log'))).toBe(true));
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a lease', () => {
  it('keeps a service awake, which exits later by itself', async () => {
    const dataFolder = freshFolder();
    // The idle time passes only when this test lets it: a busy machine may take longer until the lease is held.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const service = await here(dataFolder, { idleMs: 60 });
    let ended = false;
    void service.ended.then(() => {
      ended = true;
    });
    const ends: LeaseEnd[] = [];
    const release = holdLease(service, farewell => ends.push(farewell));
    await eventually(async () => expect((await findService(dataFolder))?.leases).toBe(1));
    vi.advanceTimersByTime(500);
    await new Promise(setImmediate);
    expect(ended).toBe(false);
    release();
    await eventually(async () => expect(await leasesOf(service)).toBe(0));
    vi.advanceTimersByTime(500);
    await service.ended;
    expect(ends).toEqual([]);
  });

  it.each(['stopped', 'replaced'] as const)('reports that the service is %s', async farewell => {
    const service = await here(freshFolder());
    const heard = new Promise<LeaseEnd>(resolve => holdLease(service, resolve));
    await eventually(async () => expect(await leasesOf(service)).toBe(1));
    await service.stop(farewell === 'replaced');
    expect(await heard).toBe(farewell);
  });

  it('reports at once that the process was killed', async () => {
    const dataFolder = freshFolder();
    const service = await ensureLocalService({ dataFolder, entry, version });
    const heard = new Promise<LeaseEnd>(resolve => holdLease(service, resolve));
    await eventually(async () => expect((await findService(dataFolder))?.leases).toBe(1));
    process.kill(service.pid, 'SIGKILL');
    expect(await heard).toBe('lost');
  });

  it('is refused without the key', async () => {
    const { baseUrl } = await here(freshFolder());
    expect((await fetch(`${baseUrl}/local/lease`)).status).toBe(401);
  });
});

async function leasesOf({ baseUrl, apiKey }: RunningService): Promise<number> {
  const answer = await fetch(`${baseUrl}/local/health`, { headers: { 'X-API-Key': apiKey } });
  return ((await answer.json()) as { leases: number }).leases;
}

describe('stopping', () => {
  it('lets the next service start at once, even while the first still saves its work', async () => {
    const dataFolder = freshFolder();
    const { baseUrl, apiKey } = await ensureLocalService({ dataFolder, entry, version });
    const call = async (path: string, body?: object) =>
      (
        await fetch(baseUrl + path, {
          headers: { 'X-API-Key': apiKey },
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
        })
      ).json() as Promise<{ status: string; items: { bench_id: string; label: string }[]; training_run_id: string }>;
    const bench = (await call('/api/v1/benchmarks')).items.find(({ label }) => label === 't-words');
    const { training_run_id } = await eventually(async () => {
      const body = {
        bench_id: bench?.bench_id,
        base_model_slug: 'benchtop/tutor-base',
        display_name: 'long',
        options: { num_steps: 400 },
      };
      const started = await call('/api/v1/train', body);
      expect(started.training_run_id).toBeTruthy();
      return started;
    });
    await eventually(async () => expect((await call(`/api/v1/train/${training_run_id}`)).status).toBe('running'));
    expect(await stopService(dataFolder)).toMatchObject({ baseUrl });
    expect(isFolderLocked(dataFolder)).toBe(false);
    const next = await here(dataFolder);
    expect(next.baseUrl).not.toBe('');
  });

  it('succeeds if an open screen has already started the next one', async () => {
    const dataFolder = freshFolder();
    const unlock = lockFolder(dataFolder);
    const stopping = createServer((request, response) => {
      if (request.url === '/local/stop') writeAddress(dataFolder, { ...address, instance_id: 'next' });
      response.end(JSON.stringify({ instance_id: 'first', pid: process.pid, version, leases: 1 }));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void stopping.close());
    await once(stopping, 'listening');
    const { port } = stopping.address() as AddressInfo;
    const address = { base_url: `http://127.0.0.1:${port}`, api_key: 'k', pid: process.pid, instance_id: 'first' };
    writeAddress(dataFolder, address);
    expect(await stopService(dataFolder)).toMatchObject({ instanceId: 'first' });
    expect(isFolderLocked(dataFolder)).toBe(true);
    unlock?.();
  });

  it('succeeds if the process was killed before it could answer', async () => {
    const dataFolder = freshFolder();
    const unlock = lockFolder(dataFolder);
    const dying = createServer((request, response) => {
      if (request.url === '/local/health') {
        response.end(JSON.stringify({ instance_id: 'first', pid: process.pid, version, leases: 1 }));
        return;
      }
      unlock?.();
      response.destroy();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void dying.close());
    await once(dying, 'listening');
    const { port } = dying.address() as AddressInfo;
    const address = { base_url: `http://127.0.0.1:${port}`, api_key: 'k', pid: process.pid, instance_id: 'first' };
    writeAddress(dataFolder, address);
    expect(await stopService(dataFolder)).toMatchObject({ instanceId: 'first' });
  });

  it('is not an error if nothing runs', async () => {
    expect(await stopService(freshFolder())).toBeUndefined();
  });

  it('names a process that holds the folder and does not exit', async () => {
    const dataFolder = freshFolder();
    const unlock = lockFolder(dataFolder);
    await expect(stopService(dataFolder)).rejects.toThrow(/A process still holds the data folder/);
    unlock?.();
  });
});

describe('serving by hand', () => {
  it('replaces a service that was started for a screen', async () => {
    const dataFolder = freshFolder();
    const screens = await ensureLocalService({ dataFolder, entry, version });
    const heard = new Promise<LeaseEnd>(resolve => holdLease(screens, resolve));
    await eventually(async () => expect((await findService(dataFolder))?.leases).toBe(1));
    const byHand = await here(dataFolder);
    expect(await heard).toBe('replaced');
    expect(await findService(dataFolder)).toMatchObject({ baseUrl: byHand.baseUrl, background: false });
  });

  it('names the service that already runs', async () => {
    const dataFolder = freshFolder();
    const first = await here(dataFolder);
    const second = serve({ dataFolder });
    await expect(second).rejects.toBeInstanceOf(AlreadyRunning);
    await expect(second).rejects.toThrow(`process ${process.pid}, at ${first.baseUrl}`);
  });

  it('waits for a process that holds the folder but no longer responds', async () => {
    const dataFolder = freshFolder();
    const unlock = lockFolder(dataFolder);
    const starting = here(dataFolder);
    unlock?.();
    expect((await starting).baseUrl).toMatch(/^http:/);
  });
});

describe('a start that fails', () => {
  const failureIn = async (dataFolder: string, options: Partial<ServeOptions> = {}) => {
    const failure = await serve({ dataFolder, ...options }).catch((error: unknown) => error);
    expect(isFolderLocked(dataFolder)).toBe(false);
    expect(existsSync(join(dataFolder, 'lock.pid'))).toBe(false);
    return failure;
  };

  it('leaves the folder unlocked if it could not write its owner', async () => {
    const dataFolder = freshFolder();
    mkdirSync(join(dataFolder, 'lock.pid', 'in the way'), { recursive: true });
    await expect(serve({ dataFolder })).rejects.toBeInstanceOf(DataFolderError);
    expect(isFolderLocked(dataFolder)).toBe(false);
  });

  it('can be cancelled by a signal while another process holds the folder (V5)', async () => {
    const dataFolder = freshFolder();
    const unlock = lockFolder(dataFolder);
    const stop = new AbortController();
    const starting = serve({ dataFolder, signal: stop.signal });
    stop.abort(new Error('ctrl-c'));
    await expect(starting).rejects.toThrow('ctrl-c');
    unlock?.();
    await here(dataFolder);
  });

  it('leaves neither lock nor database open, and says what to do (V10)', async () => {
    const dataFolder = freshFolder();
    writeFileSync(join(dataFolder, 'uploads'), '');
    const failure = await failureIn(dataFolder);
    expect(failure).toBeInstanceOf(DataFolderError);
    expect(failure).toMatchObject({ message: expect.stringMatching(/cannot be used: ENOTDIR.*BENCHTOP_DATA_DIR/) });
    expect(existsSync(join(dataFolder, 'benchtop.db-wal'))).toBe(false);
    rmSync(join(dataFolder, 'uploads'));
    await here(dataFolder);
  });

  it('says that a port is taken, and leaves nothing open (V10)', async () => {
    const { baseUrl } = await here(freshFolder());
    const failure = await failureIn(freshFolder(), { port: Number(new URL(baseUrl).port) });
    expect(failure).toMatchObject({ message: expect.stringMatching(/^Port \d+ is taken\./) });
  });

  it('names a database with damaged inner pages (X13)', async () => {
    const dataFolder = freshFolder();
    await (await here(dataFolder)).stop();
    const path = join(dataFolder, 'benchtop.db');
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 4096);
    writeFileSync(path, bytes);
    const failure = await failureIn(dataFolder);
    expect(failure).toBeInstanceOf(DataFolderError);
    expect(failure).toMatchObject({ message: expect.stringContaining(`The database ${path} is damaged`) });
  });

  it('refuses an empty database next to its other files (X8)', async () => {
    const dataFolder = freshFolder();
    const path = join(dataFolder, 'benchtop.db');
    // As a first start leaves it that is killed at once.
    writeFileSync(path, '');
    await (await here(dataFolder)).stop();
    writeFileSync(path, '');
    expect(await failureIn(dataFolder)).toMatchObject({
      message: expect.stringMatching(
        /benchtop\.db is empty, although the folder has api-key, master-key\. Restore it from a backup/,
      ),
    });
    expect(statSync(path).size).toBe(0);
  });

  it('refuses to replace a missing master key only if secrets exist (X8)', async () => {
    const dataFolder = freshFolder();
    const key = join(dataFolder, 'master-key');
    await (await here(dataFolder)).stop();
    rmSync(key);
    const { baseUrl, apiKey, stop } = await here(dataFolder);
    const kept = readFileSync(key);
    const headers = { 'X-API-Key': apiKey };
    const body = JSON.stringify({ name: 'S1', value: 'secret' });
    expect((await fetch(`${baseUrl}/api/v1/secrets`, { method: 'POST', headers, body })).status).toBe(200);
    await stop();
    rmSync(key);
    expect(await failureIn(dataFolder)).toMatchObject({
      message: expect.stringMatching(
        /master-key is missing, and the database holds secrets .* Restore it from a backup/,
      ),
    });
    expect(existsSync(key)).toBe(false);
    writeFileSync(key, kept, { mode: 0o600 });
    await here(dataFolder);
  });
});

it.each([
  ['benchtop.db', 'this is no database '.repeat(100), /benchtop\.db is damaged: .*not a database\. Nothing in it was/],
  ['master-key', 'c2hvcnQ=', /master-key is damaged: it has 5 bytes instead of 32\. Restore it from a backup/],
])('reports a damaged %s, with what to do, and leaves the folder unlocked', async (name, text, words) => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'benchtop-damaged-'));
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true }));
  writeFileSync(join(dataFolder, name), text, { mode: 0o600 });
  const failure = serve({ dataFolder }).catch((error: unknown) => error);
  expect(await failure).toBeInstanceOf(DataFolderError);
  expect(await failure).toMatchObject({ message: expect.stringMatching(words) });
  expect(isFolderLocked(dataFolder)).toBe(false);
});

describe('the lock of the data folder', () => {
  const lockIn = (folder: string) => join(folder, 'lock.db');

  it('is reported if it is damaged, and not taken for another benchtop', async () => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'benchtop-lock-'));
    onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true }));
    writeFileSync(lockIn(dataFolder), 'this is no database '.repeat(100));
    await expect(serve({ dataFolder })).rejects.toThrow(/lock\.db cannot be used: .*not a database/);
    rmSync(lockIn(dataFolder));
    mkdirSync(lockIn(dataFolder));
    await expect(serve({ dataFolder })).rejects.toBeInstanceOf(DataFolderError);
  });

  it('is held by one process at a time, and free once released', () => {
    const folder = freshFolder();
    const unlock = lockFolder(folder);
    expect(lockFolder(folder)).toBeUndefined();
    expect(isFolderLocked(folder)).toBe(true);
    unlock?.();
    expect(isFolderLocked(folder)).toBe(false);
  });
});

describe('a service that does not answer', () => {
  it('is reported differently from one that does not exist', async () => {
    const hanging = createServer(() => {});
    hanging.listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const { port } = hanging.address() as AddressInfo;
    const at = { baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key' };
    expect(await isSilent(at)).toBe(true);
    hanging.closeAllConnections();
    hanging.close();
    await once(hanging, 'close');
    expect(await isSilent(at)).toBe(false);
  });
});

describe('requests during shutdown', () => {
  it('are answered if they were in progress, and refused if they come later', async () => {
    const service = await here(freshFolder());
    const headers = { 'X-API-Key': service.apiKey, 'Content-Type': 'application/json' };
    // Its body arrives only after the service has begun to stop.
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const slow = fetch(`${service.baseUrl}/api/v1/secrets`, {
      method: 'POST',
      headers,
      body: body.readable,
      duplex: 'half',
    } as RequestInit);
    const writer = body.writable.getWriter();
    await writer.write(Buffer.from('{"name": "LATE", '));
    // The headers of another one are complete only when it is too late.
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET /api/v1/benchmarks HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    await eventually(async () => expect(await leasesOf(service)).toBe(0));
    // Requests under way have half a second, in which a busy machine may do nothing.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const stopped = service.stop();
    socket.write('\r\n');
    const [said] = (await once(socket, 'data')) as [Buffer];
    expect(String(said)).toMatch(/^HTTP\/1\.1 503 .*service-should-retry: true/is);
    await writer.write(Buffer.from('"value": "v"}'));
    await writer.close();
    expect((await slow).status).toBe(200);
    vi.advanceTimersByTime(500);
    await stopped;
    socket.destroy();
  });
});
