/** How Watch tells lines with the same label apart. */
import { expect, it, onTestFinished } from 'vitest';
import { fitColumns, withNamesCut } from '../../src/present/column.ts';
import { rememberCheckpoints } from '../../src/queries/checkpoint-memory.ts';
import type { Observation } from '../../src/queries/statuses/known-resource.ts';
import { eventNames } from '../../src/resources/inbox.ts';
import { watchedLine, watchedOf } from '../../src/resources/watch.ts';
import { rewardTitle, watchColumns } from '../../src/ui/views/watch-columns.ts';
import type { InboxEvent } from '../../src/workbench/inbox.ts';
import { scriptedService } from '../queries/scripted-service.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

const minuteMs = 60_000;

function world() {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service });
  onTestFinished(() => workbench.close());
  const at = Date.now();
  const see = (...observations: readonly Observation[]): void => {
    for (const { kind, id, label } of observations)
      if (!workbench.pins.has(kind, id)) workbench.pins.toggle({ kind, id, label: label ?? id });
    workbench.statuses.report(observations, { askedAt: at, at });
    workbench.remembered.see(observations, at);
  };
  const names = (now = at): string[] => {
    const [label] = watchColumns({ room: 60, range: [0, 1], spark: () => '' });
    return watchedOf(workbench, now).map(row => String(label?.value(row)));
  };
  /** The names at this width of the pane, in its first column, and the ids of its columns. */
  const drawn = (room: number) => {
    const rows = watchedOf(workbench, at);
    const tellsApart = rows.some(row => row.apart);
    const columns = watchColumns({ room, range: [0, 1], spark: () => '', tellsApart, rewardTitle: rewardTitle(rows) });
    const fitted = withNamesCut(fitColumns(columns, room, {}, rows), rows);
    const [label] = fitted;
    return {
      names: rows.map(row => label?.cuts?.get(label.column.text?.(row) ?? '')),
      columns: fitted.map(({ column }) => column.id),
    };
  };
  return { at, see, names, drawn, workbench };
}

const deployment = (id: string, checkpoint_step: number | null, is_active?: boolean): Observation => {
  const record = { deployment_id: id, model_slug: 'tea', status: 'DEPLOYED', checkpoint_step, is_active };
  return { kind: 'deployment', id, label: 'tea', status: 'DEPLOYED', record };
};

it('deployments of one slug by their step and by which is active, if that was read recently', () => {
  const { at, see, names } = world();
  see(deployment('dep_1', 40, false));
  expect(names()).toEqual(['tea']);
  see(deployment('dep_2', 60, true), deployment('dep_3', 60, false));
  expect(names()).toEqual(['tea (step 40)', 'tea (step 60, active)', 'tea (step 60)']);
  expect(names(at + 6 * minuteMs)).toEqual(['tea (dep_1)', 'tea (dep_2)', 'tea (dep_3)']);
});

it('deployments without a step, and runs of one benchmark, by ids; runs of several benchmarks by those', () => {
  const { see, names } = world();
  see(deployment('dep_1', null), deployment('dep_2', null, true));
  expect(names()).toEqual(['tea (dep_1)', 'tea (dep_2)']);
  const run = (id: string, parent: string): Observation => ({
    kind: 'run',
    id,
    label: 'base',
    status: 'completed',
    parent,
  });
  see(run('evr_1', 'sums'), run('evr_2', 'words'));
  expect(names().slice(2)).toEqual(['base (sums)', 'base (words)']);
  see(run('evr_3', 'words'));
  expect(names().slice(2)).toEqual(['base (evr_1)', 'base (evr_2)', 'base (evr_3)']);
});

it('deployments of one slug first by their run and step, in Watch and in the inbox (B5)', () => {
  const { see, drawn, workbench } = world();
  const served = [
    ['dep_1', 'shop1', 60],
    ['dep_2', 'shop2', 60],
    ['dep_3', 'a-run-with-a-very-long-name', 20],
  ] as const;
  for (const [id, run, step] of served) {
    const checkpoint = { checkpoint_id: `ckpt_${id}`, step_index: step };
    rememberCheckpoints(`trn_${run}`, [checkpoint], workbench.remembered, run);
    const { record, ...seen } = deployment(id, step, false);
    see({ ...seen, label: 'shop-prod', record: { ...record, ...checkpoint } });
  }
  const words = ['shop1 step 60', 'shop2 step 60', 'a-run-with-a-ve… step 20'];
  expect(drawn(100).names.toSorted()).toEqual(words.map(each => `★ shop-prod (${each})`).toSorted());
  // In little room, by the ends of their ids.
  for (const name of drawn(60).names) expect(name).toMatch(/^★ sh.*\(dep_[123]\)$/);
  const events = [...served, ...served].map(([id]): InboxEvent => {
    return { kind: 'deployment', id, label: 'shop-prod', what: 'end', at: 0, isExact: true, detail: {} };
  });
  const names = events.map(eventNames(workbench.remembered, events));
  expect(names.slice(3)).toEqual(words.map(each => `shop-prod (${each})`));
  const narrow = events.slice(0, 3).map(eventNames(workbench.remembered, events, true));
  expect(narrow).toEqual(served.map(([id]) => `shop-prod (${id})`));
});

it('deployments of one slug and step by the ends of their ids, leaving room for the slug (B5)', () => {
  const { see, drawn } = world();
  const ids = ['dep_v3jwyQkGTHvx', 'dep_wSjZG9bP3j4H', 'dep_dSRiOIsNGxHk'];
  see(...ids.map(id => ({ ...deployment(id, 60, false), label: 'shop-prod' })));
  const names = ['★ shop-prod (…GTHvx)', '★ shop-prod (…P3j4H)', '★ shop-prod (…NGxHk)'];
  expect(drawn(100).names.toSorted()).toEqual(names.toSorted());
  for (const name of drawn(60).names) expect(name).toMatch(/^★ sho.*\(….....\)$/);
});

it('cuts the name in a narrow window, not what tells it apart, and keeps the status rather than the share', () => {
  const { see, drawn } = world();
  const slug = 'tea-with-lemon-and-honey';
  see(...[40, 60].map(step => ({ ...deployment(`dep_${step}`, step, step === 60), label: slug })), {
    kind: 'run',
    id: 'evr_1',
    label: 'base',
    status: 'completed',
    mean: 0.194,
    done: 28,
    graded: 28,
    total: 28,
  });
  const { names, columns } = drawn(56);
  expect(names).toEqual([`★ ${slug} (step 40)`, '★ tea-with…d-honey (step 60, active)', '★ base']);
  expect(columns).toEqual(['label', 'held-out', 'state']);
  expect(drawn(140).names).toContain(`★ ${slug} (step 60, active)`);
  expect(drawn(140).columns).toContain('done');
});

it('cuts the name of a pinned line like the others', () => {
  const tasks = ['swe-terminal-repair-v3', 'kernel-cuda-optimise', 'security-ctf-web', 'long-opposites-style'];
  const rows = tasks.map((task, index) => ({
    ...watchedLine({ kind: 'training', id: `trn_${index}` }, `2026-11-01_${task}_qwen3-next-80b_g8_seed2${index}`),
    pinned: index === 0,
  }));
  const columns = watchColumns({ room: 22, range: [0, 1], spark: () => '' });
  const [label] = withNamesCut(fitColumns(columns, 22, {}, rows), rows);
  expect(rows.map(row => label?.cuts?.get(label.column.text?.(row) ?? ''))).toEqual([
    '★ …swe-termi…g8_seed20',
    '…kernel-cud…_g8_seed21',
    '…security-c…_g8_seed22',
    '…long-oppos…_g8_seed23',
  ]);
});
