/** The baseline of a benchmark in the list of its evaluation runs. */
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../eventually.ts';
import { pageOf, scriptedService } from '../../queries/scripted-service.ts';
import { openProgram } from './rig.tsx';

it('is chosen with a key on a run, and the others show no difference of means to it', async () => {
  const run = (id: string, bench_id: string, reward_mean: number) => ({
    ...{ eval_run_id: id, bench_id, display_name: id, status: 'completed', reward_mean },
    ...{ reward_count: 200, total_rollouts: 200 },
  });
  const rows = [run('evr_old', 'bench_1', 0.25), run('evr_new', 'bench_1', 0.75), run('evr_else', 'bench_2', 0.5)];
  const scripted = scriptedService({
    listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }, { bench_id: 'bench_2' }]),
    listEvalRuns: ({ bench_id }) => rows.filter(row => row.bench_id === bench_id),
  });
  const start = { view: 'list', resource: 'runs' } as const;
  const { screen, close } = openProgram({ service: scripted.service, start, columns: 240, rows: 30 });
  onTestFinished(close);
  const line = (name: string) =>
    screen
      .text()
      .split('\n')
      .find(each => new RegExp(`${name} +✓`).test(each)) ?? '';
  await eventually(() => expect(line('evr_else')).toContain('0.500'));
  expect(screen.text()).not.toContain('VS BASE');
  await screen.press('*');
  await eventually(() => expect(line('evr_old')).toContain('baseline'));
  // The rewards of neither run were read: the means may be over other tasks.
  expect(line('evr_new')).toContain('0.750');
  expect(line('evr_new')).not.toContain('+0.500');
  await screen.press('*');
  await eventually(() => expect(line('evr_old')).not.toContain('baseline'));
});
