/** Keys and pastes on their way through the whole program. */
import { describe, expect, it } from 'vitest';
import { pageOf } from '../../queries/scripted-service.ts';
import { openView } from './actions.tsx';
import { openProgram } from './rig.tsx';
import { openWorld, world } from './scripted-world.tsx';

const pasted = (text: string): string => `\u001b[200~${text}\u001b[201~`;

describe('a paste', () => {
  it('goes into the window that the key before it opens, even when both arrive at once', async () => {
    const { screen, close } = openProgram();
    await screen.waitFor('Benchmarks');
    await screen.type(`:${pasted('secr')}`);
    await screen.waitFor(':secr');
    await screen.press('enter');
    await screen.waitFor('│ Secrets');
    close();
  });
});

describe('the palette', () => {
  it('has its cursor on the last entry, however often the next is requested', async () => {
    const { screen, close } = openProgram();
    await screen.waitFor('Benchmarks');
    await screen.press(':');
    await screen.waitFor('Go to a view or run a command');
    const cursor = (): string => screen.text().match(/▸ (\S.*?) {2}/)?.[1] ?? '';
    const first = cursor();
    for (let count = 0; count < 60; count += 1) await screen.press('down');
    const last = cursor();
    await screen.press('up');
    const before = cursor();
    expect(new Set([first, last, before]).size).toBe(3);
    await screen.press('down');
    expect(cursor()).toBe(last);
    close();
  });
});

describe('names in the palette', () => {
  it.each([
    ['a benchmark', 't-words', 'Benchmarks › t-words'],
    ['a run, after what it is', 'run baseline', 'Runs › baseline'],
  ])('open %s', async (_, typed, crumbs) => {
    const { screen, workbench } = await openView({ view: 'list', resource: 'runs' });
    await screen.waitFor('▸ baseline');
    workbench.remembered.see([{ kind: 'benchmark', id: 'bench_1', label: 't-words', status: 'ready', record: {} }]);
    await screen.type(`:${typed}`);
    await screen.waitFor(typed);
    await screen.press('enter');
    await screen.waitFor(crumbs);
  });

  it('come after the sections', async () => {
    const { screen, workbench } = await openView({ view: 'list', resource: 'datasets' });
    workbench.remembered.see([{ kind: 'run', id: 'evr_9', label: 'runs', status: 'completed', record: {} }]);
    await screen.type(':runs');
    await screen.press('enter');
    await screen.waitFor('▸ baseline');
  });
});

describe('an id in the palette', () => {
  it('that was never seen is replaced in the crumbs by the name of the opened resource', async () => {
    const service = world('completed');
    // No list has it.
    service.answers.listEvalRuns = () => [];
    const answer = Promise.withResolvers<void>();
    const { getEvalRun } = service.answers;
    service.answers.getEvalRun = async input => {
      await answer.promise;
      return getEvalRun?.(input);
    };
    const screen = openWorld(service, { view: 'list', resource: 'benchmarks' });
    await screen.waitFor('▸ t-words');
    await screen.type(':evr_1\r');
    await screen.waitFor('Runs › evr_1');
    answer.resolve();
    await screen.waitFor('Runs › baseline');
  });

  it('opens as any kind if its form fits none (C11)', async () => {
    const screen = openWorld(world('completed'), { view: 'list', resource: 'benchmarks' });
    await screen.waitFor('▸ t-words');
    const id = '7d9f2c1e-0b5a-4c7e-9f43-2f6b1a8c0d11';
    await screen.type(`:${id}`);
    await screen.waitFor(`▸ benchmark ${id}`);
    await screen.press('down');
    await screen.waitFor(`▸ run ${id}`);
    await screen.press('enter');
    await screen.waitFor(`Runs › ${id.slice(0, 8)}`);
  });

  it('opens the resource seen under it, whatever it looks like, by name', async () => {
    const service = world('completed');
    service.answers.listTrajectories = () =>
      pageOf([{ trajectory_id: 'er0002', task_id: 'seven', status: 'completed' }]);
    service.answers.getTrajectory = () => ({
      trajectory_id: 'er0002',
      task_id: 'seven',
      status: 'completed',
      steps: [],
    });
    const screen = openWorld(service, { view: 'list', resource: 'trajectories' });
    await screen.waitFor('▸ seven');
    await screen.type(':er0002');
    await screen.waitFor('▸ open er0002');
    await screen.press('enter');
    await screen.waitFor('Trajectories › seven');
  });
});

describe('a message line', () => {
  it('keeps the keys visible', async () => {
    const { screen } = await openView({ view: 'list', resource: 'benchmarks' });
    await screen.press('P');
    await screen.waitFor('Polling is paused');
    expect(screen.text()).toMatch(/Polling is paused.*<enter> open/);
  });
});

describe('the hints', () => {
  const foot = (text: string): string => text.split('\n').at(-2) ?? '';

  it('show the keys for writing a message, and for reading it', async () => {
    const { screen, close } = openProgram({ start: { view: 'chat' } });
    await screen.waitFor('<enter> send');
    expect(foot(screen.text())).toContain('<ctrl-o> model');
    expect(foot(screen.text())).not.toMatch(/<[:?H]>/);
    await screen.press('esc');
    await screen.waitFor('<?> help');
    expect(foot(screen.text())).toContain('<i> write');
    close();
  });

  it('show no key that would be typed into a filter', async () => {
    const { screen, close } = openProgram();
    await screen.waitFor('<u> upload');
    await screen.press('/');
    await screen.waitFor('<enter> keep');
    expect(foot(screen.text())).toMatch(/<enter> keep {2}<esc> clear +│$/);
    close();
  });
});
