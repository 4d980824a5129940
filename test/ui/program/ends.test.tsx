/** A run ends: it is announced exactly once, in any view, and for any part of the program that reads it first. */
import { describe, expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { eventually } from '../../eventually.ts';
import { notFound } from '../../queries/scripted-service.ts';
import { askAgain, morePolls, often, openWorld, world } from './scripted-world.tsx';
import { passing, startVirtualTime } from './virtual-time.ts';

const places: readonly (readonly [string, Place])[] = [
  ['its own view', { view: 'record', resource: 'runs', id: 'evr_1', label: 'baseline', parent: 'bench_1' }],
  ['the list of runs', { view: 'list', resource: 'runs' }],
  ['the benchmark', { view: 'record', resource: 'benchmarks', id: 'bench_1', label: 't-words' }],
  ['Watch', { view: 'watch' }],
];

describe('a run that ends', () => {
  it.each(places)('while %s is on screen is announced once', async (_, start) => {
    const run = world();
    const screen = openWorld(run, start);
    await screen.waitFor('1 running');
    run.status = 'completed';
    await screen.waitFor('✓ baseline completed, mean 0.500');
    expect(screen.text()).not.toContain('1 running');
    await askAgain(run, screen);
    expect(screen.bells()).toEqual(['\u0007\u001b]2;benchtop: baseline completed, mean 0.500\u0007']);
  });

  it('while something else is on screen is announced once', async () => {
    const run = world();
    const screen = openWorld(run, { view: 'list', resource: 'runs' });
    await screen.waitFor('1 running');
    await screen.type(':models\r');
    await screen.waitFor('acme/small');
    run.status = 'failed';
    await screen.waitFor('✗ baseline failed');
    await morePolls(run, 4);
    expect(screen.bells()).toHaveLength(1);
  });

  it('right after failed polls is announced all the same', async () => {
    const run = world();
    const screen = openWorld(run, { view: 'record', resource: 'runs', id: 'evr_1' });
    await screen.waitFor('1 running');
    const { getEvalProgress, getEvalRun } = run.answers;
    let failures = 0;
    run.answers.getEvalProgress = run.answers.getEvalRun = () => {
      failures += 1;
      throw new Error('the cable is out');
    };
    await eventually(() => expect(failures).toBeGreaterThan(1));
    expect(screen.text()).toContain('1 running');
    run.status = 'completed';
    Object.assign(run.answers, { getEvalProgress, getEvalRun });
    await screen.press('r');
    await screen.waitFor('✓ baseline completed');
    expect(screen.bells()).toHaveLength(1);
  });

  it('before the first look is not news', async () => {
    const run = world('completed');
    const screen = openWorld(run, { view: 'list', resource: 'runs' });
    await screen.waitFor('▸ baseline');
    await morePolls(run, 6);
    expect(screen.bells()).toEqual([]);
    expect(screen.text()).not.toContain('running');
  });

  it('before the answer to its start was read is news, as this program started it', async () => {
    const run = world('none');
    const screen = openWorld(run, { view: 'list', resource: 'benchmarks' });
    await screen.waitFor('▸ t-words');
    await screen.press('e');
    await screen.waitFor('acme/small');
    await screen.press('enter');
    await screen.waitFor('4 of 4 rollouts');
    await eventually(() => expect(screen.bells()).toHaveLength(1));
    await askAgain(run, screen);
    expect(screen.bells()).toHaveLength(1);
  });
});

describe('in the background', () => {
  it('is rarely polled for its progress while its list is on screen, and not after its end', async () => {
    startVirtualTime();
    const run = world();
    const screen = openWorld(run, { view: 'list', resource: 'runs' });
    await passing(screen.waitFor('1 running'));
    await passing(morePolls(run, 12));
    const listed = run.asked('getEvalProgress');
    expect(listed).toBeGreaterThan(0);
    expect(listed).toBeLessThan(4);
    await passing(screen.type(':models\r'));
    await passing(eventually(() => expect(run.asked('getEvalProgress')).toBeGreaterThan(listed + 1)));
    run.status = 'completed';
    await passing(screen.waitFor('✓ baseline completed'));
    const before = run.asked('getEvalProgress');
    await passing(screen.type(':runs\r'));
    await passing(morePolls(run, 8));
    await passing(screen.type('-'));
    expect(run.asked('getEvalProgress')).toBe(before);
  });

  it('is read at most once for rollouts and options after its end, however it is pinned', async () => {
    const run = world('completed');
    const screen = openWorld(run, { view: 'list', resource: 'runs' });
    await screen.waitFor('▸ baseline');
    await screen.press('p');
    await screen.waitFor('Pinned to Watch');
    await morePolls(run, 12);
    expect(run.asked('getEvalProgress')).toBeLessThanOrEqual(1);
    // For the options that its row in the list lacks.
    expect(run.asked('getEvalRun')).toBeLessThanOrEqual(1);
  });
});

describe('Watch', () => {
  it('keeps completed work, with its outcome, until it is dismissed', async () => {
    const run = world();
    const screen = openWorld(run, { view: 'watch' });
    await screen.waitFor(text => /▸ baseline +2\/4 +● running/.test(text));
    run.status = 'completed';
    await screen.waitFor(text => /▸ baseline +0\.500 n=\? +4\/4 +✓ completed/.test(text));
    await morePolls(run, 6);
    expect(screen.text()).toMatch(/▸ baseline .*✓ completed/);
    await screen.press('backspace');
    await screen.waitFor('Nothing is running or pinned');
  });

  it('does not poll completed work', async () => {
    const run = world();
    const screen = openWorld(run, { view: 'watch' });
    await screen.waitFor(text => /▸ baseline .*● running/.test(text));
    await screen.press('p');
    await screen.waitFor('Pinned to Watch');
    run.status = 'completed';
    await screen.waitFor(text => /▸ ★ baseline +0\.500 n=\? +4\/4 +✓ completed/.test(text));
    await morePolls(run, 4);
    const before = run.asked('getEvalProgress') + run.asked('getEvalRun');
    await morePolls(run, 12);
    expect(run.asked('getEvalProgress') + run.asked('getEvalRun')).toBe(before);
  });

  it('reads the lists as often as lists are read, not as often as running work', async () => {
    const run = world();
    // A busy machine is late for the short interval by several times its length.
    const screen = openWorld(run, { view: 'watch' }, { poll: { ...often, visibleMs: 20 * often.visibleMs } });
    await screen.waitFor(text => /▸ baseline .*● running/.test(text));
    const [lists, polls] = [run.asked('listEvalRuns'), run.asked('getEvalProgress')];
    await eventually(() => expect(run.asked('getEvalProgress')).toBeGreaterThan(polls + 20));
    expect(run.asked('listEvalRuns') - lists).toBeLessThan(14);
  });

  it('shows what is gone once, unpins it, and stops polling it', async () => {
    const run = world();
    const screen = openWorld(run, { view: 'watch' });
    await screen.waitFor(text => /▸ baseline .*● running/.test(text));
    await screen.press('p');
    await screen.waitFor('Pinned to Watch');
    run.answers.getEvalProgress = run.answers.getEvalRun = ({ eval_run_id = '' }) => notFound(eval_run_id);
    run.answers.listEvalRuns = () => [];
    await screen.waitFor(text => /▸ baseline .*• deleted/.test(text));
    await screen.waitFor('baseline was deleted from the service');
    // The answer that was in flight then.
    await morePolls(run, 4);
    const before = run.asked('getEvalProgress') + run.asked('getEvalRun');
    await morePolls(run, 8);
    expect(run.asked('getEvalProgress') + run.asked('getEvalRun')).toBe(before);
    expect(screen.bells()).toHaveLength(1);
    await screen.press('backspace');
    await screen.waitFor('Nothing is running or pinned');
  });
});

it('says that a training run restarted from an earlier step', async () => {
  const service = world();
  const training = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'longer', status: 'running' };
  let step = 24;
  Object.assign(service.answers, {
    listTrainingRuns: () => [training],
    getTrainingRun: () => training,
    getTrainingProgress: () => ({
      training_run_id: 'trn_1',
      status: 'running',
      completed_steps: step,
      total_steps: 40,
    }),
  });
  const screen = openWorld(service, { view: 'record', resource: 'training', id: 'trn_1' });
  await screen.waitFor('step 24 of 40');
  step = 15;
  await screen.waitFor('longer restarted from step 15');
});
