/** Every write that the screen can send, each with the keys that lead to it, on the double of the service. */
import { expect, onTestFinished } from 'vitest';
import type { Command } from '../../../src/present/command.ts';
import { benchmarkActions } from '../../../src/resources/benchmarks.ts';
import { deploymentActions, deploymentCommands } from '../../../src/resources/deployments.ts';
import type { Place } from '../../../src/resources/place.ts';
import { runActions } from '../../../src/resources/runs.ts';
import { secretActions, secretCommands } from '../../../src/resources/secrets.ts';
import { checkpointActions, trainingActions } from '../../../src/resources/training.ts';
import { trajectoryActions } from '../../../src/resources/trajectories.ts';
import type { ServiceOptions } from '../../../src/service/options.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import { chatCommands } from '../../../src/ui/views/commands.ts';
import { registry } from '../../../src/ui/views/registry.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import type { Job, JobState } from '../../../src/workbench/jobs.ts';
import type { Workbench } from '../../../src/workbench/workbench.ts';
import { eventually } from '../../eventually.ts';
import { openScreen, type Screen } from '../../screen.ts';
import { type ServiceDouble, serviceDouble } from '../../service/double.ts';
import { serviceAt } from '../../service/hostile-server.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';
import { noTerminal } from '../stage.tsx';

export interface ScreenAction {
  readonly place: Place;
  readonly command: Command;
  /** Keys before it: to the row that it is for. */
  readonly first?: readonly string[];
  /** The condition before it; by default, there must be a row. */
  readonly prepare?: (screen: Screen) => Promise<void>;
  /** The title of a window to choose in, which comes before it: the first choice is taken. */
  readonly choice?: RegExp;
  /** The input of the form, by field; undefined for an unchanged field. */
  readonly typed?: readonly (string | undefined)[];
  /** A text that identifies the window. */
  readonly title: RegExp;
  readonly secret?: string;
}

const listOf = (resource: string): Place => ({ view: 'list', resource });
const [benchmarks, runs, training] = [listOf('benchmarks'), listOf('runs'), listOf('training')];
const [deployments, secrets, trajectories] = [listOf('deployments'), listOf('secrets'), listOf('trajectories')];

const below = ['down'];

async function chatFirst(screen: Screen): Promise<void> {
  await screen.type('hello');
  await screen.press('enter');
  await screen.waitFor('hi there');
  await screen.waitFor('<enter> send');
  await screen.press('esc');
}

export const screenActions: readonly ScreenAction[] = [
  { place: benchmarks, command: benchmarkActions.evaluate, title: /Evaluate on/ },
  { place: benchmarks, command: benchmarkActions.train, title: /Train on/ },
  { place: benchmarks, command: benchmarkActions.build, title: /Build its images/ },
  {
    place: { view: 'record', resource: 'benchmarks', id: 'bench_1', label: 't-words' },
    prepare: screen => screen.waitFor('secret TOKEN is missing'),
    command: benchmarkActions.secret,
    typed: ['hunter2'],
    title: /Secret TOKEN/,
    secret: 'hunter2',
  },
  { place: runs, command: runActions.cancel, title: /Cancel this run/ },
  { place: runs, command: runActions.delete, title: /Delete this run/ },
  { place: runs, command: runActions.delete, first: ['space', 'space'], title: /Delete 2 runs/ },
  { place: training, command: trainingActions.cancel, title: /Cancel this training run/ },
  { place: training, command: trainingActions.delete, first: below, title: /Delete this training run/ },
  { place: training, command: trainingActions.evaluate, title: /Evaluate on/ },
  { place: training, command: trainingActions.deploy, title: /Deploy step 2 of first/ },
  { place: training, command: trainingActions.continue, title: /Train on/ },
  ...[checkpointActions.evaluate, checkpointActions.deploy, checkpointActions.continue].map(command => ({
    place: { view: 'record', resource: 'training', id: 'trn_2', label: 'first', parent: 'bench_1' } as const,
    command,
    title: /Evaluate on|Deploy|Train on/,
  })),
  { place: deployments, command: deploymentCommands.deploy, typed: ['words', undefined, 'ckpt_1'], title: /Deploy/ },
  {
    place: deployments,
    command: deploymentActions.promote,
    first: below,
    choice: /should be demoted/,
    title: /serve its slug/,
  },
  { place: deployments, command: deploymentActions.unpromote, title: /answer|[Uu]npromote/ },
  { place: deployments, command: deploymentActions.undeploy, title: /Undeploy/ },
  {
    place: secrets,
    command: secretCommands.create,
    typed: ['KEY', 'hunter2'],
    title: /Create a secret/,
    secret: 'hunter2',
  },
  {
    place: secrets,
    command: secretActions.replace,
    typed: ['hunter2'],
    title: /Secret TOKEN/,
    secret: 'hunter2',
  },
  { place: secrets, command: secretActions.revoke, title: /Revoke this secret/ },
  { place: trajectories, command: trajectoryActions.reward, typed: ['quality', '0.5'], title: /Log a reward/ },
  { place: trajectories, command: trajectoryActions.complete, title: /End the trajectory/ },
  {
    place: { view: 'chat', model: 'acme/small' },
    command: chatCommands.save,
    prepare: chatFirst,
    title: /Save the conversation/,
  },
];

export interface OpenedView {
  readonly double: ServiceDouble;
  readonly screen: Screen;
  readonly workbench: Workbench;
  /** Sequences sent past the painter: copies and notices. */
  readonly raw: readonly string[];
}

/** A day: many views are open at once, and nothing changes on the double. */
const dayMs = 86_400_000;

/** Opens a view on a double of the service, with all that it asks for on screen; closes with the test. Nothing is polled. */
export async function openView(
  place: Place,
  options: Partial<ServiceOptions> = {},
  job?: Job<JobState>,
): Promise<OpenedView> {
  const double = await serviceDouble();
  const { service } = serviceAt(`${double.url}/prefix`, options);
  const workbench = newWorkbench({
    service: async () => service,
    poll: { focusedMs: dayMs, visibleMs: dayMs },
  });
  if (job) workbench.jobs.add(job);
  const raw: string[] = [];
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registry}
      terminal={{ ...noTerminal, writeRaw: sequence => void raw.push(sequence) }}
      start={place}
    />,
    { columns: 140, rows: 80 },
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
  const seen = (): void => {
    expect(screen.text()).toMatch(/<\S+> \w/);
    expect(workbench.cache.isFetching()).toBe(0);
  };
  await eventually(seen);
  await screen.type('');
  await eventually(seen);
  return { double, screen, workbench, raw };
}

/** Presses the way to the window of an action, which is then filled in. */
export async function askFor(screen: Screen, action: ScreenAction): Promise<void> {
  const { command, first = [], prepare = each => each.waitFor('▸'), choice, typed = [], title } = action;
  await prepare(screen);
  await screen.press(...first, command.keys[0] ?? '');
  if (choice) {
    await screen.waitFor(text => choice.test(text) && text.includes('▸'));
    await screen.press('enter');
  }
  // The form itself, not its loading note.
  await screen.waitFor(text => title.test(text) && /next field|<y>|Type \S+ to/.test(text));
  const [, slug] = /Type (\S+) to \w+:/.exec(screen.text()) ?? [];
  if (slug !== undefined) await screen.type(slug);
  for (const text of typed) {
    if (text !== undefined) {
      await screen.press('ctrl-u');
      await screen.type(text);
    }
    await screen.press('tab');
  }
}

/** Confirms the window of an action. */
export const sayYes = (screen: Screen): Promise<void> => screen.press(screen.text().includes('<y>') ? 'y' : 'enter');
