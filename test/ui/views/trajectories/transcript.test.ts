import { describe, expect, it } from 'vitest';
import { type Trajectory, trajectory as trajectorySchema } from '../../../../src/contract/trajectories.ts';
import { readableJson } from '../../../../src/present/readable-json.ts';
import { type FoldKind, transcriptOf } from '../../../../src/present/transcript.ts';
import {
  layOut,
  searchedLines,
  type TranscriptLine,
  type TranscriptLines,
  transcriptText,
} from '../../../../src/present/transcript-lines.ts';

const trajectory: Trajectory = {
  trajectory_id: 't',
  error: 'The grader crashed',
  steps: [
    {
      step_index: 0,
      reward: null,
      messages: [
        { role: 'user', content: 'Say two words.' },
        {
          role: 'assistant',
          reasoning: 'hm',
          content: 'tea time',
          finish_reason: 'stop',
          prompt_tokens: 12,
          completion_tokens: 2,
        },
      ],
    },
    {
      step_index: 1,
      reward: 0,
      has_error: true,
      messages: [{ role: 'tool', tool_response: JSON.stringify(Array.from({ length: 20 }, (_, index) => index)) }],
    },
  ],
};
const opening = (kinds: readonly FoldKind[] = [], places: readonly number[] = []) => ({
  kinds: new Set(kinds),
  places: new Set(places),
});
const linesOf = (lines: TranscriptLines): TranscriptLine[] =>
  Array.from({ length: lines.length }, (_, index) => lines.at(index)).filter(line => line !== undefined);
const laid = (of = trajectory, width = 60, open = opening(), showHidden = false) =>
  linesOf(layOut(transcriptOf(of, { showHidden }), width)(open));
const text = (...kinds: FoldKind[]) =>
  laid(trajectory, 60, opening(kinds))
    .map(line => line.text)
    .join('\n');

describe('a transcript', () => {
  it('shows roles, tokens and the finish reason', () => {
    expect(text()).toContain('assistant  ·  12 in  ·  2 out  ·  finish stop\n  reasoning, 2 characters\n  tea time');
  });

  it('distinguishes a missing reward from a reward of 0', () => {
    expect(text()).toContain('Step 0  ·  reward none');
    expect(text()).toContain('Step 1  ·  reward 0  ·  error');
  });

  it('folds what is long and unfolds it', () => {
    expect(text()).toContain('… 17 more lines');
    expect(text('tools')).not.toContain('more lines');
    expect(text('tools')).toContain('    19');
    expect(text('reasoning')).toContain('  | hm');
  });

  it('opens a single fold and leaves the others', () => {
    const transcript = transcriptOf(trajectory, { showHidden: false });
    const lay = layOut(transcript, 60);
    const hidden = [...searchedLines(transcript)].find(({ text: line }) => line.trim() === '9,');
    const place = lay(opening()).foldAt(hidden?.place ?? -1);
    expect(place).toBeDefined();
    const after = lay(opening([], [place ?? -1]));
    expect(after.foldAt(hidden?.place ?? -1)).toBeUndefined();
    expect(linesOf(after).map(line => line.text.trim())).toEqual(
      expect.arrayContaining(['9,', 'reasoning, 2 characters']),
    );
    // What is shown of a folded text is not folded.
    const shown = [...searchedLines(transcript)].find(({ text: line }) => line.trim() === '0,');
    expect(lay(opening()).foldAt(shown?.place ?? -1)).toBeUndefined();
  });

  it('is searched whole, whatever is folded', () => {
    const lines = [...searchedLines(transcriptOf(trajectory, { showHidden: false }))].map(line => line.text.trim());
    expect(lines).toEqual(expect.arrayContaining(['hm', '19', 'tea time', 'Step 1  ·  reward 0  ·  error']));
  });

  it('has places that ascend and are the same at every width', () => {
    const words = Array.from({ length: 400 }, (_, index) => (index % 50 === 49 ? '漢字   \n\ttab' : `word${index} `));
    const long: Trajectory = {
      trajectory_id: 't',
      steps: [{ messages: [{ role: 'user', content: words.join(' ') }] }],
    };
    const placesOf = (width: number) => {
      const lines = laid(long, width);
      for (const [index, line] of lines.slice(1).entries()) {
        expect(line.place).toBeGreaterThan(lines[index]?.place ?? 0);
      }
      // The place of each word that begins a line, found in the text itself.
      return lines.filter(line => line.kind === 'text').map(line => [line.place, line.text.trim()] as const);
    };
    const source = transcriptOf(long, { showHidden: false }).blocks.find(block => block.kind === 'text');
    for (const width of [20, 37, 60, 200]) {
      for (const [place, line] of placesOf(width)) {
        expect(
          source?.text
            .slice(place - (source?.place ?? 0))
            .trimStart()
            .startsWith(line),
        ).toBe(true);
      }
    }
  });

  it('never lets a control sequence through, and shows it when asked', () => {
    const hostile: Trajectory = {
      trajectory_id: 't',
      steps: [
        {
          messages: [
            {
              role: 'us\u001b[2Jer',
              content: 'a\u001b]52;c;AAAA\u0007b\u202ec',
              tool_calls: JSON.stringify([{ function: { arguments: JSON.stringify({ a: 'x\u001b[2Jy\n\u202e' }) } }]),
              tool_response: JSON.stringify('one\u001b[2J\ntwo'),
            },
          ],
        },
      ],
    };
    const dropped = laid(hostile).map(line => line.text);
    expect(dropped.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(laid(hostile, 60, opening(), true).some(line => line.text.includes('<U+202E>'))).toBe(true);
  });

  it('knows which step a line belongs to and where the next error is', () => {
    const transcript = transcriptOf(trajectory, { showHidden: false });
    const lines = laid();
    expect(lines.find(line => line.place === transcript.steps[1])).toMatchObject({ step: 1, kind: 'step' });
    expect(lines[0]?.step).toBe(-1);
    const { length, at } = layOut(transcript, 60)(opening());
    expect([length, at(-1), at(length)]).toEqual([lines.length, undefined, undefined]);
    expect(transcript.errors).toHaveLength(2);
  });

  it('says what is missing', () => {
    expect(laid({ trajectory_id: 't' })[0]?.text).toContain('sent no steps');
    expect(laid({ trajectory_id: 't', steps: [] })[0]?.text).toContain('No steps');
  });

  it('is whole where it is read outside', () => {
    expect(transcriptText(trajectory, 60)).toContain('  | hm\n');
    expect(transcriptText(trajectory, 60)).toContain('    19\n');
  });
});

describe('JSON', () => {
  const lines = (value: unknown) => readableJson(JSON.stringify(value)).split('\n');

  it('is indented, and everything else is left unchanged', () => {
    expect(readableJson('{"a":1,"b":[],"c":{"d":[true,null]}}')).toBe(
      JSON.stringify({ a: 1, b: [], c: { d: [true, null] } }, undefined, 2),
    );
    expect(readableJson('{"a":')).toBe('{"a":');
    expect(readableJson('12')).toBe('12');
    expect(readableJson('say "hi"')).toBe('say "hi"');
  });

  it('shows the arguments of a call as what they are', () => {
    const call = { function: { name: 'bash', arguments: JSON.stringify({ cmd: 'pytest -x', limit: 3 }) } };
    expect(lines([call])).toEqual([
      '[',
      '  {',
      '    "function": {',
      '      "name": "bash",',
      '      "arguments": {',
      '        "cmd": "pytest -x",',
      '        "limit": 3',
      '      }',
      '    }',
      '  }',
      ']',
    ]);
    // What is no JSON, and JSON that a model wrote as a text elsewhere, stays the text that it is.
    expect(lines({ arguments: 'ls -l', edits: '[1]' })).toEqual([
      '{',
      '  "arguments": "ls -l",',
      '  "edits": "[1]"',
      '}',
    ]);
  });

  it('shows texts of several lines as lines', () => {
    expect(lines({ stdout: 'one\n  two\n', code: 1 })).toEqual([
      '{',
      '  "stdout": |',
      '    one',
      '      two',
      '  "code": 1',
      '}',
    ]);
    expect(lines({ all: ['a\nb', 'c'] })).toEqual([
      '{',
      '  "all": [',
      '    |',
      '      a',
      '      b',
      '    "c"',
      '  ]',
      '}',
    ]);
    expect(readableJson(JSON.stringify('one\ntwo'))).toBe('one\ntwo');
  });

  it('changes no number, key or escape', () => {
    const text = '{"n":12345678901234567890,"n":1e400,"q":"a\\"b\\\\","__proto__":{"t":"\\t"}}';
    expect(readableJson(text).replaceAll(/\n\s*|(?<=:) /g, '')).toBe(text);
  });

  it('takes what is deep or long', () => {
    const deep = '['.repeat(1_000) + ']'.repeat(1_000);
    expect(readableJson(deep).split('\n').length).toBe(1_999);
    expect(readableJson(`[${deep}]`)).toBe(`[${deep}]`);
    const long = JSON.stringify({ text: `${'\\'.repeat(100_001)}\n"` });
    expect(readableJson(long).length).toBeGreaterThan(100_000);
  });
});

it('says which of its steps and messages could not be read', () => {
  const read = trajectorySchema.parse({
    trajectory_id: 't',
    steps: [null, { step_index: 0, messages: [7, { role: 'user', content: 'hello' }] }],
  });
  const { blocks, errors } = transcriptOf(read, { showHidden: false });
  const texts = blocks.map(({ text }) => text);
  expect(texts).toContain('1 message could not be read.');
  expect(texts).toContain('1 step could not be read.');
  expect(errors).toHaveLength(2);
});
