/** `npm run simulate`: bundles the simulator with the program and runs it; see `simulate/main.ts`. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = `${root}node_modules/.cache`;
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(`${cache}/simulate-`);
const file = `${folder}/main.mjs`;

const environment = process.argv.includes('--development') ? 'development' : 'production';
/** Bundle into one file, because loading modules takes real time. */
const bundled = await rolldown({
  cwd: root,
  input: `${root}tools/simulate/main.ts`,
  platform: 'node',
  transform: { define: { 'process.env.NODE_ENV': JSON.stringify(environment) }, target: 'node22' },
  moduleTypes: { '.txt': 'text' },
  onLog: (level, log, report) => level !== 'warn' && report(level, log),
});
await bundled.write({ file, format: 'esm', codeSplitting: false, sourcemap: true });
await bundled.close();
const words = ['--enable-source-maps', file, ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
