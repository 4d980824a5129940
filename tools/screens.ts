/**
 * `npm run screens`: renders every view of the built program at every size, as text and as a picture, for people to
 * look at; then Watch, the tree, the inbox and the grids of several runs on a busy service. Writes to the folder
 * `screens`, or the given one. `npm run screens -- --readme` renders README's picture instead; `-- --smoke` the busy
 * service at one size, into a temporary folder.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { serveAnswers } from '../test/answering.ts';
import { busyWorld } from '../test/busy-world.ts';
import { type PopulatedHome, populatedHome } from '../test/e2e/populated.ts';
import { freshHome, openSession, type Session } from '../test/e2e/session.ts';
import { svgOf } from '../test/e2e/svg.ts';
import { go, goWay, sizes, viewed, viewSessions } from '../test/e2e/views.ts';
import './built.ts';

/** Writes what is on screen as text and as a picture. */
function writeScreen(session: Session, path: string): void {
  writeFileSync(`${path}.txt`, `${session.text()}\n`);
  writeFileSync(`${path}.svg`, svgOf(session.emulator));
}

/** The answers of the busy service, where one benchmark has eight evaluations that differ. */
function busyAnswers() {
  const busy = busyWorld();
  const evals = Array.from({ length: 8 }, (_, index) => ({
    ...{ eval_run_id: `evr_many_${index}`, bench_id: 'bench_1', status: 'completed' },
    display_name: `kernel-cuda-optimise-1_tutor-base-large-context-window-32k_temperature_seed${index}`,
    ...{ reward_mean: 0.3 + index / 20, reward_count: 30, total_rollouts: 30 },
    created_at: `2026-01-0${8 - index}T00:00:00Z`,
  }));
  const answers: typeof busy.answers = {
    ...busy.answers,
    listEvalRuns: ({ bench_id }) => (bench_id === 'bench_1' ? evals : []),
    getEvalRun: ({ eval_run_id }) => evals.find(run => run.eval_run_id === eval_run_id),
    getEvalProgress: () => ({ status: 'completed', total_rollouts: 30, terminal_rollouts: 30 }),
    getTrajectoryRewards: ({ eval_run_id = '' }) => ({
      trajectory_rewards: Array.from({ length: 30 }, (_, task) => ({
        ...{ task_id: `task-${task}`, trajectory_id: `traj_${eval_run_id}_${task}` },
        reward: 0.25 + Number(eval_run_id.slice(-1)) / 20 + (task % 5) / 50,
      })),
    }),
  };
  return { ...busy, answers };
}

/** Renders those of the busy service at these sizes, the inbox after an absence. Returns the number of screens. */
async function busyViews(folder: string, at: readonly (typeof sizes)[number][] = sizes): Promise<number> {
  mkdirSync(folder, { recursive: true });
  let written = 0;
  for (const [columns, rows] of at) {
    const { answers, runs, end } = busyAnswers();
    using server = await serveAnswers(answers);
    const home = freshHome();
    const env = { ...home.env, BENCHTOP_BASE_URL: server.baseUrl, BENCHTOP_API_KEY: 'key' };
    const pathOf = (name: string): string => join(folder, `${name}-${columns}x${rows}`);
    const first = openSession(env, { columns, rows, args: ['open', 'runs'] });
    await first.waitFor('seed0');
    await goWay(first, ['space', 'space', 'space', 'space', 'space', '=']);
    await first.waitFor('Bonferroni');
    writeScreen(first, pathOf('busy-compare-many'));
    await goWay(first, [...go('watch'), { see: 'WATCHED' }, { see: /ETA|stalled/ }]);
    writeScreen(first, pathOf('busy-watch'));
    await goWay(first, [...go('tree'), { see: '▸ +' }, 'z', { see: '▸ -' }]);
    writeScreen(first, pathOf('busy-tree'));
    // The first four are queued.
    const mark = ['space', 'space', 'space', 'space'];
    await goWay(first, [...go('training'), 'j', 'j', 'j', 'j', ...mark, { see: '4 marked' }, 'i']);
    await goWay(first, [{ see: 'curves of' }, { see: 'held-out of' }, 'm', { gone: 'held-out of' }]);
    writeScreen(first, pathOf('busy-charts'));
    await first.end();
    for (const [index, run] of runs.slice(0, 9).entries()) end(run, index % 3 === 0 ? 'failed' : 'succeeded');
    const second = openSession(env, { columns, rows, args: ['open', 'inbox'] });
    await second.waitFor('1/9');
    writeScreen(second, pathOf('busy-inbox'));
    await second.end();
    written += 5;
    await home.remove();
  }
  return written;
}

/** Renders every view at every size. Returns the number of screens. */
async function everyView(home: PopulatedHome, folder: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  let written = 0;
  for (const [columns, rows] of sizes) {
    for (const { name, way, shows } of viewSessions) {
      const session = openSession(home.env, { columns, rows, args: ['open', 'benchmarks'] });
      await session.waitFor('▸ t-words');
      await goWay(session, way);
      for (const words of shows) await session.waitFor(words);
      writeScreen(session, join(folder, `${name.replaceAll(' ', '-')}-${columns}x${rows}`));
      written += 1;
      await session.end();
    }
  }
  return written;
}

/** Watch, on which a busy program opens: of a few training runs, one runs, one waits, and the others have ended. */
async function readmePicture(home: PopulatedHome, path: string): Promise<void> {
  const train = (name: string, options: object) =>
    home.call('POST', 'train', {
      bench_id: home.benchId,
      base_model_slug: 'benchtop/tutor-base',
      display_name: name,
      options: { num_steps: 24, held_out_every: 2, ...options },
    });
  await train('t-words lr 0.003', { learning_rate: 0.003 });
  const { training_run_id: second } = await train('t-words lr 0.03', { learning_rate: 0.03 });
  await train('t-words lr 0.01, long', { num_steps: 400 });
  await train('t-words lr 0.01, seed 2', { seed: 2 });
  const session = openSession(home.env, { columns: 120, rows: 18 });
  await session.waitFor(/ETA/);
  await home.until(`train/${second}`, ({ status }) => status === 'succeeded');
  await session.waitFor(/long +[\d.]+ .*ETA(.|\n)* ✓ (.|\n)* ✓ /);
  // Without the welcome of a first start.
  await session.waitFor('<enter> open');
  writeFileSync(path, svgOf(session.emulator));
  await session.end();
}

const [target = 'screens'] = process.argv.slice(2);
if (target === '--smoke') {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-screens-'));
  await busyViews(folder, sizes.slice(1, 2));
  rmSync(folder, { recursive: true });
} else {
  const home = await populatedHome(viewed);
  try {
    if (target === '--readme') await readmePicture(home, resolve('docs/benchtop.svg'));
    else {
      const folder = resolve(target);
      const written = (await everyView(home, folder)) + (await busyViews(folder));
      process.stdout.write(`${written} screens as text and SVG in ${folder}\n`);
    }
  } finally {
    await home.remove();
  }
}
