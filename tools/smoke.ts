/**
 * `npm run smoke`: runs every part of bench, screens and mutants briefly, to check that the tools work.
 * Ignores goals and times. Shows the output of a tool that fails.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import './built.ts';

const tsx = fileURLToPath(new URL('../node_modules/tsx/dist/cli.mjs', import.meta.url));
const tools: readonly (readonly string[])[] = [
  ['tools/bench.ts', '--smoke'],
  [tsx, 'tools/screens.ts', '--smoke'],
  ['tools/mutants.ts', '--smoke'],
];
/** For a tool that hangs. A busy machine may take ten times as long as an idle one. */
const limitMs = 900_000;

async function fails(words: readonly string[]): Promise<boolean> {
  const name = words.find(word => word.startsWith('tools/'));
  const began = performance.now();
  const run = promisify(execFile)(process.execPath, [...words], { maxBuffer: 64 * 1024 * 1024, timeout: limitMs });
  const output = await run.then(
    () => undefined,
    (error: { stdout: string; stderr: string; message: string }) => `${error.message}\n${error.stdout}${error.stderr}`,
  );
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  process.stdout.write(`${output === undefined ? 'ok    ' : 'FAILED'}  ${name} in ${seconds} s\n${output ?? ''}`);
  return output !== undefined;
}

// The bench mostly waits; the others take turns beside it.
const [bench = [], ...others] = tools;
const first = fails(bench);
let failed = false;
for (const tool of others) failed = (await fails(tool)) || failed;
process.exitCode = (await first) || failed ? 1 : 0;
