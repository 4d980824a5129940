import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mutantsOf, sampleOf, withMutants } from '../tools/mutants/find.ts';

const changes = (text: string) => mutantsOf('x.ts', text).map(({ before, after }) => `${before} → ${after}`);

describe('the mutants of', () => {
  it.each([
    ['f(a < b);', ['f(a < b); → ', 'a < b → a <= b', 'a < b → a >= b']],
    ['const x = a && !b;', ['a && !b → (a) || (!b)', '!b → b']],
    ['const x = [true, `t`];', ['[true, `t`] → []', 'true → false', "`t` → ''"]],
    ["const x = { 'k': '' };", ["{ 'k': '' } → {}", "'' → 'mutant'"]],
    ['const x = a?.b.c;', ['a?.b.c → a.b.c']],
    ["const f = (a: 'x' | 'y') => a + 'x';", ["a + 'x' → undefined", "'x' → ''"]],
    ['while (a) b();', ['a → false', 'b(); → ']],
    ["import { a } from 'a'; type T = 'a';", []],
  ])('%s', (text, expected) => {
    expect(changes(text)).toEqual(expected);
  });
});

it('are sampled the same in parts as at once', () => {
  const mutants = [...'abcdefghijklmnopqrstuvwxyz'];
  const part = (from: number, count: number) => sampleOf(mutants, { seed: 40, from, count });
  const whole = part(0, 20);
  expect(new Set(whole.map(({ mutant }) => mutant)).size).toBe(20);
  expect(whole.map(({ id }) => id)).toEqual([...Array(20).keys()]);
  expect([...part(0, 8), ...part(8, 15), ...part(15, 20)]).toEqual(whole);
});

it('are enabled one at a time, even one inside another', () => {
  const text = 'log.push(a < b && a + b > 0 ? "yes" : "no");';
  const mutants = mutantsOf('x.ts', text).map((mutant, id) => ({ id, mutant }));
  const code = withMutants(text, mutants);
  const outcome = (active?: number): string[] => {
    const log: string[] = [];
    const run = new Function('globalThis', 'log', 'a', 'b', code);
    run({ __mutant: (id: number) => id === active }, log, 1, 2);
    return log;
  };
  expect(outcome()).toEqual(['yes']);
  const changed = mutants.filter(({ id }) => JSON.stringify(outcome(id)) !== '["yes"]');
  expect(changed.map(({ mutant }) => `${mutant.before} → ${mutant.after}`)).toEqual([
    `${text} → `,
    'a < b && a + b > 0 → false',
    'a < b → a >= b',
    'a + b > 0 → a + b <= 0',
    'a + b → a - b',
    '"yes" → \'\'',
  ]);
});

it('leave an `else` with its own `if`', () => {
  const text = 'if (a) log.push("then"); else log.push("else");';
  const mutants = mutantsOf('x.ts', text).filter(({ operator }) => operator === 'statement');
  const code = withMutants(
    text,
    mutants.map((mutant, id) => ({ id, mutant })),
  );
  const outcome = (a: boolean, active?: number): string[] => {
    const log: string[] = [];
    new Function('globalThis', 'log', 'a', code)({ __mutant: (id: number) => id === active }, log, a);
    return log;
  };
  expect([outcome(true), outcome(false), outcome(true, 0), outcome(false, 0)]).toEqual([
    ['then'],
    ['else'],
    [],
    ['else'],
  ]);
});

it('are judged by the tests run for each, whatever failed for another', async () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-judged-'));
  for (const name of ['tools/mutants', 'package.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'test'));
  const [bad, good] = ['bad', 'good'].map(name => join(folder, 'test', `${name}.test.ts`));
  for (const [path, wanted] of [
    [bad, 2],
    [good, 1],
  ] as const)
    writeFileSync(path ?? '', `import { expect, it } from 'vitest';\nit('is one', () => expect(1).toBe(${wanted}));\n`);
  const active = join(folder, 'active');
  writeFileSync(active, '-1');
  const worker = fork(join(folder, 'tools/mutants/worker.ts'), [active, '1', '1'], {
    cwd: folder,
    env: { ...process.env, BENCHTOP_MUTANT_FILE: active },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  onTestFinished(async () => {
    const ended = once(worker, 'exit');
    worker.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await once(worker, 'message');
  const failedOf = async (...tests: unknown[]): Promise<unknown> => {
    worker.send({ active: 0, tests });
    const [{ failed }] = (await once(worker, 'message')) as [{ failed: unknown }];
    return failed;
  };
  expect(await failedOf(bad)).toEqual([bad]);
  expect(await failedOf(good)).toEqual([]);
});
