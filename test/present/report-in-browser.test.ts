/** A report in a real browser: the Debian package `chromium`, or the program in CHROMIUM. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { type ReportBlock, reportHtml } from '../../src/present/report.ts';

const program = process.env['CHROMIUM'] ?? 'chromium';

const long = 'a_name_without_any_space_'.repeat(20);
const points = Array.from({ length: 20 }, (_, x) => ({ x, y: x / 20, low: x / 25, high: x / 15 }));
/** One pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const blocks: readonly ReportBlock[] = [
  { kind: 'title', text: `<script>alert(1)</script> ${long}` },
  { kind: 'heading', text: long },
  { kind: 'words', text: `pass@k  1 92.7%  2 99.4% <img src="http://127.0.0.1:9/x"> ${long}` },
  { kind: 'facts', facts: [{ label: 'options', value: `samples 1\n${long}` }] },
  { kind: 'table', titles: Array.from({ length: 20 }, (_, at) => `COLUMN ${at}`), rows: [[long, 1], [2]] },
  { kind: 'bars', bars: [{ label: '0.0..0.1', count: 3 }] },
  {
    kind: 'curves',
    curves: ['held-out reward, with 95% limits', 'trainer reward', long].map(name => ({ name, points })),
  },
  { kind: 'text', title: long, text: long.repeat(10) },
  { kind: 'images', title: 'images', images: [{ message: 2, base64: png }] },
];

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

/** The address at which the browser takes orders. */
async function addressOf(browser: ChildProcess): Promise<string> {
  if (!browser.stderr) throw new Error('no output');
  for await (const line of createInterface(browser.stderr)) {
    const [, address] = /^DevTools listening on (ws:\S+)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('The browser ended.');
}

/** Opens a page in a new browser. Returns its debugger. */
async function pageIn(folder: string) {
  const options = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', '--no-first-run'];
  const browser = spawn(program, [...options, `--user-data-dir=${join(folder, 'profile')}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(browser, 'exit');
  onTestFinished(async () => {
    browser.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const { host } = new URL(await addressOf(browser));
  const targets = (await (await fetch(`http://${host}/json/list`)).json()) as {
    type: string;
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open');
  const reported: Message[] = [];
  const waiting = new Map<number, (message: Message) => void>();
  const loaded = Promise.withResolvers<void>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id === undefined) reported.push(message);
    else waiting.get(message.id)?.(message);
    if (message.method === 'Page.loadEventFired') loaded.resolve();
  });
  let sent = 0;
  const order = async (method: string, params: object = {}): Promise<Message> => {
    sent += 1;
    const { promise, resolve } = Promise.withResolvers<Message>();
    waiting.set(sent, resolve);
    socket.send(JSON.stringify({ id: sent, method, params }));
    return promise;
  };
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result } = await order('Runtime.evaluate', { expression, returnByValue: true });
    return (result?.['result'] as { value?: unknown } | undefined)?.value;
  };
  return { order, evaluate, reported, loaded: loaded.promise };
}

it('loads nothing, logs nothing, fits a phone, and follows the reader’s colour scheme', async ({ skip }) => {
  if (spawnSync(program, ['--version']).status !== 0) skip(`no ${program} on this machine`);
  const folder = mkdtempSync(join(tmpdir(), 'report-browser-'));
  const file = join(folder, 'report.html');
  let text = '';
  const given = async function* () {
    yield* blocks;
  };
  for await (const part of reportHtml('report', given())) text += part;
  writeFileSync(file, text);
  const { href } = pathToFileURL(file);
  const { order, evaluate, reported, loaded } = await pageIn(folder);
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await order(`${domain}.enable`);
  await order('Emulation.setDeviceMetricsOverride', { width: 390, height: 800, deviceScaleFactor: 2, mobile: true });
  await order('Page.navigate', { url: href });
  await loaded;
  await evaluate(`document.querySelectorAll('details').forEach(each => (each.open = true))`);
  const widths = async () => evaluate('[innerWidth, document.documentElement.scrollWidth].join()');
  expect(await widths()).toBe('390,390');
  expect(await evaluate('document.images[0].naturalWidth')).toBe(1);
  const colours = async (scheme: string) => {
    await order('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    return evaluate(`['body', 'path[stroke="var(--one)"]'].map(name => {
      const { color, stroke } = getComputedStyle(document.querySelector(name));
      return name === 'body' ? color : stroke;
    }).join(' ')`);
  };
  expect(await colours('light')).toBe('rgb(0, 0, 0) rgb(37, 99, 235)');
  expect(await colours('dark')).toBe('rgb(255, 255, 255) rgb(122, 162, 247)');
  const requests = reported.filter(({ method }) => method === 'Network.requestWillBeSent');
  const addresses = requests.flatMap(({ params }) => {
    const { url } = (params?.['request'] ?? {}) as { readonly url?: string };
    return url?.startsWith('data:') ? [] : [url];
  });
  expect(addresses).toEqual([href]);
  const logged = ['Log.entryAdded', 'Runtime.consoleAPICalled', 'Runtime.exceptionThrown'];
  expect(reported.filter(({ method = '' }) => logged.includes(method))).toEqual([]);
});
