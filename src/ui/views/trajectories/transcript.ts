/**
 * A trajectory as lines to read: what was said in each step, by whom, what it cost, what went wrong. Pure, and linear in
 * the length of the text, so that megabytes open at once; the screen shows a window of the lines.
 */

import type { Trajectory, TrajectoryMessage, TrajectoryStep } from '../../../contract/trajectories.ts';
import * as numbers from '../../../text/numbers.ts';
import { own } from '../../../text/own.ts';
import { sanitise, sanitiseLine } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';

export type LineKind =
  | 'step'
  | 'system'
  | 'user'
  | 'assistant'
  | 'tool'
  | 'role'
  | 'text'
  | 'reasoning'
  | 'call'
  | 'response'
  | 'meta'
  | 'error'
  | 'fold'
  | 'blank';

export interface TranscriptLine {
  readonly kind: LineKind;
  readonly text: string;
  /** Index of the step in the trajectory's `steps`, or -1 before the first. */
  readonly step: number;
}

export interface Transcript {
  readonly lines: readonly TranscriptLine[];
  /** First line of each step. */
  readonly stepStarts: readonly number[];
  /** Lines that begin an error. */
  readonly errors: readonly number[];
}

export interface TranscriptOptions {
  /** Cells available. */
  readonly width: number;
  /** Show what the model thought, instead of saying how long it is. */
  readonly showReasoning: boolean;
  /** Show tool calls and responses in full, instead of their first lines. */
  readonly showTools: boolean;
  /** Make hidden characters visible instead of dropping them. */
  readonly showHidden: boolean;
}

/** Lines of a folded tool call or response. */
const foldedLines = 6;
const indent = '  ';

const roleKinds: Readonly<Record<string, LineKind>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
};

/** JSON with indentation where the text is JSON, the text itself elsewhere. */
export function prettyJson(text: string): string {
  const start = text.trimStart()[0];
  if (start !== '{' && start !== '[') return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

class Writer {
  readonly lines: TranscriptLine[] = [];
  readonly stepStarts: number[] = [];
  readonly errors: number[] = [];
  readonly #options: TranscriptOptions;
  #step = -1;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  beginStep(index: number): void {
    this.#step = index;
    this.stepStarts.push(this.lines.length);
  }

  line(kind: LineKind, text: string): void {
    this.lines.push({ kind, text, step: this.#step });
  }

  blank(): void {
    if (this.lines.at(-1)?.kind !== 'blank') this.line('blank', '');
  }

  error(text: string): void {
    this.errors.push(this.lines.length);
    this.paragraph('error', text);
  }

  /** Wraps a text that came over the wire; where `most` is given, says how many lines are folded away. */
  paragraph(kind: LineKind, text: string, most = Number.POSITIVE_INFINITY): void {
    const clean = sanitise(text, { multiline: true, mode: this.#options.showHidden ? 'show' : 'drop' });
    const wrapped = wrap(clean, Math.max(8, this.#options.width - indent.length));
    // One line more costs as much as the note that it is missing.
    const shown = wrapped.length > most + 1 ? wrapped.slice(0, most) : wrapped;
    for (const line of shown) this.line(kind, indent + line);
    if (shown.length < wrapped.length) this.line('fold', `${indent}… ${wrapped.length - shown.length} more lines`);
  }
}

function tokensOf({ prompt_tokens, completion_tokens }: TrajectoryMessage): string[] {
  const parts: string[] = [];
  if (prompt_tokens != null) parts.push(`${numbers.count(prompt_tokens)} in`);
  if (completion_tokens != null) parts.push(`${numbers.count(completion_tokens)} out`);
  return parts;
}

function writeMessage(writer: Writer, message: TrajectoryMessage, options: TranscriptOptions): void {
  const role = sanitiseLine(message.role ?? 'unknown role');
  const facts = [...tokensOf(message)];
  if (message.finish_reason) facts.push(`finish ${sanitiseLine(message.finish_reason)}`);
  writer.line(own(roleKinds, role) ?? 'role', facts.length > 0 ? `${role}  ·  ${facts.join('  ·  ')}` : role);
  if (message.reasoning) {
    if (options.showReasoning) writer.paragraph('reasoning', message.reasoning);
    else writer.line('fold', `${indent}reasoning, ${numbers.count(message.reasoning.length)} characters folded`);
  }
  if (message.content) writer.paragraph('text', message.content);
  const most = options.showTools ? Number.POSITIVE_INFINITY : foldedLines;
  if (message.tool_calls) {
    writer.line('meta', `${indent}tool calls`);
    writer.paragraph('call', prettyJson(message.tool_calls), most);
  }
  if (message.tool_response) {
    writer.line('meta', `${indent}tool response`);
    writer.paragraph('response', prettyJson(message.tool_response), most);
  }
  if (!message.content && !message.tool_calls && !message.tool_response && !message.reasoning) {
    writer.line('meta', `${indent}(empty)`);
  }
  writer.blank();
}

/** The step's title: its number, its reward, whether it failed. A missing reward is not 0 and is said so. */
export function stepTitle(step: TrajectoryStep, index: number): string {
  const parts = [`Step ${step.step_index ?? index}`, `reward ${numbers.reward(step.reward)}`];
  if (step.has_error) parts.push('error');
  return parts.join('  ·  ');
}

/** Lays the trajectory out for a width. */
export function transcriptOf(trajectory: Trajectory, options: TranscriptOptions): Transcript {
  const writer = new Writer(options);
  if (trajectory.error) {
    writer.error(`Failed: ${trajectory.error}`);
    writer.blank();
  }
  for (const [index, step] of (trajectory.steps ?? []).entries()) {
    writer.beginStep(index);
    writer.line('step', stepTitle(step, index));
    if (step.has_error) writer.error('This step ended in an error.');
    for (const message of step.messages ?? []) writeMessage(writer, message, options);
    if ((step.messages ?? []).length === 0) writer.line('meta', `${indent}(no messages)`);
    writer.blank();
  }
  if ((trajectory.steps ?? []).length === 0) {
    writer.line('meta', trajectory.steps ? 'No steps were recorded.' : 'The service sent no steps.');
  }
  return { lines: writer.lines, stepStarts: writer.stepStarts, errors: writer.errors };
}

/** Index of the step that a line belongs to. */
export function stepAt(transcript: Transcript, line: number): number {
  return transcript.lines[Math.max(0, Math.min(line, transcript.lines.length - 1))]?.step ?? -1;
}

/** The first error after a line, going round at the end; undefined where there is none. */
export function nextError(transcript: Transcript, line: number): number | undefined {
  return transcript.errors.find(error => error > line) ?? transcript.errors[0];
}
