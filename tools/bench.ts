/**
 * `npm run bench`: the screen of the built program. `npm run bench -- training`: what training learns, and how fast.
 * `npm run bench -- service`: the local service with many clients. Each prints a table, and fails where a goal is missed.
 */
import './build.ts';

const [what = 'screen', ...rest] = process.argv.slice(2);
if (what === 'screen') await import('./bench/screen.ts');
else if (what === 'training') process.exitCode = await (await import('./bench/training.ts')).benchTraining(rest);
else if (what === 'service') process.exitCode = await (await import('./bench/service.ts')).benchService(rest);
else {
  process.stderr.write(`There is no bench ${what}; there are screen, training and service.\n`);
  process.exitCode = 2;
}
