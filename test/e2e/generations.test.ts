/**
 * The built program with a stand-in for each generation of the service. Every view, action and command on both is tried
 * in process: test/generations.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { type StandIn, standIn } from '../generations/stand-in.ts';
import { apiKey } from '../service/hostile-server.ts';
import { smallFolder } from '../uploads/small-folder.ts';
import { freshHome, openSession, programLine, prompt } from './session.ts';
import { go, goWay, type Step } from './views.ts';

let home: ReturnType<typeof freshHome>;
beforeEach(() => {
  home = freshHome();
});
afterEach(() => home.remove());

const size = { columns: 140, rows: 40 };

async function worldOf(generation: 'document' | 'newest') {
  const service = await standIn(generation);
  const agent = generation === 'newest' ? { BENCHTOP_AGENT: 'me' } : {};
  return { service, env: { ...home.env, ...agent, BENCHTOP_BASE_URL: service.url, BENCHTOP_API_KEY: apiKey } };
}

interface ScreenAction {
  readonly way: readonly Step[];
  /** The request that it sends. */
  readonly sends: RegExp;
}

/** Each action, from the list of its resource to its request. */
function actions({ bench, run, oldRun, training, trajectory, test, production }: StandIn['ids'], folder: string) {
  const at = (resource: string, row: string): readonly Step[] => [...go(resource), { see: `▸ ${row}` }];
  // A window takes every key until it has its answer.
  const yes: readonly Step[] = [{ see: '<y>' }, 'y', { gone: '<y>' }, { gone: '<esc> stop' }];
  const send: readonly Step[] = ['enter', { see: '<?> help' }];
  const typed: readonly Step[] = [{ see: 'Type talker to' }, { type: 'talker' }, 'enter', { see: '<?> help' }];
  const form = (title: string): readonly Step[] => [{ see: title }, { see: 'next field' }];
  const all: readonly ScreenAction[] = [
    { way: [...at('benchmarks', 't-words'), 'b', ...yes], sends: new RegExp(`POST .*/${bench}/images/build`) },
    {
      way: [...at('benchmarks', 't-words'), 'e', ...form('Evaluate on t-words'), ...send],
      sends: /POST .*\/eval$/,
    },
    { way: [...at('benchmarks', 't-words'), 't', ...form('Train on t-words'), ...send], sends: /POST .*\/train$/ },
    { way: [...at('runs', 'baseline'), 'c', ...yes], sends: new RegExp(`POST .*/eval/${run}/cancel`) },
    {
      way: [...at('runs', 'baseline'), 'down', { see: '▸ before' }, 'd', ...yes],
      sends: new RegExp(`DELETE .*/eval/${oldRun}$`),
    },
    { way: [...at('training', 'first'), 'c', ...yes], sends: new RegExp(`POST .*/train/${training}/cancel`) },
    { way: [...at('training', 'first'), 'D', ...form('Deploy step'), ...send], sends: /POST .*\/deploy$/ },
    {
      way: [...at('training', 'first'), 'e', ...form('Checkpoint of first'), ...send],
      sends: /POST .*\/eval$/,
    },
    { way: [...at('training', 'first'), 't', ...form('From checkpoint of first'), ...send], sends: /POST .*\/train$/ },
    { way: [...at('deployments', 'talker'), 'u', ...typed], sends: new RegExp(`POST .*/${production}/unpromote`) },
    {
      way: [
        ...at('deployments', 'talker'),
        'down',
        { see: /▸ talker .*✓ deployed (?!.*yes)/ },
        'e',
        { see: /demoted\?/ },
        'enter',
        ...typed,
      ],
      sends: new RegExp(`POST .*/${test}/promote`),
    },
    { way: [...at('deployments', 'talker'), 'd', ...yes], sends: /DELETE .*\/deploy\/[^/]+$/ },
    {
      way: [...at('secrets', 'TOKEN'), 'n', ...form('Create a secret'), { type: 'KEY' }, 'tab', { type: 'v' }, ...send],
      sends: /POST .*\/secrets$/,
    },
    { way: [...at('secrets', 'TOKEN'), 'd', ...yes], sends: /DELETE .*\/secrets\/sec-1$/ },
    {
      way: [
        ...at('trajectories', 'task 1'),
        '+',
        ...form('Log a reward'),
        { type: 'quality' },
        'tab',
        { type: '0.5' },
        ...send,
      ],
      sends: new RegExp(`POST .*/${trajectory}/rewards$`),
    },
    {
      way: [...at('trajectories', 'task 1'), 'E', ...form('End the trajectory'), ...send],
      sends: new RegExp(`POST .*/${trajectory}/complete$`),
    },
    {
      way: [...at('datasets', 'recorded'), 'u', { see: 'Choose a trajectory file' }, { type: 'two' }, 'enter'],
      sends: /GET .*\/datasets/,
    },
    { way: [{ see: 'Into the dataset' }, 'enter', { see: 'everything was sent' }], sends: /POST .*\/upload$/ },
    {
      way: [
        ...at('benchmarks', 't-words'),
        'u',
        { see: 'older' },
        { type: folder },
        'enter',
        { see: 'ctrl-o reads this folder' },
        'ctrl-o',
        { see: 'not sent yet' },
      ],
      sends: /GET .*\/benchmarks/,
    },
    { way: ['enter', { see: /uploaded.*enter opens it/ }], sends: /POST .*\/b-new\/ingest/ },
    {
      way: [
        ...at('deployments', 'talker'),
        't',
        { see: '<enter> send' },
        { type: 'hello' },
        'enter',
        { see: 'hi there' },
        { see: '<enter> send' },
        'esc',
        { see: '<?> help' },
      ],
      sends: /POST .*\/chat\/completions$/,
    },
    {
      way: [...go('chat'), { see: 'acme/small' }, { type: 'hello' }, 'enter', { see: 'hi there' }],
      sends: /POST \/v1\/chat/,
    },
  ];
  return all;
}

/** Commands of each kind, with the code that they end with; the others are in test/generations/commands.test.ts. */
function commands(
  { oldRun, test, gone }: StandIn['ids'],
  folder: string,
): readonly (readonly [line: string, code: number])[] {
  return [
    ['list benchmarks', 0],
    [`get run ${oldRun}`, 0],
    [`watch ${gone}`, 1],
    ['evaluate t-words --model acme/small --name again', 0],
    [`promote ${test} --yes`, 0],
    ['secret set NAME < value', 0],
    ['chat acme/small hello', 0],
    // Some of the requests are refused.
    ['upload two.jsonl --dataset d', 1],
    [`upload ${folder}`, 0],
    ['doctor', 0],
  ];
}

describe.each(['document', 'newest'] as const)('on a service of generation %s', generation => {
  const isNewest = generation === 'newest';

  it('evaluates a benchmark, and names the generation in the connect window', async () => {
    const { service, env } = await worldOf(generation);
    const session = openSession(env, size);
    // Watch opens by itself as soon as the running work is known.
    await goWay(session, [{ see: '<?> help' }, ...go('benchmarks'), { see: '1 row could not be read' }, 'enter']);
    await session.waitFor(isNewest ? '1 of 3 images ready, 1 failed' : '1 of 2 images ready, 1 failed');
    session.press('e');
    await session.waitFor('Run name');
    // Each field with its default; the last one sends it.
    session.press('enter', 'enter', 'enter');
    await session.waitFor(/0\.500 over 6 rewards/);
    const started = service.requests.filter(({ method, url }) => method === 'POST' && url.startsWith('/api/v1/eval'));
    expect(started.map(({ url }) => url)).toEqual([isNewest ? '/api/v1/eval' : '/api/v1/eval/bench_1/start']);
    expect(service.refused).toEqual([]);
    session.press('ctrl-k');
    await session.waitFor(`API generation: ${generation}`);
    session.press('esc');
    await session.gone(`API generation: ${generation}`);
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
  });
});

it('sends every action to the newest generation', async () => {
  const { service, env } = await worldOf('newest');
  writeFileSync(join(home.home, 'two.jsonl'), '{"messages": [{"role": "user", "content": "hello"}]}\n'.repeat(2));
  const session = openSession(env, { ...size, cwd: home.home });
  await session.waitFor('<?> help');
  for (const { way, sends } of actions(service.ids, smallFolder())) {
    const before = service.requests.length;
    await goWay(session, way);
    const sent = () => service.requests.slice(before).map(({ method, url }) => `${method} ${url.replace(/\?.*/, '')}`);
    await eventually(() => expect(sent()).toContainEqual(expect.stringMatching(sends)));
  }
  expect(service.refused).toEqual([]);
  session.signal('SIGTERM');
  await session.ended;
});

it('runs commands in a terminal on the generation of the document', async () => {
  const { service, env } = await worldOf('document');
  writeFileSync(join(home.home, 'two.jsonl'), '{"messages": [{"role": "user", "content": "hello"}]}\n'.repeat(2));
  writeFileSync(join(home.home, 'value'), 'secret');
  const all = commands(service.ids, smallFolder());
  const script = all.map(([line]) => `${programLine} ${line} 2>&1\necho "$? ${line}" >> ended`);
  writeFileSync(join(home.home, 'all.sh'), script.join('\n'));
  const session = openSession(env, { ...size, cwd: home.home, inShell: true });
  await session.waitFor(prompt);
  session.type('sh all.sh\r');
  const ended = await eventually(() => {
    const lines = readFileSync(join(home.home, 'ended'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(all.length);
    return lines;
  });
  expect(ended).toEqual(all.map(([line, code]) => `${code} ${line}`));
  expect(service.refused).toEqual([]);
  session.type('exit\r');
  await session.ended;
});
