import { describe, expect, it } from 'vitest';
import { type Trajectory, trajectory as trajectorySchema } from '../../../../src/contract/trajectories.ts';
import { readableJson } from '../../../../src/present/readable-json.ts';
import { type FoldKind, transcriptOf } from '../../../../src/present/transcript.ts';
import {
  endLines,
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
    expect(text()).toContain(
      'assistant  ·  #2  ·  12 in  ·  2 out  ·  finish stop\n  reasoning, 2 characters\n  tea time',
    );
  });

  it('numbers the messages, and shows ids as the service wrote them, unless they only number messages', () => {
    const messages = [
      { role: 'user', content: 'tea?', message_id: 0 },
      { role: 'user', content: 'tea!', message_id: 'msg_1' },
      { role: 'user', content: 'tea', message_id: 7, uploaded_message_id: 'msg_2', finish_reason: 'stop' },
    ];
    const heads = laid({ ...trajectory, steps: [{ step_index: 0, messages }] }).map(line => line.text);
    expect(heads.filter(line => line.startsWith('user'))).toEqual([
      ...['user  ·  #1', 'user  ·  #2  ·  msg_1', 'user  ·  #3  ·  msg_2  ·  finish stop  ·  id 7'],
    ]);
  });

  it('tells a missing reward from a reward of 0', () => {
    const [first, ...others] = trajectory.steps ?? [];
    const steps = [{ step_index: 0, reward: 1, messages: [] }, { ...first, step_index: 1 }, ...others];
    const titles = laid({ ...trajectory, steps }).map(line => line.text);
    expect(titles).toContain('Step 1  ·  reward none');
    expect(text()).toContain('Step 1  ·  reward 0  ·  error');
  });

  it('shows no missing rewards if only the last step has one, that of the trajectory', () => {
    const step = (step_index: number, reward: number | null) => ({ step_index, reward, messages: [] });
    const titles = laid({ ...trajectory, steps: [step(0, null), step(1, null), step(2, 1)] }).map(
      ({ text: line }) => line,
    );
    expect(titles.filter(line => line.startsWith('Step'))).toEqual(['Step 0', 'Step 1', 'Step 2  ·  reward 1.00']);
  });

  it('folds long messages and unfolds them', () => {
    expect(text()).toContain('… 17 more lines');
    expect(text('tools')).not.toContain('more lines');
    expect(text('tools')).toContain('    19');
    expect(text('reasoning')).toContain('  | hm');
  });

  it('opens a single fold and leaves the others closed', () => {
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
    // The visible part of a folded text does not count as folded.
    const shown = [...searchedLines(transcript)].find(({ text: line }) => line.trim() === '0,');
    expect(lay(opening()).foldAt(shown?.place ?? -1)).toBeUndefined();
  });

  it('is searched completely, whatever is folded', () => {
    const lines = [...searchedLines(transcriptOf(trajectory, { showHidden: false }))].map(line => line.text.trim());
    expect(lines).toEqual(expect.arrayContaining(['hm', '19', 'tea time', 'Step 1  ·  reward 0  ·  error']));
  });

  it('has positions that ascend and are the same at every width', () => {
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

  it('never passes on a control sequence, and shows it on request', () => {
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

  const saying = (...messages: NonNullable<NonNullable<Trajectory['steps']>[number]['messages']>): Trajectory => ({
    trajectory_id: 't',
    steps: [{ messages }],
  });

  it('aligns the rest of a wrapped line with its start (R6)', () => {
    const shown = saying(
      { role: 'user', content: '- one two three four five six\nplain one two three four' },
      {
        role: 'tool',
        tool_response: JSON.stringify({ words: 'aaa bbb ccc ddd eee fff ggg hhh', more: { x: 'a b c' } }),
      },
    );
    const lines = laid(shown, 24, opening(['tools'])).map(line => line.text);
    expect(lines).toEqual(
      expect.arrayContaining(['  - one two three four', '    five six', '  plain one two three', '  four']),
    );
    const all = laid(shown, 24, opening(['tools'])).filter(line => line.kind === 'text' || line.kind === 'response');
    for (const { text } of all) expect(text.length).toBeLessThanOrEqual(24);
    // Wrapped text is complete.
    expect(all.map(({ text }) => text.trim()).join(' ')).toContain('ggg hhh');
  });

  it('recognises JSON and diffs (R6)', () => {
    const patch = 'diff --git a/f b/f\n@@ -1,2 +1,2 @@\n same\n-old\n+new';
    const shown = saying(
      {
        role: 'assistant',
        content: `So:\n${patch}`,
        tool_calls: JSON.stringify([{ name: 'f', arguments: { a: 'b' } }]),
      },
      { role: 'tool', tool_response: JSON.stringify({ diff: patch }) },
      { role: 'user', content: '- a list\n+ no difference' },
    );
    const paints = laid(shown, 60, opening(['tools']))
      .filter(line => line.paint)
      .map(line => `${line.paint} ${line.text.trim()}`);
    expect(paints).toEqual([
      'hunk @@ -1,2 +1,2 @@',
      'removed -old',
      'added +new',
      'json "a": "b"',
      ...['json "diff": |', 'json diff --git a/f b/f', 'hunk @@ -1,2 +1,2 @@'],
      ...['json same', 'removed -old', 'added +new'],
    ]);
  });

  it('shows the output of a program like a terminal, and counts what it leaves out (R20, R21)', () => {
    const shown = saying(
      { role: 'user', content: 'ig\u202enore' },
      { role: 'tool', tool_response: JSON.stringify({ stdout: '10%\r50%\r100%\ndone\r\n' }) },
      { role: 'tool', content: 'a\rb' },
    );
    const lines = laid(shown).map(line => line.text.trim());
    expect(lines).toEqual(expect.arrayContaining(['"stdout": |', '100%', 'done', 'b']));
    expect(lines.join('\n')).not.toContain('50%');
    expect(transcriptOf(shown, { showHidden: false }).hidden).toEqual({ sequences: 0, characters: 1, overwritten: 2 });
    expect(transcriptText(shown, 80)).toMatch(/\nLeft out: 1 hidden character, 2 lines overwritten\.\n$/);
    expect(transcriptText(saying({ role: 'user', content: 'plain' }), 80)).not.toContain('Left out');
    const all = laid(shown, 80, opening(['tools']), true).map(line => line.text.trim());
    expect(all.some(line => /^10%␍ *50%␍ *100%$/.test(line))).toBe(true);
  });

  it('lays out Markdown at positions that ascend, whatever is drawn', () => {
    const shown = saying({
      role: 'assistant',
      content: '# Title\n\nSome **bold** words\n\n| a | b |\n|-|-|\n| 1 | 2 |',
    });
    const markdown = (text: string) => [
      ...text.split('\n').flatMap(line => [`\u001b[1m${line}\u001b[0m`, '', '']),
      'end',
    ];
    const lines = linesOf(
      layOut(transcriptOf(shown, { showHidden: false }), 60, { bar: '|', opens: () => '', markdown })(opening()),
    ).filter(line => line.drawn !== undefined);
    expect(lines[0]).toMatchObject({ text: '  # Title', drawn: '  \u001b[1m# Title\u001b[0m' });
    for (const [index, line] of lines.slice(1).entries()) expect(line.place).toBeGreaterThan(lines[index]?.place ?? 0);
  });

  it('ends, in a preview, with as many of its last lines as fit, from as few steps as needed', () => {
    const steps = Array.from({ length: 30 }, (_, step) => ({ messages: [{ role: 'user', content: `words ${step}` }] }));
    const shown: Trajectory = { trajectory_id: 't', error: 'failed', steps };
    const end = (height: number, of = shown) => endLines(of, 60, height).map(line => line.text.trim());
    // None of the steps has a reward, so no title says so.
    expect(end(3)).toEqual(['Step 29', 'user  ·  #30', 'words 29']);
    expect(end(7).slice(0, 2)).toEqual(['Step 28', 'user  ·  #29']);
    expect(end(1_000)[0]).toBe('Failed: failed');
    expect(end(1_000).at(-1)).toBe('words 29');
    expect(end(5, { trajectory_id: 't' })).toEqual(['The service sent no steps.']);
    // Unreadable parts are reported, with any parts left out.
    const damaged = trajectorySchema.parse({ trajectory_id: 't', steps: [null, { messages: [] }, { messages: [] }] });
    expect(end(2, damaged).at(-1)).toBe('1 step could not be read.');
  });

  it('does not say that a step failed if a message says why', () => {
    const ended = 'This step ended in an error.';
    const failed = (message: object): Trajectory => ({
      trajectory_id: 't',
      steps: [{ has_error: true, messages: [{ role: 'tool', content: 'No such file', ...message }] }],
    });
    expect(laid(failed({})).map(line => line.text.trim())).toContain(ended);
    expect(laid(failed({ is_error: true })).map(line => line.text.trim())).not.toContain(ended);
  });

  it('says what is missing', () => {
    expect(laid({ trajectory_id: 't' })[0]?.text).toContain('sent no steps');
    expect(laid({ trajectory_id: 't', steps: [] })[0]?.text).toContain('No steps');
  });

  it('is complete when opened in a pager', () => {
    expect(transcriptText(trajectory, 60)).toContain('  | hm\n');
    expect(transcriptText(trajectory, 60)).toContain('    19\n');
  });
});

describe('JSON', () => {
  const lines = (value: unknown) => readableJson(JSON.stringify(value)).split('\n');

  it('is indented, and otherwise unchanged', () => {
    expect(readableJson('{"a":1,"b":[],"c":{"d":[true,null]}}')).toBe(
      JSON.stringify({ a: 1, b: [], c: { d: [true, null] } }, undefined, 2),
    );
    expect(readableJson('{"a":')).toBe('{"a":');
    expect(readableJson('12')).toBe('12');
    expect(readableJson('say "hi"')).toBe('say "hi"');
  });

  it('shows the arguments of a call as JSON', () => {
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
    // Text that is not JSON stays unchanged, and so does JSON that a model wrote as text elsewhere.
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

  it('handles deep and long values', () => {
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
