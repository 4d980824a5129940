/** The audit of a training run: its findings, their rollouts, and its accuracy. */
import { describe, expect, it } from 'vitest';
import { createPrng } from '../../src/base/prng.ts';
import type { Trajectory } from '../../src/contract/trajectories.ts';
import { type AuditHeldOut, type AuditRollout, type AuditStep, audit, textsToRead } from '../../src/present/audit.ts';
import { answerOf } from '../../src/present/task-groups.ts';
import { auditedRun, faultNames, isNamed } from '../../tools/bench/audit-runs.ts';

const range = [0, 1] as const;
/** Three steps of eight tasks with four rollouts each. */
const stepsOf = (rollout: (task: number, sample: number, step: number) => AuditRollout): AuditStep[] =>
  [1, 2, 3].map(step => ({
    step,
    rewards: Array.from({ length: 32 }, (_, index) => {
      const [task, sample] = [Math.floor(index / 4), index % 4];
      return {
        ...{ trajectory_id: `${step} ${task} ${sample}`, task_id: `task ${task}`, question: `question ${task}` },
        ...{ answer: `answer ${task} ${sample}`, reward: sample % 2, completion_tokens: 10 },
        ...rollout(task, sample, step),
      };
    }),
  }));
const found = (steps: readonly AuditStep[]) => audit({ trainer: [], heldOut: [], steps, range });

describe('the audit', () => {
  it('finds nothing if some of the rollouts are correct', () => {
    expect(found(stepsOf(() => ({})))).toEqual([]);
    expect(found([])).toEqual([]);
  });

  it('finds a reward that follows length, and names the longest rollouts', () => {
    const [finding] = found(
      stepsOf((task, sample) => ({ reward: sample / 4, completion_tokens: 100 - 10 * task + sample })),
    );
    expect(finding).toMatchObject({ kind: 'length', of: 96 });
    expect(finding?.words).toMatch(/^longer answers get more reward: rank correlation 1\.00 within tasks, 95% /);
    expect(finding?.evidence[0]).toMatchObject({ trajectory_id: '1 0 3', completion_tokens: 103 });
    // Between the tasks it may depend on the length: some are harder.
    expect(
      found(stepsOf((task, sample) => ({ reward: (task % 4) / 4 + sample / 100, completion_tokens: 9 * task }))),
    ).toEqual([]);
  });

  it.each([
    [1, 64],
    [2, 64],
    [3, 16],
  ])('finds it in few tasks with many rollouts each, and only there (rev38data A1): %i of %i', (tasks, samples) => {
    const stepsFor = (rewardOf: (share: number, noise: number) => number, seed: number): AuditStep[] => {
      const { next } = createPrng(seed);
      return [1, 2, 3].map(step => ({
        step,
        rewards: Array.from({ length: tasks * samples }, (_, index) => {
          const share = next();
          const rollout = { trajectory_id: `${step} ${index}`, task_id: `task ${index % tasks}` };
          return { ...rollout, completion_tokens: Math.round(1000 * share), reward: rewardOf(share, next()) };
        }),
      }));
    };
    for (let seed = 1; seed <= 20; seed += 1) {
      expect(found(stepsFor((share, noise) => share + (noise - 0.5) / 10, seed))).toMatchObject([{ kind: 'length' }]);
      expect(found(stepsFor((_, noise) => noise, seed))).toEqual([]);
    }
  });

  it('does not treat rollouts without a task as one task (B7)', () => {
    const tokens = (task: number, sample: number) => ({ reward: sample / 4, completion_tokens: 10 * task + sample });
    expect(found(stepsOf((task, sample) => ({ ...tokens(task, sample), task_id: null })))).toEqual([]);
    expect(found(stepsOf((_, sample) => ({ ...tokens(0, sample), task_id: '' })))).toEqual([]);
    const [finding] = found(
      stepsOf((task, sample) => ({ ...tokens(task, sample), ...(task < 4 && { task_id: null }) })),
    );
    expect(finding).toMatchObject({ kind: 'length', of: 48 });
    expect(finding?.evidence.every(({ task_id }) => task_id)).toBe(true);
    // As many as of eight tasks, not two.
    expect(textsToRead(stepsOf(() => ({ task_id: undefined })))).toHaveLength(24);
  });

  it('finds one answer to many questions, or no answers at all', () => {
    const [same] = found(stepsOf(() => ({ answer: 'Yes!' })));
    expect(same).toMatchObject({ kind: 'answer', of: 96 });
    expect(same?.words).toBe(
      '8 of 8 questions got the answer "yes" at least once: 100% of 96 answers read, in steps 1 to 3',
    );
    const [empty] = found(stepsOf(() => ({ answer: '' })));
    expect(empty?.words).toContain('got an answer without words at least once');
    // A short answer may be right for several questions.
    expect(found(stepsOf((task, sample) => ({ answer: task % 3 === 0 ? 'no' : `yes ${task} ${sample}` })))).toEqual([]);
  });

  it('finds a short answer to most questions, but not one of two equally frequent ones', () => {
    const [nine] = found(stepsOf((task, sample) => ({ answer: sample < 2 ? '9' : `9 and ${task} ${sample}` })));
    expect(nine?.words).toBe(
      '8 of 8 questions got the answer "9" at least once: 50% of 96 answers read, in steps 1 to 3',
    );
    expect(found(stepsOf((_, sample) => ({ answer: sample < 2 ? 'yes' : 'no' })))).toEqual([]);
    expect(found(stepsOf((task, sample) => ({ answer: task < 5 ? '9' : `${task} ${sample}` })))).toEqual([]);
  });

  it('finds cut-off answers that pass, unless the reward is partial', () => {
    const cut = (reward: number, whole = reward) =>
      stepsOf(task => (task < 6 ? { finish_reason: 'length', reward } : { finish_reason: 'stop', reward: whole }));
    const [finding] = found(cut(1));
    expect(finding).toMatchObject({ kind: 'cut_off', of: 72 });
    expect(finding?.words).toBe(
      '75% of 96 answers read were cut off at the token limit, and 100% of these get the highest reward, in steps 1 to 3',
    );
    expect(found(cut(0, 1)).map(({ kind }) => kind)).toEqual(['cut_off']);
    expect(found(cut(0, 1))[0]?.words).toContain('100% of these get the lowest reward');
    const cutAt = (tokens: (task: number) => number) =>
      found(stepsOf(task => ({ finish_reason: task < 6 ? 'length' : 'stop', reward: 1, cut_off_at: tokens(task) })))[0]
        ?.words;
    expect(cutAt(() => 16)).toContain('were cut off at the token limit of 16, and');
    expect(cutAt(task => 16 + task)).toContain('were cut off at the token limit, and');
    // The limit is not the cause if the other answers get no reward either.
    expect(found(cut(0)).map(({ kind }) => kind)).toEqual(['never']);
    expect(found(stepsOf(() => ({ reward: 1, finish_reason: 'stop' })))).toEqual([]);
  });

  it('treats a reward as partial if the newest rewards are, whatever the earlier ones were', () => {
    const withPartial = (partial: number) =>
      stepsOf((task, sample, step) => ({
        finish_reason: 'length',
        reward: step === 3 && task * 4 + sample < partial ? 0.9 : 1,
      }));
    expect(found(withPartial(5))).toEqual([]);
    const earlier = { step: 0, rewards: Array.from({ length: 32 }, () => ({ reward: 0.5 })) };
    const [finding] = found([earlier, ...withPartial(4)]);
    expect(finding).toMatchObject({ kind: 'cut_off', of: 92 });
    expect(finding?.words).toContain('95.8% of these get the highest reward');
  });

  it('finds answers that repeat themselves, and duplicate tasks', () => {
    const [repeated] = found(stepsOf((task, sample) => ({ answer: `${`go${task} `.repeat(8)}end${sample}` })));
    expect(repeated).toMatchObject({ kind: 'repetition', of: 96 });
    const [asked] = found(stepsOf(task => ({ question: `question ${task % 2}` })));
    expect(asked?.words).toBe(
      '8 of 8 tasks read share a question with another task: 2 questions in all, in steps 1 to 3',
    );
  });

  it('tells a reward that never comes from one that rarely comes', () => {
    expect(found(stepsOf(() => ({ reward: 0 }))).map(({ kind }) => kind)).toEqual(['never']);
    expect(found(stepsOf(task => (task === 0 ? { reward: 1 } : { reward: 0 }))).map(({ kind }) => kind)).toEqual([]);
    const hard = found(stepsOf((task, sample, step) => ({ reward: task === 0 && sample === 0 && step === 1 ? 1 : 0 })));
    expect(hard[0]?.words).toBe('23 of 24 groups have only the lowest reward, in steps 1 to 3: the tasks are too hard');
  });

  it('finds a held-out reward that does not follow the trainer, if that is certain', () => {
    const trainer = Array.from({ length: 20 }, (_, index) => ({ step: index + 1, value: 0.2 + index / 30 }));
    const withHeldOut = (...heldOut: AuditHeldOut[]) =>
      audit({ trainer, heldOut, steps: stepsOf(() => ({})), range }).map(({ kind }) => kind);
    const at = (step: number, reward: number, samples?: number) => ({ step, reward, samples });
    expect(withHeldOut(at(0, 0.3, 500), at(10, 0.31, 500), at(20, 0.29, 500))).toEqual(['held_out']);
    expect(withHeldOut(at(0, 0.3, 500), at(10, 0.5, 500), at(20, 0.8, 500))).toEqual([]);
    // It may have risen as much, as far as so few samples tell.
    expect(withHeldOut(at(0, 0.3, 10), at(10, 0.31, 10), at(20, 0.29, 10))).toEqual([]);
    // With an unknown number of samples, only a fall counts.
    expect(withHeldOut(at(0, 0.3), at(10, 0.31), at(20, 0.31))).toEqual([]);
    expect(withHeldOut(at(0, 0.3), at(10, 0.31), at(20, 0.25))).toEqual(['held_out']);
    const [fall] = audit({ trainer, heldOut: [at(0, 0.41, 60), at(10, 0.4, 60), at(20, 0.05, 60)], steps: [], range });
    expect(fall?.words).toMatch(/went from 0\.410 to 0\.0500, by its 95% interval a fall of at least 0\.22/);
  });

  it('finds a held-out reward that has certainly fallen from its best, whatever the trainer reward', () => {
    const heldOut = [0.35, 0.74, 0.4, 0.05].map((reward, index) => ({ step: index * 50, reward, samples: 60 }));
    const [fall] = audit({ trainer: [], heldOut, steps: [], range });
    expect(fall?.words).toMatch(
      /^from its best at step 50 to step 150 the held-out reward fell from 0\.740 to 0\.0500, by its 95% interval at least 0\.5/,
    );
    expect(audit({ trainer: [], heldOut: heldOut.map(each => ({ ...each, samples: 3 })), steps: [], range })).toEqual(
      [],
    );
    expect(audit({ trainer: [], heldOut: heldOut.slice(0, 2), steps: [], range })).toEqual([]);
  });

  it('takes the call, its arguments and the text before it as the answer of an agent', () => {
    const call = (name: string, text: object) =>
      JSON.stringify([{ function: { name, arguments: JSON.stringify(text) } }]);
    const answer = (...messages: object[]) => answerOf({ steps: [{ messages }] } as unknown as Trajectory);
    const said = { role: 'assistant', content: 'Refunded 41.50.' };
    expect(answer(said, { role: 'assistant', content: 'submit', tool_calls: call('submit', {}) })).toMatch(
      /^Refunded 41\.50\.\nsubmit/,
    );
    expect(answer({ role: 'assistant', content: '', tool_calls: call('answer', { value: 7 }) })).toMatch(/answer.*7/s);
    expect(answer({ role: 'assistant', content: '', tool_calls: call('look', {}) }, said)).toBe('Refunded 41.50.');
    expect(answer({ role: 'user', content: 'Hello' })).toBeUndefined();
    // What is graded: neither an earlier text nor an example in the prompt (attack34 B5).
    const empty = { role: 'assistant', content: '' };
    expect(answer(said, { role: 'user', content: 'final answer only' }, empty)).toBeUndefined();
    expect(answer(said, { role: 'user', content: 'Now you' }, { ...empty, finish_reason: 'stop' })).toBeUndefined();
    const asked = { ...empty, finish_reason: 'stop', tool_calls: call('look', {}) };
    expect(answer(said, { role: 'user', content: 'Now you' }, asked)).not.toContain('Refunded');
  });

  it('reads two rollouts of each of eight tasks in the newest three steps', () => {
    const ids = textsToRead([{ step: 0, rewards: [{ trajectory_id: 'old' }] }, ...stepsOf(() => ({}))]);
    expect(new Set(ids).size).toBe(48);
    expect(ids).not.toContain('old');
  });

  it('reads as many rollouts from fewer tasks or steps, and skips steps without rollouts', () => {
    const few = stepsOf(task => ({ task_id: `task ${task % 2}` }));
    expect(textsToRead(few)).toHaveLength(48);
    expect(textsToRead(few.slice(0, 1))).toHaveLength(32);
    expect(textsToRead([...few, { step: 4, rewards: [] }])).toEqual(textsToRead(few));
    expect(textsToRead([])).toEqual([]);
  });
});

// A small part of `npm run bench -- audit`.
describe('the audit of runs of the local service', () => {
  it.each(faultNames)('finds within five steps: %s', fault => {
    expect(isNamed(auditedRun(1, fault))).toBe(true);
  });

  it('finds nothing in sound runs', () => {
    for (const seed of [1, 2, 3]) expect(auditedRun(seed, undefined, 8).findings.flat()).toEqual([]);
  });
});
