import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../../../../src/contract/trajectories.ts';
import {
  nextError,
  prettyJson,
  stepAt,
  type TranscriptOptions,
  transcriptOf,
} from '../../../../src/ui/views/trajectories/transcript.ts';

const folded: TranscriptOptions = { width: 60, showReasoning: false, showTools: false, showHidden: false };
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
const text = (options: Partial<TranscriptOptions> = {}) =>
  transcriptOf(trajectory, { ...folded, ...options })
    .lines.map(line => line.text)
    .join('\n');

describe('transcriptOf', () => {
  it('shows roles, tokens and the finish reason', () => {
    expect(text()).toContain(
      'assistant  ·  12 in  ·  2 out  ·  finish stop\n  reasoning, 2 characters folded\n  tea time',
    );
  });

  it('tells a missing reward from a reward of 0', () => {
    expect(text()).toContain('Step 0  ·  reward none');
    expect(text()).toContain('Step 1  ·  reward 0  ·  error');
  });

  it('folds what is long and unfolds it', () => {
    expect(text()).toContain('… 16 more lines');
    expect(text({ showTools: true })).not.toContain('more lines');
    expect(text({ showTools: true })).toContain('    19');
    expect(text({ showReasoning: true })).toContain('  hm');
  });

  it('never lets a control sequence through, and shows it when asked', () => {
    const hostile: Trajectory = {
      trajectory_id: 't',
      steps: [{ messages: [{ role: 'us\u001b[2Jer', content: 'a\u001b]52;c;AAAA\u0007b\u202ec' }] }],
    };
    const dropped = transcriptOf(hostile, folded).lines.map(line => line.text);
    expect(dropped.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(
      transcriptOf(hostile, { ...folded, showHidden: true }).lines.some(line => line.text.includes('<U+202E>')),
    ).toBe(true);
  });

  it('knows which step a line belongs to and where the next error is', () => {
    const transcript = transcriptOf(trajectory, folded);
    expect(transcript.errors).toHaveLength(2);
    expect(stepAt(transcript, transcript.stepStarts[1] ?? 0)).toBe(1);
    expect(stepAt(transcript, 0)).toBe(-1);
    expect(nextError(transcript, 0)).toBe(transcript.errors[1]);
    expect(nextError(transcript, 10_000)).toBe(transcript.errors[0]);
  });

  it('says what is missing', () => {
    expect(transcriptOf({ trajectory_id: 't' }, folded).lines[0]?.text).toContain('sent no steps');
    expect(transcriptOf({ trajectory_id: 't', steps: [] }, folded).lines[0]?.text).toContain('No steps');
  });
});

describe('prettyJson', () => {
  it('indents JSON and leaves everything else as it came', () => {
    expect(prettyJson('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(prettyJson('{"a":')).toBe('{"a":');
    expect(prettyJson('12')).toBe('12');
  });
});
