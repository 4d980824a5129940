/**
 * `npm run screens`: every view of the built program at every size, as text and as a picture, for people to look at. They go
 * to the folder `screens`, or to the one that is named.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { populatedHome } from '../test/e2e/populated.ts';
import { openSession } from '../test/e2e/session.ts';
import { goWay, sizes, viewSessions } from '../test/e2e/views.ts';
import './build.ts';

const folder = resolve(process.argv[2] ?? 'screens');
mkdirSync(folder, { recursive: true });
const home = await populatedHome();
let written = 0;
try {
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
} finally {
  await home.remove();
}
process.stdout.write(`${written} screens as text and SVG in ${folder}\n`);
