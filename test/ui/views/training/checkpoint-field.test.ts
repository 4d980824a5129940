/** The choice of a checkpoint: its rows, its names, and the errors of a name. */
import { describe, expect, it } from 'vitest';
import { notePage } from '../../../../src/contract/lists.ts';
import {
  type CheckpointChoice,
  checkpointField,
  nameProblem,
  offeredOf,
} from '../../../../src/ui/views/training/checkpoint-field.ts';

const first = { training_run_id: 'trn_1', display_name: 'first', base_model_slug: 'acme/small' };
const other = { training_run_id: 'trn_2', display_name: 'other', base_model_slug: 'acme/large' };
const checkpoints = [10, 20, 30].map(step => ({
  checkpoint_id: `ckpt_${step}`,
  step_index: step,
  is_deployable: step !== 10,
}));
const heldOut = [
  { step: 10, held_out_reward: 0.4, completed_samples: 100 },
  { step: 20, held_out_reward: 0.7 },
];
const offered = offeredOf(first, checkpoints, heldOut, [], [0, 1]);
const choice: CheckpointChoice = { offered, runs: [first], isOfOne: true, problem: () => 'no such one' };
const shared = { name: 'checkpoint', label: 'Checkpoint', initial: '' };
const fieldOf = (more: object = {}) => checkpointField({ ...choice, ...more }, shared);

describe('the rows', () => {
  it('have the newest first, the held-out reward with its interval if known, and the best', () => {
    expect(fieldOf().options.map(({ label, facts = [] }) => [label, ...facts].join('|'))).toEqual([
      'step 30|||||',
      'step 20|held-out 0.700|best|||',
      expect.stringMatching(/^step 10\|held-out 0\.400\|\|0\.3\d+\.\.0\.5\d+\|\|cannot be deployed$/),
    ]);
  });

  it('name their run if there are several, and another model', () => {
    const [row] = fieldOf({ runs: [first, other], isOfOne: false, model: 'acme/large' }).options;
    expect([row?.label, row?.facts?.[0]]).toEqual(['step 30 of first', 'other model']);
  });

  it('are found by the names that commands take, unless two runs share a name', () => {
    const aliases = (more: object) => fieldOf(more).options.map(each => each.aliases?.join(' '));
    expect(aliases({ runs: [first, other], isOfOne: false })).toEqual([
      'trn_1@latest trn_1@30 trn_1 first@latest first@30 first',
      'trn_1@best trn_1@20 first@best first@20',
      'trn_1@10 first@10',
    ]);
    expect(aliases({ runs: [first, { ...other, display_name: 'first' }], isOfOne: false })[1]).toBe(
      'trn_1@best trn_1@20',
    );
    const named = (display_name: string) => aliases({ runs: [first, { ...other, display_name }], isOfOne: false });
    expect([named('first@30')[0], named('trn_1@30')[0]]).toEqual([
      'trn_1@latest trn_1@30 trn_1 first@latest first',
      'trn_1@latest trn_1@30 trn_1 first@latest first@30 first',
    ]);
  });

  it('are neither the latest nor the best of a partly read list', () => {
    const some = [...checkpoints];
    notePage(some, { dropped: 1, cursor: null });
    const { options } = fieldOf({ offered: offeredOf(first, some, heldOut, [], [0, 1]) });
    expect(options.flatMap(({ aliases = [] }) => aliases)).toEqual([
      'trn_1@30',
      'first@30',
      '30',
      'trn_1@20',
      'first@20',
      '20',
      'trn_1@10',
      'first@10',
      '10',
    ]);
    const state = { isRead: true, error: undefined, unread: '1 checkpoint could not be read' };
    const problem = nameProblem('first@best', [first], { loaded: true, complete: true }, () => state);
    expect(problem).toBe('best is not known: 1 checkpoint could not be read. Use an id');
  });

  it('are not found by a name that looks like an id', () => {
    const run = { ...first, display_name: 'ckpt_9' };
    const [row] = checkpointField(
      { ...choice, offered: offeredOf(run, checkpoints, [], [], [0, 1]), runs: [run] },
      shared,
    ).options;
    expect(row?.aliases).toEqual(['trn_1@latest', 'trn_1@30', 'trn_1', 'ckpt_9@latest', 'ckpt_9@30', 'latest', '30']);
  });
});

it('checks the selected and the typed checkpoint', () => {
  expect(fieldOf().check?.('')).toContain('Choose a checkpoint');
  expect(fieldOf().check?.('ckpt_10')).toBeUndefined();
  expect(fieldOf().check?.('first@40')).toBe('no such one');
  const optional = checkpointField(choice, { ...shared, none: 'the base model', refuses: () => 'refused' });
  expect(optional.options[0]).toEqual({ value: '', label: 'the base model' });
  expect([optional.check?.(''), optional.check?.('ckpt_10')]).toEqual([undefined, 'refused']);
});

it.each([
  ['ckpt_9', undefined],
  ['c-9', undefined],
  ['first@best', 'first has no checkpoint best: none has a held-out reward'],
  ['first@', 'Add a step after @, or latest or best'],
  ['other@5', 'Reading the checkpoints of other…'],
  ['gone@5', 'The checkpoints of gone could not be read: broken'],
  ['unmeasured@best', 'The held-out rewards of unmeasured could not be read: broken'],
  ['unmeasured@5', 'unmeasured has no checkpoint 5'],
  ['twice@5', '2 training runs are called twice: use the id of one'],
  ['first@7', 'Use trn_6 or trn_1@7: first@7 has 2 meanings'],
  ['first@x', 'Reading the checkpoints of first@x…'],
  ['none@5', 'No training run here is called none, among the ones read so far: use an id'],
])('%s: %s', (word, words) => {
  const twice = ['trn_3', 'trn_4'].map(id => ({ training_run_id: id, display_name: 'twice' }));
  const named = ['first@7', 'first@x'].map((name, at) => ({ training_run_id: `trn_${6 + at}`, display_name: name }));
  const broken = ['gone', 'unmeasured'].map((name, at) => ({ training_run_id: `trn_5${at}`, display_name: name }));
  const runs = [...named, first, other, ...broken, ...twice];
  const stateOf = ({ training_run_id: id }: { training_run_id: string }) =>
    ['trn_2', 'trn_7'].includes(id)
      ? undefined
      : {
          isRead: true,
          error: id === 'trn_50' ? new Error('broken') : undefined,
          heldOutError: id === 'trn_51' ? new Error('broken') : undefined,
        };
  expect(nameProblem(word, runs, { loaded: true, complete: false }, stateOf)).toBe(words);
  expect(nameProblem('x@1', [], { loaded: false, complete: false }, stateOf)).toBe('Reading the training runs…');
});
