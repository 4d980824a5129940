/** Pickers: lists that are narrowed by typing, with the numbers that decide. */
import { expect, it } from 'vitest';
import { openWorld, world } from './scripted-world.tsx';

const nameOf = (index: number): string =>
  `2026-11-01_swe-terminal-repair-v3_qwen3-next-80b-a3b-thinking_group8_temperature1_lr0.00001_seed${index}`;

function many() {
  const service = world('completed');
  const runs = Array.from({ length: 300 }, (_, index) => ({
    eval_run_id: `evr_${index}`,
    bench_id: 'bench_1',
    display_name: nameOf(index),
    status: 'completed',
    reward_mean: 0.1 + index / 1000,
    reward_count: 8,
    total_rollouts: 8,
    step: 6,
    created_at: '2026-03-04T05:06:07Z',
  }));
  Object.assign(service.answers, {
    listEvalRuns: () => runs,
    getEvalRun: () => runs[0],
  });
  return service;
}

it.each([
  [200, 60],
  [80, 24],
  [60, 15],
])('narrows a picker of 299 runs by typing, and cuts no number, at %d columns', async (columns, rows) => {
  const place = { view: 'record', resource: 'runs', id: 'evr_0', label: nameOf(0), parent: 'bench_1' } as const;
  const screen = openWorld(many(), place, { columns, rows });
  await screen.waitFor('0.100');
  await screen.press('=');
  await screen.waitFor('1/299');
  expect(screen.text()).toMatch(/seed1 .*step 6 {2}0\.101 {2}\d+d ago/);
  await screen.press('down', 'down');
  await screen.waitFor('3/299');
  await screen.type('seed27');
  await screen.waitFor('1/11 of 299');
  expect(screen.text()).toMatch(/▸.*seed27 .*0\.127/);
  await screen.type('z');
  await screen.waitFor('none of 299');
  await screen.press('backspace', 'enter');
  await screen.waitFor(text => text.includes('vs') || text.includes('seed27'));
});
