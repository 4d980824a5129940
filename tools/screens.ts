/**
 * `npm run screens`: renders every view of the built program at every size, as text and as a picture, for people to
 * look at. Writes to the folder `screens`, or the given one. `npm run screens -- --readme` renders README's picture
 * instead.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type PopulatedHome, populatedHome } from '../test/e2e/populated.ts';
import { openSession } from '../test/e2e/session.ts';
import { go, goWay, sizes, viewSessions } from '../test/e2e/views.ts';
import './build.ts';

/** Every view at every size. Returns how many there are. */
async function everyView(home: PopulatedHome, folder: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  let written = 0;
  for (const [columns, rows] of sizes) {
    for (const { name, way, shows } of viewSessions) {
      const session = openSession(home.env, { columns, rows });
      await session.waitFor('▸ t-words');
      await goWay(session, way);
      for (const words of shows) await session.waitFor(words);
      const path = join(folder, `${name.replaceAll(' ', '-')}-${columns}x${rows}`);
      writeFileSync(`${path}.txt`, `${session.text()}\n`);
      writeFileSync(`${path}.svg`, session.svg());
      written += 1;
      session.signal('SIGTERM');
      await session.ended;
    }
  }
  return written;
}

/** A training run that has just ended. */
async function readmePicture(home: PopulatedHome, path: string): Promise<void> {
  const { training_run_id: id } = await home.call('POST', 'train', {
    bench_id: home.benchId,
    base_model_slug: 'benchtop/tutor-base',
    display_name: 'more words with t',
    options: { num_steps: 24, held_out_every: 2 },
  });
  await home.until(`train/${id}`, ({ status }) => status === 'succeeded');
  const session = openSession(home.env, { columns: 110, rows: 30 });
  await session.waitFor('▸ t-words');
  await goWay(session, [...go('training'), { see: '▸ more words' }, 'enter', { see: 'held-out' }, { see: 'ckpt_' }]);
  await session.waitFor('final');
  // Without the welcome of a first start.
  await session.waitFor('<enter> open');
  writeFileSync(path, session.svg());
  session.signal('SIGTERM');
  await session.ended;
}

const [target = 'screens'] = process.argv.slice(2);
const home = await populatedHome(120_000);
try {
  if (target === '--readme') await readmePicture(home, resolve('docs/benchtop.svg'));
  else
    process.stdout.write(`${await everyView(home, resolve(target))} screens as text and SVG in ${resolve(target)}\n`);
} finally {
  await home.remove();
}
