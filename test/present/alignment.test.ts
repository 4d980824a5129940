/** Two trajectories, aligned by their messages. */

import { expect, it } from 'vitest';
import type { Trajectory } from '../../src/contract/trajectories.ts';
import { align, differingWords, likeFirstDifference, messagesOf } from '../../src/present/alignment.ts';
import { sideBySide } from '../../src/present/side-by-side.ts';
import { displayWidth } from '../../src/text/width.ts';
import fc from '../../tools/rig/property.ts';

type Spoken = readonly [role: string, content: string];
const trajectoryOf = (steps: readonly (readonly Spoken[])[], reward = 0): Trajectory => ({
  ...{ trajectory_id: 't', reward },
  steps: steps.map((spoken, step_index) => ({
    step_index,
    messages: spoken.map(([role, content]) => ({ role, content })),
  })),
});
const alignmentOf = (left: Trajectory, right: Trajectory) => align(messagesOf(left), messagesOf(right));

const good = trajectoryOf(
  [
    [
      ['user', 'List five words with t.'],
      ['assistant', 'I look them up.'],
    ],
    [['tool', '41 words']],
    [['assistant', 'tree, time, tea, two, top']],
  ],
  1,
);
const bad = trajectoryOf([
  [
    ['user', 'List five words with t.'],
    ['assistant', 'I look them up.'],
  ],
  [['tool', '41 words']],
  [['assistant', 'tree, tree, tree']],
  [['tool', 'duplicate']],
]);

it('pairs messages by role around equal ones, and finds the first difference', () => {
  const { pairs, first, differing } = alignmentOf(good, bad);
  expect(pairs.map(({ left, right, isEqual }) => [left?.role, right?.role, isEqual])).toEqual([
    ['user', 'user', true],
    ['assistant', 'assistant', true],
    ['tool', 'tool', true],
    ['assistant', 'assistant', false],
    [undefined, 'tool', false],
    ['rewards', 'rewards', false],
  ]);
  expect([first, differing, pairs[first]?.left?.number]).toEqual([3, 3, 2]);
  // The ids of calls differ in every rollout.
  const called = (id: string): Trajectory => ({
    trajectory_id: 't',
    steps: [
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: JSON.stringify([{ id, function: { name: 'bash', arguments: '{"command":"ls"}' } }]),
          },
        ],
      },
    ],
  });
  expect(alignmentOf(called('call_1'), called('call_2')).first).toBe(-1);
});

/** A trajectory of steps that call a tool with this argument, and get its answer. */
const calling = (...words: readonly string[]): Trajectory =>
  trajectoryOf(
    words.map((word, index) => [
      ...(index === 0 ? [['user', 'What do cheese and torch cost?'] as const] : []),
      ['assistant', `look up ${word}`],
      ['tool', `the price of ${word}`],
    ]),
  );
const saidIn = ({ pairs }: ReturnType<typeof align>) =>
  pairs.map(({ left, right, isEqual }) => [left?.text, isEqual ? '=' : right?.text]);

it('shows what both did at the first difference, even if one of them did it later', () => {
  const right = calling('torch', 'bread', 'cheese', 'salt');
  expect(saidIn(alignmentOf(calling('cheese', 'salt'), right)).slice(0, -1)).toEqual([
    ['What do cheese and torch cost?', '='],
    ['look up cheese', 'look up torch'],
    ['the price of cheese', 'the price of torch'],
    [undefined, 'look up bread'],
    [undefined, 'the price of bread'],
    [undefined, 'look up cheese'],
    [undefined, 'the price of cheese'],
    ['look up salt', '='],
    ['the price of salt', '='],
  ]);
});

it('names the steps of both sides whose equal messages it folds', () => {
  const alignment = alignmentOf(calling('cheese', 'salt', 'rice'), calling('torch', 'bread', 'salt', 'rice'));
  const { lines } = sideBySide(alignment, { width: 120, columns: 2, all: false });
  const folds = lines.filter(({ kind, left }) => kind === 'equal' && left?.text.startsWith('= '));
  expect(folds.map(({ left }) => left?.text)).toEqual([
    '= 1 equal message, step 0',
    '= 5 equal messages, steps 1 to 2 beside steps 2 to 3',
  ]);
});

it('leaves the place beside a message of only one step empty, and pairs the rewards', () => {
  const one = trajectoryOf([
    [
      ['assistant', 'look'],
      ['tool', 'nothing there'],
    ],
  ]);
  const other = trajectoryOf([[['assistant', 'look']], [['assistant', 'look again']], [['tool', 'nothing there']]], 1);
  const rewards = ['reward 0', 'reward 1.00'];
  expect(saidIn(alignmentOf(one, other))).toEqual([
    ['look', '='],
    ['nothing there', undefined],
    [undefined, 'look again'],
    [undefined, 'nothing there'],
    rewards,
  ]);
  const ended = trajectoryOf([[['assistant', 'look']]]);
  expect(saidIn(alignmentOf(ended, other)).slice(-2)).toEqual([[undefined, 'nothing there'], rewards]);
});

it('counts the other rollouts that say the same at the start of the difference', () => {
  const others = [bad, bad, good, trajectoryOf([[['user', 'another']]])].map(messagesOf);
  expect(likeFirstDifference(alignmentOf(good, bad), others)).toEqual({ left: 1, right: 2 });
  expect(likeFirstDifference(alignmentOf(good, good), others)).toBeUndefined();
  // One side has nothing beside the other: it ends there, or is at its next step.
  const ended: Trajectory = { ...bad, steps: (bad.steps ?? []).slice(0, 3) };
  const alike = [ended, { ...ended, reward: 1 }, bad, good].map(messagesOf);
  expect(likeFirstDifference(alignmentOf(ended, bad), alike)).toEqual({ left: 2, right: 1 });
  const [looked, again] = [
    trajectoryOf([[['user', 'a']], [['tool', 'b']]]),
    trajectoryOf([
      [
        ['user', 'a'],
        ['tool', 'c'],
      ],
    ]),
  ];
  const both = [looked, looked, again].map(messagesOf);
  expect(
    likeFirstDifference(
      alignmentOf(
        looked,
        trajectoryOf([
          [
            ['user', 'a'],
            ['assistant', 'c'],
          ],
        ]),
      ),
      both,
    ),
  ).toEqual({
    ...{ left: 2, right: 0 },
  });
});

it('marks the words that differ', () => {
  const [left, right] = ['reads the big file', 'reads a file twice'];
  const [ones, others] = differingWords(left, right);
  expect(ones.map(([from, to]) => left.slice(from, to)).join('|')).toContain('the');
  expect(others.map(([from, to]) => right.slice(from, to))).toContain(' twice');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
      const [marks, otherMarks] = differingWords(one, other);
      const rest = (text: string, of: typeof marks): string => {
        let kept = '';
        let from = 0;
        for (const [start, end] of of) {
          kept += text.slice(from, start);
          from = end;
        }
        return kept + text.slice(from);
      };
      // Unmarked text is the same on both sides.
      expect(rest(one, marks)).toBe(rest(other, otherMarks));
    }),
  );
});

const spoken = fc.tuple(fc.constantFrom('user', 'assistant', 'tool'), fc.constantFrom('a', 'b', 'c d', 'e\nf'));
const steps = fc.array(fc.array(spoken, { maxLength: 3 }), { maxLength: 5 });

it('keeps every message of both sides in order, at any width', () => {
  fc.assert(
    fc.property(steps, steps, fc.integer({ min: 20, max: 140 }), fc.boolean(), (one, other, width, all) => {
      const [left, right] = [messagesOf(trajectoryOf(one)), messagesOf(trajectoryOf(other))];
      const alignment = align(left, right);
      expect(alignment.pairs.flatMap(pair => pair.left ?? [])).toEqual(left);
      expect(alignment.pairs.flatMap(pair => pair.right ?? [])).toEqual(right);
      for (const pair of alignment.pairs) expect(pair.isEqual).toBe(pair.left?.key === pair.right?.key);
      // All is equal up to the first difference, and messages beside each other have the same role.
      const same = left.findIndex(({ role, key }, index) => role !== right[index]?.role || key !== right[index]?.key);
      expect(alignment.first).toBe(same);
      const paired = ({ pairs }: typeof alignment) => pairs.filter(pair => pair.left && pair.right);
      for (const pair of paired(alignment)) expect(pair.left?.role).toBe(pair.right?.role);
      // The first differing messages are side by side, if their roles are the same.
      const differing = alignment.pairs[same];
      if (left[same]?.role === right[same]?.role) expect(differing?.right).toBe(right[same]);
      expect(paired(align(right, left))).toEqual(
        paired(alignment).map(pair => ({ ...pair, left: pair.right, right: pair.left })),
      );
      expect(align(left, left.slice()).differing).toBe(0);
      const columns = width < 100 ? 1 : 2;
      const { lines, differences } = sideBySide(alignment, { width, columns, all });
      expect(differences).toHaveLength(alignment.differing);
      const places = lines.map(({ place }) => place);
      expect(places).toEqual(places.toSorted((before, after) => before - after));
      const room = columns === 1 ? width : Math.floor((width - 3) / 2);
      for (const line of lines) {
        if (line.kind !== 'text') continue;
        expect(Math.max(displayWidth(line.left?.text ?? ''), displayWidth(line.right?.text ?? ''))).toBeLessThanOrEqual(
          room,
        );
      }
    }),
  );
});

it('shows only the part of a long message around its first difference, and how much is left out', () => {
  const long = (end: string): Trajectory => trajectoryOf([[['tool', `${'line\n'.repeat(10_000)}${end}`]]]);
  const { lines } = sideBySide(alignmentOf(long('one'), long('two')), { width: 120, columns: 2, all: false });
  expect(lines.length).toBeLessThan(1_500);
  const shown = lines.map(({ left }) => left?.text);
  expect(shown).toContain('one');
  expect(shown.some(text => /^… \d+ characters before$/.test(text ?? ''))).toBe(true);
});

it('starts at the sentence that differs, deep in a message of any kind, with the equal lines around it folded', () => {
  const sentences = (count: number, from = 0): string[] =>
    Array.from({ length: count }, (_, index) => `Sentence ${from + index} says the same.`);
  for (const between of ['\n', ' ']) {
    // Longer texts are laid out in part: the lengths lie on both sides of that limit.
    for (const [count, more] of [
      [80, ' and more'],
      [190, ` and more${' words'.repeat(170)}`],
      [900, ''],
    ] as const) {
      const long = (said: string): Trajectory =>
        trajectoryOf([[['assistant', [...sentences(count), said, ...sentences(count, count)].join(between)]]]);
      const alignment = alignmentOf(long('Here it calls the tool.'), long(`Here it gives up${more}.`));
      for (const columns of [1, 2] as const) {
        const options = { width: columns === 1 ? 60 : 200, columns };
        const { lines, differences } = sideBySide(alignment, { ...options, all: false });
        const at = lines.findIndex(({ place }) => place >= (differences[0] ?? 0));
        const shown = lines.slice(at, at + 6);
        expect(shown[0]?.left?.text).toContain('Here it calls');
        expect(shown[0]?.left?.marks.length).toBeGreaterThan(0);
        expect(shown.some(({ right }) => right?.text.includes('gives'))).toBe(true);
        // The head, the cut, the fold, and two equal lines.
        expect(at).toBeLessThanOrEqual(5);
        expect(lines.some(({ left }) => /^= \d+ equal lines$/.test(left?.text ?? ''))).toBe(true);
        const all = sideBySide(alignment, { ...options, all: true });
        expect(all.differences).toEqual(differences);
        expect(all.lines.some(({ left }) => left?.text.startsWith('= '))).toBe(false);
      }
    }
  }
});

it('names the roles of both sides in one column if they differ', () => {
  const failing = (is_error: boolean): Trajectory => ({
    ...{
      trajectory_id: 'traj',
      reward: 0,
      steps: [{ step_index: 0, messages: [{ role: 'tool', content: 'x', is_error }] }],
    },
  });
  const alignment = alignmentOf(failing(false), failing(true));
  const { lines } = sideBySide(alignment, { width: 60, columns: 1, all: false });
  expect(alignment.first).toBe(0);
  expect(lines[0]?.left?.text).toBe('step 0  tool, step 0  tool (error)');
});

it('shows the finish reason and the tokens of both sides, even if equal (A1)', () => {
  const answer = (content: string, more: object): Trajectory => ({
    ...{ trajectory_id: 't', reward: 0 },
    steps: [{ step_index: 0, messages: [{ role: 'assistant', content, prompt_tokens: 3, ...more }] }],
  });
  const cutOff = { finish_reason: 'length', completion_tokens: 16 };
  const headsOf = (left: object, right: object, columns: 1 | 2) => {
    const [head] = sideBySide(alignmentOf(answer('a', left), answer('b', right)), {
      width: 100,
      columns,
      all: true,
    }).lines;
    return [head?.left?.text, head?.right?.text].filter(Boolean);
  };
  const words = 'step 0  assistant  finish length  16 out';
  expect(headsOf(cutOff, cutOff, 2)).toEqual([words, words]);
  expect(headsOf(cutOff, cutOff, 1)).toEqual([words]);
  const stop = { finish_reason: 'stop', completion_tokens: 4 };
  expect(headsOf(cutOff, stop, 1)).toEqual([`${words}, finish stop  4 out`]);
  expect(headsOf(stop, {}, 1)).toEqual(['step 0  assistant  finish stop  4 out, end unknown']);
});
