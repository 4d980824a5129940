/**
 * A trajectory as blocks of text: the messages of each step, their cost, and errors. Every character has a position
 * that depends on the trajectory alone, not on the width or the folds. Pure, and linear in the length of the text, so
 * that megabytes open quickly.
 */
import { unreadableIn } from '../contract/common.ts';
import type { Trajectory, TrajectoryMessage, TrajectoryStep } from '../contract/trajectories.ts';
import * as numbers from '../text/numbers.ts';
import { sanitise, sanitiseLine } from '../text/sanitise.ts';
import { expandTabs } from '../text/width.ts';
import { readableJson } from './readable-json.ts';

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

/** What can be folded: reasoning entirely, tool calls and responses after their first lines. */
export type FoldKind = 'reasoning' | 'tools';

/** A text in one style, safe for a terminal. */
export interface Block {
  readonly kind: LineKind;
  /** May have several lines. */
  readonly text: string;
  /** Its position. */
  readonly place: number;
  /** Index of the step in the trajectory's `steps`, or -1 before the first. */
  readonly step: number;
  readonly indented: boolean;
  readonly fold?: FoldKind | undefined;
}

export interface Transcript {
  /** Ordered by position. */
  readonly blocks: readonly Block[];
  /** Position of each step. */
  readonly steps: readonly number[];
  /** Positions of errors. */
  readonly errors: readonly number[];
}

export interface TranscriptOptions {
  /** Makes hidden characters visible instead of dropping them. */
  readonly showHidden: boolean;
}

const roleKinds: ReadonlyMap<string, LineKind> = new Map<string, LineKind>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool'],
]);

class Writer {
  readonly blocks: Block[] = [];
  readonly steps: number[] = [];
  readonly errors: number[] = [];
  readonly #options: TranscriptOptions;
  #step = -1;
  #place = 0;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  beginStep(index: number, title: string): void {
    this.#step = index;
    this.steps.push(this.#place);
    this.line('step', title);
  }

  /** A line generated here, or already sanitised. */
  line(kind: LineKind, text: string, indented = false): void {
    this.#push({ kind, text, indented });
  }

  blank(): void {
    if (this.blocks.at(-1)?.kind !== 'blank') this.line('blank', '');
  }

  error(text: string): void {
    this.errors.push(this.#place);
    this.paragraph('error', text);
  }

  /** Text that came over the wire. */
  paragraph(kind: LineKind, text: string, fold?: FoldKind): void {
    const clean = sanitise(text, { multiline: true, mode: this.#options.showHidden ? 'show' : 'drop' });
    this.#push({ kind, text: expandTabs(clean, 4), indented: true, fold });
  }

  #push(block: Pick<Block, 'kind' | 'text' | 'indented' | 'fold'>): void {
    this.blocks.push({ ...block, place: this.#place, step: this.#step });
    this.#place += block.text.length + 1;
  }
}

function tokensOf({ prompt_tokens, completion_tokens }: TrajectoryMessage): string[] {
  const parts: string[] = [];
  if (prompt_tokens != null) parts.push(`${numbers.count(prompt_tokens)} in`);
  if (completion_tokens != null) parts.push(`${numbers.count(completion_tokens)} out`);
  return parts;
}

function writeMessage(writer: Writer, message: TrajectoryMessage): void {
  const role = sanitiseLine(message.role ?? 'unknown role');
  const facts = [...tokensOf(message)];
  if (message.finish_reason) facts.push(`finish ${sanitiseLine(message.finish_reason)}`);
  writer.line(roleKinds.get(role) ?? 'role', facts.length > 0 ? `${role}  ·  ${facts.join('  ·  ')}` : role);
  if (message.reasoning) writer.paragraph('reasoning', message.reasoning, 'reasoning');
  if (message.content) writer.paragraph('text', message.content);
  if (message.tool_calls) {
    writer.line('meta', 'tool calls', true);
    writer.paragraph('call', readableJson(message.tool_calls), 'tools');
  }
  if (message.tool_response) {
    writer.line('meta', 'tool response', true);
    writer.paragraph('response', readableJson(message.tool_response), 'tools');
  }
  if (!message.content && !message.tool_calls && !message.tool_response && !message.reasoning) {
    writer.line('meta', '(empty)', true);
  }
  writer.blank();
}

/** The step's title: its number, its reward, and whether it failed. A missing reward is shown as missing, not as 0. */
export function stepTitle(step: TrajectoryStep, index: number): string {
  const parts = [`Step ${step.step_index ?? index}`, `reward ${numbers.reward(step.reward)}`];
  if (step.has_error) parts.push('error');
  return parts.join('  ·  ');
}

export function transcriptOf(trajectory: Trajectory, options: TranscriptOptions): Transcript {
  const writer = new Writer(options);
  if (trajectory.error) {
    writer.error(`Failed: ${trajectory.error}`);
    writer.blank();
  }
  for (const [index, step] of (trajectory.steps ?? []).entries()) {
    writer.beginStep(index, stepTitle(step, index));
    if (step.has_error) writer.error('This step ended in an error.');
    for (const message of step.messages ?? []) writeMessage(writer, message);
    if ((step.messages ?? []).length === 0) writer.line('meta', '(no messages)', true);
    writeUnreadable(writer, 'message', step.messages);
    writer.blank();
  }
  writeUnreadable(writer, 'step', trajectory.steps);
  if ((trajectory.steps ?? []).length === 0) {
    writer.line('meta', trajectory.steps ? 'No steps were recorded.' : 'The service sent no steps.');
  }
  return { blocks: writer.blocks, steps: writer.steps, errors: writer.errors };
}

/** Reports what could not be read. */
function writeUnreadable(writer: Writer, what: string, rows: readonly unknown[] | null | undefined): void {
  const count = unreadableIn(rows ?? []);
  if (count > 0) writer.error(`${numbers.counted(count, what)} could not be read.`);
}

/** The next error after a position, wrapping at the end; undefined if there is none. */
export function nextError({ errors }: Transcript, place: number): number | undefined {
  return errors.find(error => error > place) ?? errors[0];
}
