/**
 * `npm run screens`: renders every view of the built program at every size, as text and as a picture, for people to
 * look at. Writes to the folder `screens`, or the given one. `npm run screens -- --readme` renders README's picture
 * instead; `-- --smoke` one view at one size, into a temporary folder.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type PopulatedHome, populatedHome } from '../test/e2e/populated.ts';
import { openSession } from '../test/e2e/session.ts';
import { svgOf } from '../test/e2e/svg.ts';
import { goWay, sizes, viewSessions } from '../test/e2e/views.ts';
import './built.ts';

/** Renders every view at every size, or these. Returns the number of screens. */
async function everyView(
  home: PopulatedHome,
  folder: string,
  {
    at = sizes,
    views = viewSessions,
  }: { readonly at?: readonly (typeof sizes)[number][]; readonly views?: typeof viewSessions } = {},
): Promise<number> {
  mkdirSync(folder, { recursive: true });
  let written = 0;
  for (const [columns, rows] of at) {
    for (const { name, way, shows } of views) {
      const session = openSession(home.env, { columns, rows, args: ['open', 'benchmarks'] });
      await session.waitFor('▸ t-words');
      await goWay(session, way);
      for (const words of shows) await session.waitFor(words);
      const path = join(folder, `${name.replaceAll(' ', '-')}-${columns}x${rows}`);
      writeFileSync(`${path}.txt`, `${session.text()}\n`);
      writeFileSync(`${path}.svg`, svgOf(session.emulator));
      written += 1;
      session.signal('SIGTERM');
      await session.ended;
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
  await session.waitFor(/ETA(.|\n)* ended (.|\n)* ended /);
  // Without the welcome of a first start.
  await session.waitFor('<enter> open');
  writeFileSync(path, svgOf(session.emulator));
  session.signal('SIGTERM');
  await session.ended;
}

const [target = 'screens'] = process.argv.slice(2);
const home = await populatedHome(120_000);
try {
  if (target === '--readme') await readmePicture(home, resolve('docs/benchtop.svg'));
  else if (target === '--smoke') {
    const folder = mkdtempSync(join(tmpdir(), 'benchtop-screens-'));
    await everyView(home, folder, { at: sizes.slice(0, 1), views: viewSessions.slice(0, 2) });
    await readmePicture(home, join(folder, 'readme.svg'));
    rmSync(folder, { recursive: true });
  } else
    process.stdout.write(`${await everyView(home, resolve(target))} screens as text and SVG in ${resolve(target)}\n`);
} finally {
  await home.remove();
}
