/**
 * Adds an action as CONTRIBUTING.md describes: its request and one entry. It must then be reachable in every way
 * without further changes.
 */
import { stripTypeScriptTypes } from 'node:module';
import { expect, it } from 'vitest';
import { action } from '../src/queries/action.ts';
import { benchmarkKeys } from '../src/queries/benchmarks.ts';
import { benchmarkActions } from '../src/resources/benchmarks.ts';
import { cliOn } from './commands/cli.ts';
import { codeOf } from './contributing-code.ts';
import { eventually } from './eventually.ts';
import { serviceDouble } from './service/double.ts';

const code = codeOf('How to add an action');

/** The value of an expression, with its imports. */
function evaluated(expression: string, imports: object): unknown {
  const text = stripTypeScriptTypes(`(${expression})`);
  return new Function(...Object.keys(imports), `return ${text}`)(...Object.values(imports));
}

const [request = '', entry = ''] = ['src/queries/benchmarks.ts', 'src/resources/benchmarks.ts'].map(path =>
  code.get(path),
);
const deleteBenchmark = evaluated(request.replace(/^export const \w+ = (.*);\s*$/s, '$1'), { action, benchmarkKeys });
Object.assign(benchmarkActions, evaluated(`{${entry}}`, { deleteBenchmark }));
// Views read the declarations when they are loaded.
const { openView } = await import('./ui/program/actions.tsx');

const list = { view: 'list', resource: 'benchmarks' } as const;

it('is a key that asks for confirmation, shows the request and sends it', async () => {
  const { double, screen } = await openView(list);
  await screen.waitFor('▸ t-words');
  await screen.press('d');
  await screen.waitFor('Delete this benchmark?');
  expect(screen.text()).toContain('t-words: its tasks, runs and trajectories are deleted.');
  await screen.press('ctrl-p');
  await screen.waitFor('DELETE /prefix/api/v1/benchmarks/bench_1');
  expect(double.writes()).toEqual([]);
  await screen.press('y');
  await screen.waitFor('Deleted t-words');
  expect(double.writes()).toEqual([expect.stringMatching(/^DELETE .*\/benchmarks\/bench_1$/)]);
});

it('is listed in help, in the menu and in the palette', async () => {
  const { screen } = await openView(list);
  await screen.waitFor('▸ t-words');
  await screen.press('?');
  await screen.waitFor('benchmark.delete');
  await screen.press('esc', 'a');
  await screen.waitFor(text => text.includes('delete it') && text.includes('evaluate a model on it'));
  await screen.press('esc');
  await screen.type(':delete it');
  await screen.waitFor('▸ delete it');
});

it('is a command that prints its request, completes names, and works in line mode', async () => {
  const double = await serviceDouble();
  const cli = cliOn({ baseUrl: double.url, apiKey: 'key' });
  expect((await cli('delete', ['t-words', '--dry-run'])).out).toMatch(/^DELETE \/api\/v1\/benchmarks\/bench_1\n/);
  expect((await cli('delete', ['t-words'])).notes).toContain(
    'Delete benchmark t-words (bench_1)? Its tasks, runs and trajectories are deleted.',
  );
  expect((await cli('__complete', ['delete', 't-'])).out).toContain('t-words');
  const lines = await cli('--lines', [], { input: 'benchmarks\ndelete 1\n\nquit' });
  expect(lines.out).toContain('Delete benchmark t-words (bench_1)? Its tasks');
  expect(double.writes()).toEqual([]);
  expect((await cli('delete', ['t-words', '--yes'])).out).toBe('bench_1\n');
  await eventually(() => expect(double.writes()).toEqual([expect.stringMatching(/^DELETE .*\/benchmarks\/bench_1$/)]));
});
