/**
 * The preview of a window equals the request that then arrives at the service: method, path and body, with the names of
 * the profile.
 */
import { expect, it } from 'vitest';
import { RememberedStore } from '../../../src/store/store.ts';
import { registry } from '../../../src/ui/views/registry.ts';
import { eventually } from '../../eventually.ts';
import type { Screen } from '../../screen.ts';
import { folderOf, uploadOf } from '../../uploads/world.ts';
import { askFor, openView, sayYes, screenActions } from './actions.tsx';

/** A service with different names for everything. */
const assumptions = {
  'path.startEval': '/api/v2/evaluations/{bench_id}',
  'path.deleteEvalRun': '/api/v2/evaluations/{eval_run_id}',
  'path.cancelTraining': '/api/v2/trainings/{training_run_id}/stop',
  'startEval.model_slug': 'base_model_slug',
  'startTraining.base_model_slug': 'model',
};

/** The text of the window on a screen, or of all of it, without lines and spaces, as JSON may be broken anywhere. */
function squashed(screen: Screen): string {
  const lines = screen.text().split('\n');
  const top = lines.findIndex((line, row) => row > 0 && line.includes('┌─'));
  const [from, to] = [lines[top]?.indexOf('┌─') ?? 0, lines[top]?.lastIndexOf('─┐') ?? Number.POSITIVE_INFINITY];
  const inside = lines.slice(Math.max(0, top)).map(line => line.slice(from, to));
  return inside.join('').replaceAll(/[\s│]/g, '');
}

it.each(screenActions.map(action => [action.command.id, action] as const))('%s', async (_, action) => {
  const { secret } = action;
  const { double, screen } = await openView(action.place, { assumptions });
  await askFor(screen, action);
  await screen.press('ctrl-p');
  await screen.waitFor('/prefix/api/');
  const shown = squashed(screen);
  expect(double.writes()).toEqual([]);
  await sayYes(screen);
  const sent = await eventually(() => {
    const writes = double.requests.filter(request => double.isWrite(request));
    expect(writes.length).toBeGreaterThan(0);
    return writes;
  });
  // The window has closed.
  await screen.waitFor(text => !text.includes('/prefix/api/'));
  for (const { method, url, body } of sent) {
    expect(shown).toContain(`${method}${url}`);
    const json: unknown = body === '' ? undefined : JSON.parse(body);
    const text = JSON.stringify(json) ?? '';
    expect(shown).toContain((secret ? text.replace(secret, '••••') : text).replaceAll(/\s/g, ''));
    if (secret) expect(shown).not.toContain(secret);
  }
});

it('of a form closes with esc first, and the next form of that kind has what was typed (out31 B10)', async () => {
  const { screen } = await openView({ view: 'list', resource: 'benchmarks' });
  await screen.waitFor('▸ t-words');
  await screen.press('e');
  await screen.waitFor('▸ Model');
  await screen.press('tab');
  await screen.type('tea');
  await screen.press('ctrl-p');
  await screen.waitFor('/prefix/api/');
  await screen.press('esc');
  await screen.waitFor(text => !text.includes('/prefix/api/'));
  expect(screen.text()).toContain('▸ Run name');
  await screen.press('esc');
  await screen.waitFor(text => !text.includes('Run name'));
  await screen.press('t');
  await screen.waitFor('▸ Model');
  expect(screen.text()).not.toContain('tea');
  await screen.press('esc');
  await screen.waitFor(text => !text.includes('Run name'));
  await screen.press('e');
  await screen.waitFor('tea');
  expect(screen.text()).toContain('▸ Model');
});

const destroying = screenActions.filter(({ command }) => command.destructive);

it.each(destroying.map(action => [action.command.id, action] as const))('%s asks first', async (_, action) => {
  const { double, screen } = await openView(action.place);
  await askFor(screen, action);
  expect(screen.text()).toMatch(/<esc> no +<(y|enter)>/);
  // A careless key press leaves the window, unless a text has to be typed first.
  await screen.press(screen.text().includes('<y>') ? 'enter' : 'esc');
  await screen.waitFor(text => !action.title.test(text));
  expect(double.writes()).toEqual([]);
  await askFor(screen, { ...action, first: [] });
  expect(double.writes()).toEqual([]);
  await sayYes(screen);
  await eventually(() => expect(double.writes().join(' ')).toMatch(/DELETE/));
});

it('of an upload shows its first request, its files and what follows', async () => {
  const job = await uploadOf(folderOf(5), RememberedStore.inMemory('test'));
  const { double, screen } = await openView({ view: 'benchmark-upload', jobId: job.id }, { assumptions }, job);
  await screen.waitFor('not sent yet');
  await screen.press('ctrl-p');
  await screen.waitFor('/prefix/api/');
  expect(screen.text()).toContain('and 2 more files');
  expect(screen.text()).toContain('POST /prefix/api/v1/benchmarks/{bench_id}/ingest');
  expect(screen.text()).toContain('POST /prefix/api/v1/benchmarks/{bench_id}/images/build');
  const shown = squashed(screen);
  await screen.press('esc', 'enter');
  const [first] = await eventually(() => {
    expect(double.writes().length).toBeGreaterThan(0);
    return double.requests.filter(({ method }) => method !== 'GET');
  });
  expect(shown).toContain(`${first?.method}${first?.url}`);
  const { files } = JSON.parse(first?.body ?? '{}') as { files: object[] };
  expect(files).toHaveLength(5);
  expect(shown).toContain(JSON.stringify({ files: files.slice(0, 3) }));
});

it('exist for every command that writes', () => {
  const checked = new Set(screenActions.map(({ command }) => command.id));
  const writing = registry.views.flatMap(({ commands }) => commands).filter(({ writes }) => writes);
  // These choose a file first; the requests of an upload are checked above.
  const ofUploads = /^(upload|dataset|benchmark)\.(upload|resume|start|cancel|start-over|discard|agent)$/;
  const missing = writing.map(({ id }) => id).filter(id => !checked.has(id) && !ofUploads.test(id));
  expect([...new Set(missing)]).toEqual([]);
  const destructive = writing.filter(command => command.destructive).map(({ id }) => id);
  expect(new Set(destroying.map(({ command }) => command.id))).toEqual(new Set(destructive));
});
