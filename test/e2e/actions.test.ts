/** Every action of the built program, as a user does it: press, look, press; then the service is checked. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type PopulatedHome, populatedHome } from './populated.ts';
import { openSession, type Session } from './session.ts';
import { go, goWay, type Step } from './views.ts';

/** The smallest: an action that works here works at any size. */
const [columns, rows] = [60, 15];

let home: PopulatedHome;
let session: Session;
beforeAll(async () => {
  home = await populatedHome();
});
afterAll(() => home.remove());
afterEach(async () => {
  session.signal('SIGTERM');
  await session.ended;
  for (const name of ['BENCHTOP_BASE_URL', 'PAGER']) delete home.env[name];
});

/** Opens the program in the user's folder and navigates to a place. */
async function open(way: readonly Step[] = [], args: readonly string[] = []): Promise<void> {
  // A run that an earlier test has started would make Watch the home.
  const place = ['open', 'benchmarks', ...args];
  session = openSession(home.env, { columns, rows, cwd: join(home.home, 'work'), args: place });
  await session.waitFor('▸ t-words');
  await goWay(session, way);
}

const runs = async () =>
  (await home.call('GET', `eval/${home.benchId}/runs`)) as {
    eval_run_id: string;
    display_name: string;
    status: string;
  }[];
const benchmarks = async () =>
  (await home.call('GET', 'benchmarks?limit=200')).items as { bench_id: string; label: string }[];

describe('on a benchmark', () => {
  it('evaluates: picks a model, names the run, reviews the request, starts it', async () => {
    await open([
      'enter',
      { see: 'ready to launch' },
      'e',
      { see: '▸ Model' },
      // The model of the last run is chosen.
      { see: 'benchtop/tutor-base' },
      'left',
      'tab',
      'ctrl-p',
    ]);
    await session.waitFor('POST /api/v1/eval/');
    await session.waitFor('"model_slug": "benchtop/wonderland-small"');
    await goWay(session, ['enter', { see: '28 of 28' }]);
    expect((await runs()).length).toBe(2);
  });

  it('trains: sees a form error while typing, then watches the run live', async () => {
    await open([
      't',
      { see: 'Train on t-words' },
      { see: 'num_steps' },
      'tab',
      'tab',
      { type: '0' },
      { see: 'From 1 to 2000' },
    ]);
    await goWay(session, [
      'backspace',
      { type: '8' },
      'tab',
      { type: '4' },
      'tab',
      { type: '4' },
      'enter',
      { see: 'of 8' },
    ]);
    await session.waitFor('succeeded');
    await session.waitFor('held-out');
    const all = (await home.call('GET', `train/${home.benchId}/runs`)) as { options: object }[];
    expect(all[0]?.options).toMatchObject({ num_steps: 8, train_batch_size: 4, samples_per_instance: 4 });
  });

  it('sees why one cannot be started, and fixes it', async () => {
    await open([
      { type: '/what' },
      'enter',
      'enter',
      { see: 'QUIZ_API_KEY is missing' },
      'n',
      { see: 'Secret QUIZ_API_KEY' },
    ]);
    await goWay(session, [{ type: 'very secret' }]);
    expect(session.text()).not.toContain('very secret');
    await goWay(session, ['enter', { see: 'ready to launch' }]);
    const { items } = await home.call('GET', 'secrets?search=QUIZ');
    expect(items).toHaveLength(1);
  });
});

describe('on runs', () => {
  it('deletes marked runs after one question that names them', async () => {
    for (const name of ['doomed one', 'doomed two']) {
      await home.call('POST', `eval/${home.benchId}/start`, {
        display_name: name,
        model_slug: 'benchtop/tutor-base',
      });
    }
    await open([
      ...go('runs'),
      { see: 'doomed one' },
      { type: '/doomed' },
      'enter',
      'space',
      'space',
      { see: '2 marked' },
      'd',
    ]);
    await session.waitFor('Delete 2 runs?');
    expect(session.text()).toContain('doomed one');
    await goWay(session, ['esc', { gone: 'Delete 2 runs?' }]);
    expect((await runs()).filter(({ display_name }) => display_name.startsWith('doomed'))).toHaveLength(2);
    await goWay(session, ['d', { see: 'Delete 2 runs?' }, 'y', { see: 'Deleted doomed' }]);
    expect((await runs()).filter(({ display_name }) => display_name.startsWith('doomed'))).toHaveLength(0);
  });

  it('compares two of them, task by task', async () => {
    const { eval_run_id } = await home.call('POST', `eval/${home.benchId}/start`, {
      display_name: 'rival',
      model_slug: 'benchtop/aesop-small',
    });
    await home.until(`eval/${eval_run_id}`, ({ status }) => status === 'completed');
    await open([...go('runs'), { see: 'rival' }, { type: '/rival' }, 'enter', { see: '▸ rival' }, '=']);
    await goWay(session, [{ see: 'Compare with' }, { see: 'baseline' }]);
    await goWay(session, ['enter', { see: '95% CI' }, { see: /same on \d+/ }, { see: '▸ t-words-' }]);
    await home.call('DELETE', `eval/${home.benchId}/runs/${eval_run_id}`);
  });

  it('pins one to Watch, which lists it from then on', async () => {
    await open([
      ...go('runs'),
      { see: 'baseline' },
      { type: '/baseline' },
      'enter',
      'p',
      { see: 'Pinned to Watch' },
      ...go('watch'),
    ]);
    await session.waitFor(/▸ ★ \S*aseline .*✓ (ended|completed)/);
    session.signal('SIGTERM');
    await session.ended;
    await open([...go('watch'), { see: /▸ ★ \S*aseline .*✓/ }, 'p', { see: 'No longer pinned' }]);
  });

  it('exports the list, and prints the path', async () => {
    await open([
      ...go('runs'),
      { see: 'baseline' },
      'x',
      { see: 'Export as' },
      'down',
      'down',
      'enter',
      { see: 'Save as' },
      'enter',
      { see: 'Saved ' },
    ]);
    const [file] = readdirSync(join(home.home, 'work')).filter(name => name.endsWith('.csv'));
    expect(readFileSync(join(home.home, 'work', file ?? ''), 'utf8')).toMatch(/^run,status,mean/);
  });

  it('opens one in the pager, which takes over the terminal, and returns', async () => {
    // It stays until a line is typed, as a pager does: one that ends immediately may be gone before anyone looks.
    home.env['PAGER'] = 'page() { head -3 "$1"; echo that is all; read -r line; }; page';
    await open([...go('runs'), { see: /▸ t-words/ }, 'o']);
    await session.waitFor('that is all');
    expect(session.leftOn()).toEqual([]);
    expect(session.text()).not.toContain('▸');
    await goWay(session, ['enter', { see: /▸ t-words/ }]);
    expect(session.leftOn()).toContain('alternate screen');
  });

  it('chooses columns, which survive a restart', async () => {
    await open([...go('runs'), { see: 'STATUS' }, 'C', { see: 'Columns' }, 'down', 'space', 'esc']);
    await session.waitFor(/RUN {2,}MEAN/);
    session.signal('SIGTERM');
    await session.ended;
    await open([...go('runs'), { see: 'MEAN' }]);
    expect(session.text()).not.toContain('STATUS');
    await goWay(session, ['C', { see: 'Columns' }, '0', 'esc', { gone: 'Columns' }, { see: 'STATUS' }]);
  });
});

describe('on training runs', () => {
  it('cancels a running one', async () => {
    const options = { num_steps: 2000, train_batch_size: 2, samples_per_instance: 2 };
    const { training_run_id } = await home.call('POST', 'train', {
      bench_id: home.benchId,
      base_model_slug: 'benchtop/tutor-base',
      display_name: 'endless',
      options,
    });
    await open([
      ...go('training'),
      { see: '▸ endless' },
      { see: 'running' },
      'c',
      { see: 'Cancel this training run?' },
      'y',
    ]);
    await session.waitFor('cancelled');
    expect((await home.call('GET', `train/${training_run_id}`)).status).toBe('cancelled');
  });

  it('deletes a completed one', async () => {
    // A remembered row may still show it as running.
    await open([...go('training'), { see: /endless +‖/ }, { type: '/endless' }, 'enter', { see: '▸ endless' }, 'd']);
    await goWay(session, [{ see: 'all curves, rollouts and checkpoints' }, 'y', { see: 'Deleted endless' }]);
    const all = (await home.call('GET', `train/${home.benchId}/runs`)) as { display_name: string }[];
    expect(all.map(({ display_name }) => display_name)).not.toContain('endless');
  });

  it('reads the curves with the crosshair', async () => {
    await open([
      ...go('training'),
      { type: '/first' },
      'enter',
      { see: '▸ first training' },
      'enter',
      { see: 'trainer' },
      '.',
    ]);
    await session.waitFor(/at \d/);
    await goWay(session, ['0', { see: /│ [\u2800-\u28ff]\S* .*held-out/ }]);
  });

  it('evaluates its last checkpoint', async () => {
    await open([
      ...go('training'),
      { type: '/first' },
      'enter',
      { see: '▸ first training' },
      'e',
      { see: 'Checkpoint of first training' },
    ]);
    await goWay(session, [{ see: 'held-out' }, 'enter', { see: '28 of 28' }]);
    const [run] = (await home.call('GET', `eval/${home.benchId}/runs`)) as { parent_checkpoint_id: string }[];
    expect(run?.parent_checkpoint_id).toBe(home.checkpointId);
  });

  it('deploys its last checkpoint and chats with it', async () => {
    await open([
      ...go('training'),
      { type: '/first' },
      'enter',
      { see: '▸ first training' },
      'D',
      { see: 'Deploy step' },
    ]);
    await goWay(session, ['enter', { see: '✓ deployed' }, 't', { see: '<enter> send' }]);
    await goWay(session, [{ type: 'tell me about tea' }, 'enter', { see: 'output tokens' }]);
  });
});

describe('on deployments', () => {
  const chatWorker: readonly Step[] = [...go('deployments'), { type: '/talker' }, 'enter', { see: '▸ talker' }];
  const typed = (slug: string): readonly Step[] => [{ see: `Type ${slug} to` }, { type: slug }, 'enter'];
  const active = async () => (await home.call('GET', `deploy/${home.deploymentId}`)).is_active as boolean;

  it('demotes one and promotes it again', async () => {
    await open([
      ...chatWorker,
      'u',
      { see: 'Stop this deployment from answering?' },
      ...typed('talker'),
      { see: 'no longer answers' },
    ]);
    expect(await active()).toBe(false);
    await goWay(session, [{ gone: 'yes' }, 'e']);
    await session.waitFor(/should be demoted\?|serve its slug\?/);
    // If an earlier test has run, another deployment answers: the service decides.
    if (session.text().includes('should be demoted?')) session.press('enter');
    await goWay(session, [{ see: 'serve its slug?' }, ...typed('talker'), { see: 'serves its slug' }]);
    expect(await active()).toBe(true);
  });

  it('undeploys one, after asking for its name', async () => {
    await open([...chatWorker, 'd', { see: 'Type talker to' }, { type: 'y' }, 'enter', { see: '✗ Type talker' }]);
    await goWay(session, ['esc', { gone: 'Undeploy?' }]);
    expect((await home.call('GET', `deploy/${home.deploymentId}`)).deployment_id).toBe(home.deploymentId);
    await goWay(session, ['d', { see: 'Undeploy?' }, ...typed('talker'), { see: 'Undeployed talker' }]);
    expect((await home.call('GET', `deploy/${home.deploymentId}`)).error.code).toBe('resource_not_found');
  });
});

describe('on trajectories', () => {
  it('uploads a file of them: an outcome for each, and the failed ones in a file', async () => {
    await open([
      ...go('datasets'),
      { see: 'uploaded' },
      'u',
      { see: 'Choose a trajectory file' },
      { type: 'three' },
      'enter',
    ]);
    await goWay(session, [
      { see: 'Into the dataset' },
      'enter',
      { see: '2 stored' },
      { see: '1 failed' },
      'w',
      { see: 'Save the failed ones' },
      'enter',
      { see: 'Saved ' },
    ]);
    const saved = readdirSync(join(home.home, 'work')).find(name => name.includes('.failed-')) ?? '';
    expect(readFileSync(join(home.home, 'work', saved), 'utf8')).toBe('{"broken": true}\n');
    const { items } = await home.call('GET', 'trajectories?dataset_name=three');
    expect(items).toHaveLength(2);
  });

  it('logs a reward to an open one, and then completes it', async () => {
    const way: readonly Step[] = [...go('trajectories'), { type: '/open-task' }, 'enter', 'G', { see: '▸ open-task' }];
    await open([
      ...way,
      '+',
      { see: 'Log a reward' },
      { type: 'quality' },
      'tab',
      { type: '0.5' },
      'enter',
      { see: 'Reward logged' },
    ]);
    expect((await home.call('GET', `trajectories/${home.openTrajectory}`)).reward).toBe(0.5);
    await goWay(session, ['E', { see: 'End the trajectory' }, 'enter', { see: 'The trajectory has ended' }]);
    expect((await home.call('GET', `trajectories/${home.openTrajectory}`)).status).toBe('completed');
  });
});

describe('on conversations', () => {
  it('saves one as a trajectory, and continues it after a restart', async () => {
    const model = 'benchtop/aesop-small';
    await open([...go('chat'), { see: `No messages with ${model}` }, { type: 'tell of the town' }, 'enter']);
    await goWay(session, [{ see: 'output tokens' }, 'esc', { see: '<i> write' }, 'S', { see: 'as a trajectory' }]);
    await goWay(session, ['ctrl-u', { type: 'talks' }, 'ctrl-p', { see: 'POST /api/v1/traj' }, 'ctrl-p', 'enter']);
    await session.waitFor('Saved in the dataset talks');
    const { items } = await home.call('GET', 'trajectories?dataset_name=talks');
    expect(items).toHaveLength(1);
    session.signal('SIGTERM');
    await session.ended;
    await open([
      ...go('chat'),
      { see: 'No messages with' },
      'esc',
      { see: '<i> write' },
      'H',
      { see: 'Earlier conversations' },
    ]);
    await goWay(session, [{ see: 'tell of the town' }, 'enter', { gone: 'Earlier' }]);
    // A long answer leaves no room for the question.
    session.resize(columns, 30);
    await session.waitFor('tell of the town');
  });

  it('deletes one, here and on disk', async () => {
    await open([...go('chat'), { see: 'No messages with' }, { type: 'speak of tides' }, 'enter']);
    await goWay(session, [{ see: 'output tokens' }, 'esc', { see: '<i> write' }, 'X', { see: 'Forget “speak of' }]);
    await goWay(session, ['down', 'enter', { see: 'No messages with' }, 'H', { see: 'Earlier' }]);
    expect(session.text()).not.toContain('speak of tides');
  });
});

it('asks two models the same question, side by side', async () => {
  await open([...go('chat'), { see: 'No messages with benchtop/aesop-small' }, 'ctrl-o']);
  await goWay(session, [{ see: 'Which model should answer?' }, 'tab', 'tab', 'right', 'enter']);
  await session.waitFor('No messages with');
  await goWay(session, [{ type: 'tell of the town' }, 'enter']);
  // One at a time at 60 columns.
  await session.waitFor('output tokens');
  await goWay(session, [
    // The other model may still answer, and `esc` would stop it: only the keys say that both have.
    { see: '<esc> read' },
    'esc',
    { gone: '<esc> read' },
    { see: '1 of 2, v for the other' },
    'v',
    { see: '2 of 2, v for the other' },
    'N',
    { see: 'No messages' },
  ]);
});

describe('on secrets', () => {
  it('creates one, never shows its value, and revokes it', async () => {
    await open([
      ...go('secrets'),
      { see: 'EXISTING' },
      'n',
      { see: 'Create a secret' },
      { type: 'NEW_ONE' },
      'tab',
      { type: 'hush hush' },
      'ctrl-p',
    ]);
    await session.waitFor('POST /api/v1/secrets');
    expect(session.text()).not.toContain('hush');
    await goWay(session, [
      'enter',
      { see: '▸ NEW_ONE' },
      'd',
      { see: 'Revoke this secret?' },
      'y',
      { see: 'Revoked NEW_ONE' },
    ]);
    const { items } = await home.call('GET', 'secrets');
    expect(items.map(({ name }: { name: string }) => name)).not.toContain('NEW_ONE');
  });
});

describe('in the program', () => {
  it('opens anything by its id, pasted into the palette', async () => {
    await open([
      { type: ':' },
      { type: home.trainingId },
      { see: `open ${home.trainingId}` },
      'enter',
      { see: 'step 6 of 6' },
    ]);
  });

  it('saves nothing for a service that does not answer, and names the wrong setting', async () => {
    const settings = join(home.home, '.config', 'benchtop', 'config.json');
    await open([
      'ctrl-k',
      { see: 'Connect to a service' },
      { type: 'lab' },
      'tab',
      { type: 'http://127.0.0.1:9' },
      'tab',
      'right',
      'right',
      'right',
      'tab',
      { type: 'sk-wrong' },
      'enter',
    ]);
    // The form is usable again once the request has been answered or has failed.
    await session.waitFor('refuses connections');
    expect(existsSync(settings)).toBe(false);
    session.signal('SIGTERM');
    await session.ended;
    expect(existsSync(settings)).toBe(false);
    home.env['BENCHTOP_BASE_URL'] = 'http://127.0.0.1:9';
    session = openSession(home.env, { columns, rows });
    await session.waitFor('BENCHTOP_BASE_URL.');
    await session.waitFor('ctrl-k to change them');
  });

  it('changes nothing if the test of a service is cancelled, or the program is killed meanwhile', async () => {
    const settings = join(home.home, '.config', 'benchtop', 'config.json');
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await open(['ctrl-k', { see: 'Connect to a service' }, { see: 'The new profile is saved' }, { type: 'lab' }]);
    await goWay(session, ['tab', { type: `http://127.0.0.1:${port}` }, 'tab', 'right', 'right', 'right', 'tab']);
    await goWay(session, [{ type: 'sk-lab' }, 'enter', { see: 'Testing the service' }, 'esc']);
    await session.waitFor('Cancelled. Nothing was changed.');
    expect(existsSync(settings)).toBe(false);
    await goWay(session, ['enter', { see: 'Testing the service' }]);
    session.signal('SIGKILL');
    await session.ended;
    expect(existsSync(settings)).toBe(false);
    silent.closeAllConnections();
    silent.close();
  });

  it('adds another service, fixes a wrong key in the same window, and switches between the two', async () => {
    await open(['ctrl-k', { see: 'Connect to a service' }, { type: 'lab' }, 'tab', { type: home.baseUrl }]);
    await goWay(session, ['tab', 'right', 'right', 'right', 'tab', { type: 'sk-wrong' }, 'enter']);
    await session.waitFor(/key is unknown/i);
    await goWay(session, ['ctrl-u', { type: home.apiKey }, 'enter', { see: 'benchtop ── lab' }]);
    // A run that has ended unseen makes Watch the home.
    await goWay(session, [...go('benchmarks'), { see: '▸ t-words' }]);
    expect(session.text()).not.toContain(home.apiKey);
    const settings = join(home.home, '.config', 'benchtop', 'config.json');
    expect(JSON.parse(readFileSync(settings, 'utf8'))).toMatchObject({
      profiles: { lab: { baseUrl: home.baseUrl } },
    });
    expect(statSync(settings).mode & 0o077).toBe(0);
    await goWay(session, [...go('profile local'), { see: 'benchtop ── local' }]);
    await goWay(session, [...go('profile lab'), { see: 'benchtop ── lab' }]);
    rmSync(settings);
  });

  it('removes every write with --read-only', async () => {
    await open([{ see: 'read-only' }], ['--read-only']);
    session.press('e', 't', 'u');
    await goWay(session, ['?', { see: 'Help' }]);
    expect(session.text()).not.toContain('evaluate a model on it');
  });

  it('quits at once if nothing would be lost', async () => {
    await open(['q']);
    expect((await session.ended).exitCode).toBe(0);
  });
});

// Last, because uploads are listed first from then on.
describe('a benchmark', () => {
  it('is uploaded from a folder, with progress, and its images are built', async () => {
    await open([
      'u',
      { see: 'Choose a benchmark folder' },
      { see: 'bench/' },
      'enter',
      { see: 'ctrl-o reads this folder' },
      'ctrl-o',
    ]);
    await goWay(session, [
      { see: 'not sent yet' },
      { see: 'data/a.txt' },
      'ctrl-p',
      { see: 'benchmarks/uploads' },
      'esc',
      { gone: 'Upload requests' },
      'enter',
      { see: 'uploaded; enter opens it' },
      'enter',
    ]);
    await session.waitFor('2 of 2 images ready');
    await session.waitFor('MISSING_KEY is missing');
    expect((await benchmarks()).map(({ label }) => label)).toContain('from-a-folder');
  });

  it('has its images built if they are missing', async () => {
    const { bench_id, urls } = await home.call('POST', 'benchmarks/uploads', {
      files: [{ path: 'a.txt', content_type: 'text/plain', size_bytes: 5 }],
    });
    for (const { url, headers } of urls) await fetch(url, { method: 'PUT', headers, body: 'hello' });
    const input_messages = [{ role: 'user', content: 'say yes' }];
    const grader = { kind: 'exact', expected: 'yes' };
    await home.call('POST', `benchmarks/${bench_id}/ingest`, {
      name: 'unbuilt',
      tasks: [{ name: 'one', split: 'test', input_messages, run_command: 'x', grader, files: ['a.txt'] }],
    });
    const statuses = async (): Promise<string[]> =>
      (await home.call('GET', `benchmarks/${bench_id}/images`)).images.map(
        (image: { build_status: string }) => image.build_status,
      );
    const args = ['open', 'benchmarks'];
    session = openSession(home.env, { columns, rows, cwd: join(home.home, 'work'), args });
    await goWay(session, [{ see: 'unbuilt' }, { type: '/unbuilt' }, 'enter', 'enter', { see: '1 image pending' }]);
    expect(await statuses()).toEqual(['pending']);
    await goWay(session, ['b', { see: 'Build its images?' }, 'ctrl-p', { see: `/benchmarks/${bench_id}` }]);
    await goWay(session, ['y', { see: 'Building the images of unbuilt' }]);
    await home.until(`benchmarks/${bench_id}/images`, ({ images }) => images[0].build_status === 'ready');
    await session.waitFor('1 of 1 image ready');
  });
});
