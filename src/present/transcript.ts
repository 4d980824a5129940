/**
 * Converts a trajectory to blocks of text: the messages of each step, their tokens, and errors. Every character has a
 * position that depends only on the trajectory, not on the width or the folds. Pure; takes linear time, so that
 * megabytes open quickly.
 */
import { lastAt } from '../base/binary-search.ts';
import { unreadableIn } from '../contract/lists.ts';
import { hasFailed } from '../contract/tool-error.ts';
import {
  step as stepSchema,
  type Trajectory,
  type TrajectoryMessage,
  type TrajectoryStep,
} from '../contract/trajectories.ts';
import { withoutData } from '../text/data-urls.ts';
import * as numbers from '../text/numbers.ts';
import { overwritten } from '../text/overwritten.ts';
import { type HiddenCount, hiddenIn, sanitise, sanitiseLine, unsanitisedLines } from '../text/sanitise.ts';
import { truncate } from '../text/width.ts';
import { otherFields } from './other-fields.ts';
import { trajectoryDetails } from './trajectory-details.ts';
import type { ToolCall } from './transcript-calls.ts';
import { isToolRole, type MessagePart, otherMessageFields, partsOf, type ToolResponse } from './transcript-parts.ts';

export type LineKind =
  | 'step'
  | 'system'
  | 'user'
  | 'assistant'
  | 'tool'
  | 'role'
  | 'text'
  | 'reasoning'
  | 'refusal'
  | 'call'
  | 'response'
  | 'meta'
  | 'error'
  | 'fold'
  | 'note'
  | 'blank';

/** How a block folds: reasoning to its heading, a tool call to one line, a response to its first and last lines. */
export type FoldKind = 'reasoning' | 'tools';

/** Text in one style, safe for a terminal. */
export interface Block {
  readonly kind: LineKind;
  /** May have several lines. */
  readonly text: string;
  /** The lines as they were received, if they differ and `keepsSent` is set. Unsafe for a terminal. */
  readonly sent?: string | undefined;
  /** Its position in the transcript. */
  readonly place: number;
  /** Index of its step in the trajectory's `steps`, or -1 before the first. */
  readonly step: number;
  readonly indented: boolean;
  /** The kind of its first line, if this is a heading. The lines under it are indented further. */
  readonly heading?: LineKind | undefined;
  readonly fold?: FoldKind | undefined;
  /** The step's number, if the block begins one. */
  readonly number?: number | undefined;
  /** Set on a heading: of a step, a message, or the part after the last step. */
  readonly head?: 'step' | 'message' | 'end' | undefined;
  /** The number of the message that the block begins, from 1 over the whole trajectory. */
  readonly message?: number | undefined;
  /** The name of the message's sender or tool in the heading, if it has one. */
  readonly named?: string | undefined;
  /** May be Markdown. */
  readonly markdown?: boolean;
  /** A folded tool call's line, how many lines it omits, and its id if the message has several calls. */
  readonly summary?: { readonly text: string; readonly more: number; readonly id?: string | undefined } | undefined;
}

export interface Transcript {
  /** Ordered by position. */
  readonly blocks: readonly Block[];
  /** Each step's position. */
  readonly steps: readonly number[];
  /** Positions of the messages. */
  readonly messages: readonly number[];
  /** Positions of the steps whose reward is not 0. */
  readonly rewards: readonly number[];
  /** The images that can be opened: their base64 strings or addresses. */
  readonly images: readonly { readonly place: number; readonly content: string }[];
  /** Positions of errors. */
  readonly errors: readonly number[];
  /** Counts of the hidden text. */
  readonly hidden: HiddenText;
}

interface HiddenText extends HiddenCount {
  /** Lines that a tool overwrote, such as progress bars. */
  readonly overwritten: number;
}

/** `3 hidden characters, 12 lines overwritten`. Colours by themselves are not mentioned. */
export const describeHidden = ({ characters, overwritten: lines }: HiddenText): string =>
  [
    characters === 0 ? '' : numbers.counted(characters, 'hidden character'),
    lines === 0 ? '' : `${numbers.counted(lines, 'line')} overwritten`,
  ]
    .filter(Boolean)
    .join(', ');

/** Index of the block at a position; -1 if there is none. */
export function blockIndexAt({ blocks }: Pick<Transcript, 'blocks'>, place: number): number {
  return lastAt(blocks.length, index => blocks[index]?.place ?? 0, place);
}

interface TranscriptOptions {
  /** Whether to make hidden characters visible instead of dropping them. */
  readonly showHidden: boolean;
  /** Whether blocks keep the text as it was received. */
  readonly keepsSent?: boolean;
  /** Whether to end with the trajectory's rewards, metrics and other fields. */
  readonly details?: boolean;
  /** How many messages precede these steps. */
  readonly before?: number;
}

const roleKinds: ReadonlyMap<string, LineKind> = new Map<string, LineKind>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
]);

class Writer {
  readonly steps: number[] = [];
  readonly messages: number[] = [];
  readonly rewards: number[] = [];
  readonly images: { readonly place: number; readonly content: string }[] = [];
  readonly errors: number[] = [];
  /** The latest call with each id. */
  readonly calls = new Map<string, MadeCall>();
  /** The unknown fields in each role's latest message. The next message shows only those that differ. */
  readonly others = new Map<string, readonly string[]>();
  readonly hidden = { sequences: 0, characters: 0, overwritten: 0 };
  readonly #options: TranscriptOptions;
  #step = -1;
  #place = 0;
  #head: Block['head'];
  #blocks: Block[] = [];
  #lastKind: LineKind | undefined;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  beginStep(index: number, step: TrajectoryStep, hasRewards: boolean): void {
    this.#step = index;
    this.steps.push(this.#place);
    if (step.reward) this.rewards.push(this.#place);
    this.#head = 'step';
    const number = step.step_index ?? index;
    this.#push({ kind: 'step', text: stepTitle(step, number, hasRewards), indented: false, number });
  }

  /** Notes and searches name a message by its number, so it comes before the facts, which a narrow terminal cuts. */
  beginMessage(kind: LineKind, name: string, facts: readonly string[], named: string | undefined): void {
    this.messages.push(this.#place);
    this.#head = 'message';
    const message = (this.#options.before ?? 0) + this.messages.length;
    this.#push({ kind, text: [name, `#${message}`, ...facts].join('  ·  '), indented: false, message, named });
  }

  /** The following blocks belong to no step. */
  endSteps(): void {
    this.#head = 'end';
  }

  /** Writes a line that benchtop generates, or that is already sanitised. */
  line(kind: LineKind, text: string, indented = false): void {
    this.#push({ kind, text, indented });
  }

  blank(): void {
    if (this.#lastKind !== 'blank') this.line('blank', '');
  }

  /** Returns the blocks written since the last call. */
  take(): readonly Block[] {
    const blocks = this.#blocks;
    this.#blocks = [];
    return blocks;
  }

  error(text: string): void {
    this.markError();
    this.paragraph('error', text);
  }

  /** Records that the next text is an error. */
  markError(): void {
    this.errors.push(this.#place);
  }

  /** Writes text from the wire. */
  paragraph(kind: LineKind, text: string, markdown = false): void {
    this.#push({ kind, ...this.#clean(text), indented: true, ...(markdown && { markdown }) });
  }

  /** Records that the next text describes an image. */
  markImage(content: string): void {
    this.images.push({ place: this.#place, content });
  }

  /** Writes text from the wire under a heading that is already safe. */
  section(
    kind: LineKind,
    text: string,
    parts: Pick<Block, 'heading' | 'fold' | 'summary'> & { readonly title?: string; readonly sentTitle?: string },
  ): void {
    const { title, sentTitle = title, heading, fold, summary } = parts;
    const body = this.#clean(text, kind === 'response');
    const own = body.text === '' && title !== undefined ? title : titled(title, body.text);
    const isChanged = body.sent !== undefined || (this.#options.keepsSent && sentTitle !== title);
    const sent = isChanged ? titled(sentTitle, body.sent ?? body.text) : undefined;
    this.#push({ kind, text: own, sent, indented: true, heading, fold, summary });
  }

  /** Sanitises one line from the wire. */
  cleanLine(text: string): string {
    return sanitiseLine(text, this.#options.showHidden ? 'show' : 'drop');
  }

  /** A program's output as a terminal would show it. */
  #asPrinted(text: string): string {
    if (this.#options.showHidden) return text;
    const printed = overwritten(text);
    this.hidden.overwritten += printed.lines;
    return printed.text;
  }

  /** @param isOutput whether it is a program's output, which may overwrite its lines */
  #clean(received: string, isOutput = false): Pick<Block, 'text' | 'sent'> {
    const { showHidden, keepsSent } = this.#options;
    const text = isOutput ? this.#asPrinted(received) : received;
    const safe = sanitise(withoutData(text), { multiline: true, mode: showHidden ? 'show' : 'drop' });
    if (safe !== text) {
      const { sequences, characters } = hiddenIn(text);
      this.hidden.sequences += sequences;
      this.hidden.characters += characters;
    }
    let end = safe.length;
    while (safe[end - 1] === '\n') end -= 1;
    const isChanged = keepsSent && safe !== received;
    return {
      text: safe.slice(0, end),
      sent: isChanged ? unsanitisedLines(withoutData(received), isOutput) : undefined,
    };
  }

  #push(block: Omit<Block, 'place' | 'step'>): void {
    this.#blocks.push({ ...block, place: this.#place, step: this.#step, ...(this.#head && { head: this.#head }) });
    this.#head = undefined;
    this.#lastKind = block.kind;
    this.#place += block.text.length + 1;
  }
}

const titled = (title: string | undefined, text: string): string => (title === undefined ? text : `${title}\n${text}`);

/** A tool call waiting for its result. */
interface MadeCall {
  readonly call: ToolCall;
  /** Whether its message has several calls, so that the name alone does not identify a call. */
  readonly parallel: boolean;
}

function formatTokens({ prompt_tokens, completion_tokens }: TrajectoryMessage): string[] {
  const parts: string[] = [];
  if (numbers.countOf(prompt_tokens) !== undefined) parts.push(`${numbers.count(prompt_tokens)} in`);
  if (numbers.countOf(completion_tokens) !== undefined) parts.push(`${numbers.count(completion_tokens)} out`);
  return parts;
}

/** Maximum width, in cells, of a call's summary in the heading of its result. */
const shortSummary = 40;

/** Describes the call that a result belongs to. */
function describeResult(writer: Writer, { id, name }: Pick<ToolResponse, 'id' | 'name'>): string {
  const made = id === undefined ? undefined : writer.calls.get(id);
  const called = made?.call.name || name;
  if (!called && id === undefined) return '';
  const summary = made?.parallel ? `  ${truncate(writer.cleanLine(made.call.summary), shortSummary)}` : '';
  const words = called ? `result of ${writer.cleanLine(called)}` : 'result';
  return `${words}${id === undefined ? '' : ` (${writer.cleanLine(id)})`}${summary.trimEnd()}`;
}

function writeCall(writer: Writer, call: ToolCall, parallel: boolean): void {
  if (call.id !== undefined) writer.calls.set(call.id, { call, parallel });
  const id = call.id === undefined ? undefined : writer.cleanLine(call.id);
  const name = writer.cleanLine(call.name);
  const summary = [name, writer.cleanLine(call.summary)].filter(Boolean).join('  ');
  const titleOf = (shown: (text: string) => string): string =>
    `call ${shown(call.name)}`.trim() + (call.id === undefined ? '' : ` (${shown(call.id)})`);
  writer.section('call', call.text, {
    title: titleOf(text => writer.cleanLine(text)),
    sentTitle: titleOf(text => text.replaceAll('\n', ' ')),
    heading: 'call',
    ...(call.text !== '' && {
      fold: 'tools',
      summary: { text: summary, more: call.more, id: parallel ? id : undefined },
    }),
  });
}

function writeResponse(writer: Writer, response: ToolResponse): void {
  const words = describeResult(writer, response) || 'tool response';
  if (response.isError) writer.markError();
  writeBody(writer, response, {
    title: response.isError ? `${words}  ·  error` : words,
    heading: response.isError ? 'error' : 'meta',
  });
}

function writeBody(
  writer: Writer,
  { text, images }: ToolResponse,
  parts: { readonly title?: string; readonly heading?: Block['heading'] } = {},
): void {
  for (const image of images) writer.markImage(image);
  writer.section('response', text || '(empty)', { ...parts, fold: 'tools' });
}

/** @param index its position in its step */
function writeMessage(writer: Writer, message: TrajectoryMessage, index: number): void {
  const role = sanitiseLine(message.role ?? 'unknown role');
  const parts = partsOf(message);
  const first = parts.find(part => part.kind === 'response');
  // A tool message's heading is also the heading of its result.
  const result = isToolRole(message.role) ? first : undefined;
  const { message_id: number } = message;
  const before = writer.messages.length;
  const id = typeof number === 'string' ? number : message.uploaded_message_id;
  const isError = hasFailed(message) || (result?.isError ?? false);
  const described = result && describeResult(writer, result);
  // Most important first, because the line is cut, not wrapped.
  const facts = [
    ...(isError ? ['error'] : []),
    ...(described ? [described] : []),
    ...(id ? [sanitiseLine(id)] : []),
    ...formatTokens(message),
    ...(message.finish_reason ? [`finish ${sanitiseLine(message.finish_reason)}`] : []),
    // Most services merely number the messages, within the step or the trajectory.
    ...(typeof number === 'number' && ![index, before, index + 1, before + 1].includes(number) ? [`id ${number}`] : []),
  ].filter(Boolean);
  if (isError) writer.markError();
  // A result's heading already contains the tool's name.
  const name = message.name && !result ? sanitiseLine(message.name) : '';
  const head = [role, name].filter(Boolean).join(' ');
  writer.beginMessage(roleKinds.get(role) ?? 'role', head, facts, described || name || undefined);
  const parallel = parts.filter(part => part.kind === 'call').length > 1;
  for (const part of parts) {
    if (part === result) writeBody(writer, result);
    else writePart(writer, part, parallel);
  }
  const others = otherMessageFields(message);
  if (parts.length === 0 && others.length === 0) writer.line('meta', '(empty)', true);
  const known = writer.others.get(role);
  writeOthers(
    writer,
    others.filter(each => !known?.includes(each)),
  );
  writer.others.set(role, others);
  writer.blank();
}

/** @param parallel whether its message has several tool calls */
function writePart(writer: Writer, part: MessagePart, parallel: boolean): void {
  switch (part.kind) {
    case 'reasoning':
      writer.section('reasoning', part.text, {
        title: [
          `reasoning, ${numbers.count(part.text.length)} character${part.text.length === 1 ? '' : 's'}`,
          part.tags,
        ]
          .filter(Boolean)
          .join(', '),
        heading: 'fold',
        fold: 'reasoning',
      });
      break;
    case 'refusal':
      writer.section('refusal', part.text, { title: 'refusal', heading: 'refusal' });
      break;
    case 'call':
      writeCall(writer, part, parallel);
      break;
    case 'response':
      writeResponse(writer, part);
      break;
    case 'attachment':
      if (part.image !== undefined) writer.markImage(part.image);
      writer.paragraph('meta', `[${part.text}]`);
      break;
    case 'text':
    case 'json':
      writer.paragraph('text', part.text, part.kind === 'text');
  }
}

function writeOthers(writer: Writer, fields: readonly string[]): void {
  if (fields.length > 0)
    writer.section('meta', fields.join('\n'), { title: 'other fields', heading: 'meta', fold: 'tools' });
}

/** Whether a message explains its step's error. */
const saysWhy = (message: TrajectoryMessage): boolean =>
  hasFailed(message) || partsOf(message).some(part => part.kind === 'response' && part.isError);

const knownStepFields: ReadonlySet<string> = new Set(Object.keys(stepSchema.shape));

/**
 * A step's title: its number, its reward, and whether it failed. A missing reward is shown as missing, not as 0.
 *
 * @param hasRewards whether the steps have rewards of their own
 */
function stepTitle(step: TrajectoryStep, number: number, hasRewards: boolean): string {
  const isRewarded = hasRewards || step.reward != null;
  const parts = [`Step ${number}`, ...(isRewarded ? [`reward ${numbers.reward(step.reward)}`] : [])];
  if (step.has_error) parts.push('error');
  return parts.join('  ·  ');
}

/** Whether steps have rewards of their own, not just a last step with the trajectory's reward. */
export const hasStepRewards = (steps: readonly TrajectoryStep[]): boolean =>
  steps.slice(0, -1).some(({ reward }) => reward != null);

export function transcriptOf(trajectory: Trajectory, options: TranscriptOptions): Transcript {
  const writer = new Writer(options);
  const blocks = Array.from(write(writer, trajectory, options)).flat();
  const { steps, messages, rewards, images, errors, hidden } = writer;
  return { blocks, steps, messages, rewards, images, errors, hidden };
}

/** A transcript's blocks message by message, with counts of the text hidden so far. */
export function* transcriptParts(
  trajectory: Trajectory,
  options: TranscriptOptions,
): Generator<Pick<Transcript, 'blocks' | 'hidden'>, void> {
  const writer = new Writer(options);
  for (const blocks of write(writer, trajectory, options)) yield { blocks, hidden: writer.hidden };
}

function* write(
  writer: Writer,
  trajectory: Trajectory,
  { details }: TranscriptOptions,
): Generator<readonly Block[], void> {
  if (trajectory.error) {
    writer.error(`Failed: ${trajectory.error}`);
    writer.blank();
  }
  const all = trajectory.steps ?? [];
  const hasRewards = hasStepRewards(all);
  for (const [index, step] of all.entries()) {
    writer.beginStep(index, step, hasRewards);
    if (step.has_error && !step.messages?.some(saysWhy)) writer.error('This step ended in an error.');
    writeOthers(writer, otherFields(step, knownStepFields));
    for (const [at, message] of (step.messages ?? []).entries()) {
      writeMessage(writer, message, at);
      yield writer.take();
    }
    if ((step.messages ?? []).length === 0) writer.line('meta', '(no messages)', true);
    writeUnreadable(writer, 'message', step.messages);
    writer.blank();
  }
  writer.endSteps();
  writeUnreadable(writer, 'step', trajectory.steps);
  if (all.length === 0) {
    writer.line('meta', trajectory.steps ? 'No steps were recorded.' : 'The service sent no steps.');
  }
  if (details) writeDetails(writer, trajectory);
  yield writer.take();
}

/** The rewards, the metrics and other fields. */
function writeDetails(writer: Writer, trajectory: Trajectory): void {
  let group: string | undefined;
  for (const { label, value, group: own } of trajectoryDetails(trajectory)) {
    if (own !== group) {
      writer.blank();
      writer.line('role', own ?? '');
    }
    group = own;
    writer.paragraph('text', `${sanitiseLine(label)}  ${numbers.asReceived(value)}`);
  }
}

/** Reports unreadable messages or steps. */
function writeUnreadable(writer: Writer, kind: string, rows: readonly unknown[] | null | undefined): void {
  const count = unreadableIn(rows ?? []);
  if (count > 0) writer.error(`${numbers.counted(count, kind)} could not be read.`);
}
