/**
 * `npm run bench` measures the screen of the built program; `-- patches` what each file of `patches/` saves; `--
 * training` what training learns, and how fast; `-- service` the local service with many clients. Each prints a table;
 * those with goals fail if one is missed.
 */
import './build.ts';

const [what = 'screen', ...rest] = process.argv.slice(2);
if (what === 'screen') process.exitCode = await (await import('./bench/screen.ts')).benchScreen(rest);
else if (what === 'patches') await (await import('./bench/patches.ts')).benchPatches(rest);
else if (what === 'training') process.exitCode = await (await import('./bench/training.ts')).benchTraining(rest);
else if (what === 'service') process.exitCode = await (await import('./bench/service.ts')).benchService(rest);
else {
  process.stderr.write(`There is no bench ${what}; there are screen, patches, training and service.\n`);
  process.exitCode = 2;
}
