/** What a window shows before it sends is what then arrives at the service: method, path and body, as the profile names them. */

import { expect, it, onTestFinished } from 'vitest';
import type { Command } from '../../../src/present/command.ts';
import { addJob } from '../../../src/queries/uploads/job.ts';
import { Workbench } from '../../../src/queries/workbench.tsx';
import { benchmarkCommands } from '../../../src/resources/benchmarks.ts';
import { kinds } from '../../../src/resources/catalogue.ts';
import { deploymentCommands } from '../../../src/resources/deployments.ts';
import { runCommands } from '../../../src/resources/runs.ts';
import { secretCommands } from '../../../src/resources/secrets.ts';
import { trainingCommands } from '../../../src/resources/training.ts';
import { trajectoryCommands } from '../../../src/resources/trajectories.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import { registry } from '../../../src/ui/views/registry.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { eventually } from '../../eventually.ts';
import { folderOf, uploadOf } from '../../queries/uploads/world.ts';
import { openScreen, type Screen } from '../../screen.ts';
import { serviceDouble } from '../../service/double.ts';
import { serviceAt } from '../../service/hostile-server.ts';
import { noTerminal } from '../stage.tsx';

/** A service that calls everything otherwise. */
const assumptions = {
  'path.startEval': '/api/v2/evaluations/{bench_id}',
  'path.deleteEvalRun': '/api/v2/evaluations/{eval_run_id}',
  'path.cancelTraining': '/api/v2/trainings/{training_run_id}/stop',
  'startEval.model_slug': 'base_model_slug',
  'startTraining.base_model_slug': 'model',
};

interface Action {
  readonly view: string;
  readonly command: Command;
  /** Keys before it: to the row that it is for. */
  readonly first?: readonly string[];
  /** What the form needs, by field; undefined for one that is left as it is. */
  readonly typed?: readonly (string | undefined)[];
  /** What the window is known by. */
  readonly title: RegExp;
  readonly secret?: string;
}

const rowBelow = ['down'];
const actions: readonly Action[] = [
  { view: 'benchmarks', command: benchmarkCommands.evaluate, title: /Evaluate on/ },
  { view: 'benchmarks', command: benchmarkCommands.train, title: /Train on/ },
  { view: 'benchmarks', command: benchmarkCommands.build, title: /Build its images/ },
  { view: 'runs', command: runCommands.cancel, title: /Cancel this run/ },
  { view: 'runs', command: runCommands.delete, title: /Delete this run/ },
  { view: 'runs', command: runCommands.delete, first: ['space', 'space'], title: /Delete 2 runs/ },
  { view: 'training', command: trainingCommands.cancel, title: /Cancel this training run/ },
  { view: 'training', command: trainingCommands.delete, first: rowBelow, title: /Delete this training run/ },
  { view: 'training', command: trainingCommands.evaluate, title: /Evaluate on/ },
  { view: 'training', command: trainingCommands.deploy, title: /Deploy first/ },
  { view: 'training', command: trainingCommands.continue, title: /Train on/ },
  { view: 'deployments', command: deploymentCommands.deploy, typed: ['words', undefined, 'ckpt_1'], title: /Deploy/ },
  { view: 'deployments', command: deploymentCommands.promote, first: rowBelow, title: /answer for its slug/ },
  { view: 'deployments', command: deploymentCommands.unpromote, title: /answer|[Uu]npromote/ },
  { view: 'deployments', command: deploymentCommands.undeploy, title: /Undeploy/ },
  {
    view: 'secrets',
    command: secretCommands.create,
    typed: ['KEY', 'hunter2'],
    title: /Create a secret/,
    secret: 'hunter2',
  },
  { view: 'secrets', command: secretCommands.revoke, title: /Revoke this secret/ },
  { view: 'trajectories', command: trajectoryCommands.reward, typed: ['quality', '0.5'], title: /Log a reward/ },
  { view: 'trajectories', command: trajectoryCommands.complete, title: /End the trajectory/ },
];

async function openView(view: string) {
  const double = await serviceDouble();
  const { service } = serviceAt(`${double.url}/prefix`, { assumptions });
  const workbench = new Workbench({ kinds, service: async () => service, profile: 'test' });
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registry}
      terminal={noTerminal}
      start={{ view: 'list', resource: view }}
    />,
    { columns: 140, rows: 80 },
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
  await eventually(() => {
    expect(screen.text()).toContain('▸');
    expect(workbench.cache.isFetching()).toBe(0);
  });
  return { double, screen };
}

/** The text of a screen without its lines and spaces, as JSON may be broken anywhere. */
const squashed = (screen: Screen): string => screen.text().replaceAll(/[\s│]/g, '');

it.each(actions.map(action => [action.command.id, action] as const))('%s', async (_, action) => {
  const { view, command, first = [], typed = [], title, secret } = action;
  const { double, screen } = await openView(view);
  await screen.press(...first, command.keys[0] ?? '');
  // The form itself, and not the note that what it needs is asked for.
  await screen.waitFor(text => title.test(text) && /next field|<y>/.test(text));
  for (const text of typed) {
    if (text !== undefined) {
      await screen.press('ctrl-u');
      await screen.type(text);
    }
    await screen.press('tab');
  }
  await screen.press('ctrl-p');
  await screen.waitFor('/prefix/api/');
  const shown = squashed(screen);
  expect(double.writes()).toEqual([]);
  await screen.press(screen.text().includes('<y>') ? 'y' : 'enter');
  const sent = await eventually(() => {
    const writes = double.requests.filter(({ method }) => method !== 'GET');
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

it('of an upload name its first request, its files and what comes after', async () => {
  const double = await serviceDouble();
  const { service } = serviceAt(`${double.url}/prefix`, { assumptions });
  const workbench = new Workbench({ kinds, service: async () => service, profile: 'test' });
  const job = await uploadOf(folderOf(5), workbench.remembered);
  addJob(workbench.jobs, job);
  const start = { view: 'benchmark-upload', jobId: job.id } as const;
  const screen = openScreen(
    <Program workbench={workbench} theme={createTheme()} registry={registry} terminal={noTerminal} start={start} />,
    { columns: 140, rows: 60 },
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
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

it('are checked for every command that writes', () => {
  // They share the windows of others, or choose a file first; the upload of a benchmark is checked above.
  const elsewhere = ['secret.replace', 'benchmark.secret', 'chat.save', 'dataset.upload', 'benchmark.upload'];
  const checked = new Set(actions.map(({ command }) => command.id));
  const writing = registry.views.flatMap(({ commands }) => commands).filter(({ writes }) => writes);
  const missing = writing
    .map(({ id }) => id)
    .filter(id => !checked.has(id) && !elsewhere.includes(id) && !/^(upload|checkpoint)\./.test(id));
  expect([...new Set(missing)]).toEqual([]);
});
