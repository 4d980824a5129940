/** Which rows of a list belong to the requested run or dataset. */
import { expect, it } from 'vitest';
import { type TrajectoryReward, trajectoryRewards } from '../../src/contract/evaluations.ts';
import type { Trajectory } from '../../src/contract/trajectories.ts';
import { type KnownOwner, lackRewards, ownRows } from '../../src/queries/own-rows.ts';

const row = (trajectory_id: string, parts: object = {}): Trajectory => ({
  trajectory_id,
  status: 'completed',
  ...parts,
});
const graded = (id: string) => row(id, { reward: 1 });
const failed = (id: string) => row(id, { reward: 0, status: 'failed' });
const rewardsOf = (...ids: string[]): readonly TrajectoryReward[] =>
  trajectoryRewards.parse({ trajectory_rewards: ids.map(trajectory_id => ({ trajectory_id, reward: 1 })) })
    .trajectory_rewards;
const idsOf = (rows: readonly Trajectory[]) => rows.map(({ trajectory_id }) => trajectory_id).join(' ');
const uuid = 'e1e1e1e1-0000-4000-8000-00000000000a';

it.each([
  ['names the run', 'own', 'r1', 'r1'],
  ['names another', 'other', 'r1', 'r2'],
  ['names a UUID in capitals', 'own', uuid, uuid.toUpperCase()],
  ['names it by an id that is no UUID in capitals', 'other', 'r1', 'R1'],
  ['names nothing', 'unsure', 'r1', undefined],
  ['names an empty string', 'unsure', 'r1', ''],
])('a row that %s is %s', (_, verdict, asked, named) => {
  for (const field of ['eval_run_id', 'training_run_id'] as const) {
    const found = ownRows([row('x', { [field]: named })], { [field]: asked }, {});
    const expected = { own: verdict === 'other' ? '' : 'x', others: verdict === 'other' ? 1 : 0 };
    expect({ own: idsOf(found.own), others: found.others }).toEqual(expected);
    expect([idsOf(found.unsure), found.isMixed]).toEqual([verdict === 'unsure' ? 'x' : '', false]);
  }
});

const listed = [
  { dataset_id: uuid, dataset_name: 'words' },
  { dataset_id: 'd2', dataset_name: 'sums' },
  { dataset_id: 'd3', dataset_name: 'Words' },
];
it.each<[string, string, string, object]>([
  ['its name', 'own', 'own', { dataset_name: 'words', dataset_id: 'd9' }],
  ['another name', 'other', 'other', { dataset_name: 'sums' }],
  ['its id', 'unsure', 'own', { dataset_id: uuid.toUpperCase() }],
  ['another id', 'unsure', 'other', { dataset_id: 'd2' }],
  ['another spelling and its id', 'unsure', 'own', { dataset_name: ' WORDS', dataset_id: uuid }],
  ['the spelling of another dataset and its id', 'unsure', 'other', { dataset_name: 'Words', dataset_id: 'd3' }],
  ['the spelling of another dataset', 'unsure', 'other', { dataset_name: 'Words' }],
  ['a spelling of no dataset', 'unsure', 'unsure', { dataset_name: 'words ' }],
  ['nothing', 'unsure', 'unsure', { dataset_name: '', dataset_id: null }],
  ['the name that was asked for as its id', 'own', 'own', { dataset_id: 'words' }],
])('a row with %s is %s to a dataset, and %s once datasets were listed', (_, before, after, parts) => {
  const verdictOf = (known: KnownOwner): string => {
    const { own, others, unsure } = ownRows([row('x', parts)], { dataset_name: 'words' }, known);
    expect(own.length + others).toBe(1);
    return others === 1 ? 'other' : unsure.length === 1 ? 'unsure' : 'own';
  };
  expect([verdictOf({}), verdictOf({ datasets: listed })]).toEqual([before, after]);
  // A list without the requested dataset decides nothing.
  expect(verdictOf({ datasets: listed.slice(1, 2) })).toBe(before);
});

it.each<[string, Trajectory[], KnownOwner, string, boolean]>([
  ['unsure without rewards', [graded('x1')], {}, 'x1', false],
  [
    'of others, if one with a reward is not among the rewards',
    [graded('x1'), graded('y1')],
    knownOwner('x1'),
    'y1',
    true,
  ],
  ['unsure while the run goes on, whose rewards may be late', [graded('x1'), graded('x2')], soFar('x1'), 'x2', false],
  ['unsure while it goes on without rewards', [graded('x1'), failed('x2')], soFar(), 'x1 x2', false],
  ['unsure if one has a reward where the ended run has none', [graded('x1')], knownOwner('', 1), 'x1', false],
  ['own, if they failed, where the ended run has no rewards', [failed('x1')], knownOwner('', 1), '', false],
  ['of others, if they are more than its total', [row('x1'), row('y1')], knownOwner('x1', 1), 'y1', true],
  ['own, if they have its rewards', [graded('x1'), graded('x2')], knownOwner('x1 x2', 2), '', false],
  [
    'own, if they have its rewards and the total is unknown',
    [graded('x1'), graded('x2')],
    knownOwner('x1 x2'),
    '',
    false,
  ],
  ['own, if the total has room for those that failed', [graded('x1'), failed('x2')], knownOwner('x1', 2), '', false],
  ['unsure where they failed, without a total', [graded('x1'), failed('x2')], knownOwner('x1'), 'x2', false],
  ['unsure where the total is too small to be right', [graded('x1'), row('x2')], knownOwner('x1', 0), 'x2', false],
  ['own, if the rewards without an id may be theirs', [graded('x1'), graded('x2')], knownOwner('x1 -', 2), '', false],
  ['of others, if these are fewer', [graded('x1'), graded('x2'), graded('x3')], knownOwner('x1 -'), 'x2 x3', true],
  [
    'unsure, if rewards may be late for as many as its total',
    [graded('x1'), graded('x2')],
    knownOwner('x1', 2),
    'x2',
    false,
  ],
  ['own, if their ids are in capitals', [graded(uuid.toUpperCase())], knownOwner(uuid, 1), '', false],
  ['own, if the total has room for those of all pages', [failed('x3')], knownOwner('x1', 3, failed('x2')), '', false],
  ['of others, if it has none for those of all pages', [failed('x3')], knownOwner('x1', 2, failed('x2')), 'x3', true],
  ['own, if the same row is on two pages', [failed('x2')], knownOwner('x1', 2, failed('x2'), graded('x1')), '', false],
  [
    'of others, if rewards without an id are too few for all',
    [graded('x3')],
    knownOwner('-', undefined, graded('x2')),
    'x3',
    true,
  ],
])('rows that name no run are %s', (_, rows, about, unsure, isMixed) => {
  const found = ownRows(rows, { eval_run_id: 'r1' }, about);
  expect([found.others, found.isMixed, idsOf(found.unsure)]).toEqual([0, isMixed, unsure]);
  expect(idsOf(found.own)).toBe(idsOf(rows));
});

/** A run that has ended. @param ids of the rewards; `-` for one without */
function knownOwner(ids = '', total?: number, ...earlier: Trajectory[]): KnownOwner {
  const rewards = ids === '' ? [] : rewardsOf(...ids.split(' ').map(id => (id === '-' ? '' : id)));
  return { rewards, isOver: true, total, earlier };
}

/** A running run. */
function soFar(ids?: string): KnownOwner {
  return { ...knownOwner(ids), isOver: false };
}

it.each([
  ['lack a row', 'x1', 'x1 x2', true],
  ['have one without its id for the row', 'x1 -', 'x1 x2', false],
  ['have fewer without an id than rows', '- -', 'x1 x2 x3', true],
])('rewards that %s', (_, ids, rows, lack) => {
  const rewards = rewardsOf(...ids.split(' ').map(id => id.replace('-', '')));
  expect(lackRewards(rewards, [...rows.split(' ').map(graded), failed('x4')])).toBe(lack);
});
