/** A conversation as lines, with answers as Markdown. Pure; a finished turn is laid out once. */

import { stripVTControlCharacters } from 'node:util';
import { maxOf, pushAll } from '../../../base/many.ts';
import { describeAnswerer, describeCall, describeLeftOut } from '../../../chat/answer.ts';
import type { Fork } from '../../../chat/branches.ts';
import {
  type AnswerStats,
  answererName,
  type ChatParameters,
  type Conversation,
  isIncomplete,
  type Turn,
  tokensPerSecond,
  turnText,
} from '../../../chat/conversation.ts';
import { type EarlyEnd, earlyEndOf } from '../../../contract/finish-reason.ts';
import { describeError } from '../../../service/errors.ts';
import { withoutData } from '../../../text/data-urls.ts';
import { counted } from '../../../text/numbers.ts';
import { sanitise, sanitiseLine } from '../../../text/sanitise.ts';
import { splitThoughts } from '../../../text/thoughts.ts';
import { duration } from '../../../text/time.ts';
import { wrap } from '../../../text/wrap.ts';
import type { KeyOf } from '../../keys/router.tsx';
import { markdownLines } from '../../widgets/markdown/markdown.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';
import { chatCommands } from '../commands.ts';

export type ConversationLineKind =
  | 'user'
  | 'assistant'
  | 'answerer'
  | 'text'
  | 'reasoning'
  | 'refusal'
  | 'note'
  | 'verdict'
  | 'error';

export interface ConversationLine {
  readonly kind: ConversationLineKind;
  /** Plain, for searching. */
  readonly text: string;
  readonly styled?: string;
}

const indent = '  ';

function paragraph(kind: ConversationLineKind, text: string, width: number): ConversationLine[] {
  const lines = wrap(sanitise(text, { multiline: true }), Math.max(8, width - indent.length));
  return lines.map(line => ({ kind, text: indent + line }));
}

/** A streaming answer up to this length is laid out again with every word; a longer one only at the end. */
const longestStreamed = 20_000;
/** If reasoning is longer, its hidden part grows by this many characters at a time, so that the lines rarely change. */
const hiddenAtOnce = 10_000;

/**
 * The reasoning, with a bar as in the reader: without colours it would look like the answer. While the answer arrives,
 * only the end of long reasoning is shown, because it is laid out again with every word.
 */
function reasoningLines(reasoning: string, width: number, answering: boolean, { glyphs }: Theme): ConversationLine[] {
  const bar = `${glyphs.vertical} `;
  const excess = answering ? Math.max(0, reasoning.length - longestStreamed) : 0;
  const hidden = Math.floor(excess / hiddenAtOnce) * hiddenAtOnce;
  const end = paragraph('reasoning', reasoning.slice(hidden), width - bar.length).map(line => ({
    ...line,
    text: indent + bar + line.text.slice(indent.length),
  }));
  if (hidden === 0) return end;
  const words = `${counted(hidden, 'character')} of reasoning before this will be shown once the answer ends`;
  return [...paragraph('note', words, width), ...end];
}

function markdown(text: string, width: number, theme: Theme): ConversationLine[] {
  return markdownLines(text, Math.max(8, width - indent.length), theme).map(line => ({
    kind: 'text',
    text: indent + stripVTControlCharacters(line),
    styled: indent + line,
  }));
}

/** The marks in a turn's heading. */
export interface TurnMarks {
  readonly isSelected?: boolean;
  /** Its position among its variants in other branches. */
  readonly fork?: Fork | undefined;
  /** The user's choice between this answer and the other. */
  readonly verdict?: string | undefined;
}

/** E.g. `‹ 2/3 ›`. */
export const positionOf = ([position, count]: Fork, { crumbBack, crumb }: Theme['glyphs']): string =>
  `${crumbBack} ${position}/${count} ${crumb}`;

function markedLines(
  lines: readonly ConversationLine[],
  { isSelected, fork, verdict }: TurnMarks,
  width: number,
  { glyphs }: Theme,
): readonly ConversationLine[] {
  const [head, ...body] = lines;
  if (!head) return lines;
  const [before, after] = [isSelected ? `${glyphs.marker} ` : '', fork ? `  ${positionOf(fork, glyphs)}` : ''];
  const marked = [{ ...head, text: before + head.text + after }, ...body];
  if (verdict === undefined) return marked;
  return [...marked.slice(0, -1), ...paragraph('verdict', verdict, width), ...marked.slice(-1)];
}

function turnLines(turn: Turn, width: number, answering: boolean, theme: Theme): ConversationLine[] {
  const name = turn.role === 'user' ? 'you' : sanitiseLine(answererName(turn));
  const lines: ConversationLine[] = [{ kind: turn.role, text: name }];
  if (turn.answeredBy !== undefined) pushAll(lines, paragraph('answerer', describeAnswerer(turn.answeredBy), width));
  const isAnswer = turn.role === 'assistant';
  const { thoughts = '', answer = turn.content } = (isAnswer && splitThoughts(turn.content)) || {};
  const reasoning = [turn.reasoning, thoughts.trim()].filter(Boolean).join('\n\n');
  if (reasoning !== '') pushAll(lines, reasoningLines(reasoning, width, answering, theme));
  if (answer !== '') {
    const isMarkdown = isAnswer && !(answering && answer.length > longestStreamed);
    const content = withoutData(answer);
    pushAll(lines, isMarkdown ? markdown(content, width, theme) : paragraph('text', content, width));
  }
  const { refusal = '', calls = [] } = turn;
  if (refusal !== '') {
    lines.push({ kind: 'refusal', text: `${indent}refusal` });
    pushAll(lines, paragraph('refusal', refusal, width));
  }
  for (const call of calls) pushAll(lines, paragraph('note', describeCall(call), width));
  const isEmpty = turnText(turn) === '';
  if (isEmpty && !answering && !turn.error) lines.push({ kind: 'note', text: `${indent}(no text)` });
  if (isEmpty && answering) lines.push({ kind: 'note', text: `${indent}…` });
  if (turn.cancelled) lines.push({ kind: 'note', text: `${indent}stopped: the answer is incomplete` });
  else if (!answering && !isEmpty && isIncomplete(turn))
    lines.push({ kind: 'note', text: `${indent}interrupted: the answer is incomplete` });
  if (turn.error) {
    pushAll(lines, paragraph('error', describeError(turn.error), width));
  }
  const leftOut = describeLeftOut(turn.leftOut);
  if (leftOut !== '') pushAll(lines, paragraph('note', leftOut, width));
  const note = turn.stats?.totalMs === undefined ? '' : answerNote(turn.stats);
  if (note !== '') pushAll(lines, paragraph('note', note, width));
  lines.push({ kind: 'text', text: '' });
  return lines;
}

const earlyEndLabels: Record<EarlyEnd, string> = {
  'token limit': 'stopped at the token limit',
  'content filter': 'the service withheld the answer, or part of it',
  refusal: 'the model refused',
  error: 'ended with an error',
};

/** An answer's parameters and statistics. */
export function answerNote(stats: AnswerStats): string {
  const { parameters, promptTokens, completionTokens, firstMs, totalMs, finishReason } = stats;
  const rate = tokensPerSecond(stats);
  const end = earlyEndOf(finishReason);
  return [
    parameters && describeParameters(parameters),
    promptTokens !== undefined && `${promptTokens} input tokens`,
    completionTokens !== undefined && `${completionTokens} output tokens`,
    rate !== undefined && `${Math.round(rate)} tokens/s`,
    firstMs !== undefined && `first text after ${duration(firstMs)}`,
    totalMs !== undefined && `complete after ${duration(totalMs)}`,
    end && earlyEndLabels[end],
  ]
    .filter(Boolean)
    .join(', ');
}

function describeParameters({ temperature, top_p, max_tokens }: ChatParameters): string {
  const set = [
    ...(temperature === undefined ? [] : [`temperature ${temperature}`]),
    ...(top_p === undefined ? [] : [`top p ${top_p}`]),
    ...(max_tokens === undefined ? [] : [`limit ${max_tokens}`]),
  ];
  return set.length === 0 ? 'default parameters' : set.join(', ');
}

/** The chosen model, and whether the models could be listed. */
interface Answerer {
  readonly model: string;
  readonly loaded: boolean;
  readonly error: Error | undefined;
  /** Describes the message below. */
  readonly about?: string | undefined;
}

/** Shown before the first message. */
export function openingLines(
  { model, loaded, error, about }: Answerer,
  width: number,
  keyOf: KeyOf,
): ConversationLine[] {
  const [choose, leave] = [keyOf(chatCommands.model), keyOf(chatCommands.leave)];
  const note = (text: string): ConversationLine[] => [...paragraph('note', text, width), { kind: 'text', text: '' }];
  if (model !== '') {
    return [
      ...note(`No messages with ${model} yet.`),
      ...(about === undefined ? [] : note(`Below is the rollout's prompt, as it was sent. ${about}`)),
      ...note(
        `${keyOf(chatCommands.send)} sends the message below; ${choose} chooses the model, ${keyOf(chatCommands.settings)} sets a system prompt and parameters.`,
      ),
      ...note(`${leave}, then ${keyOf(chatCommands.history)}, continues an earlier conversation.`),
    ];
  }
  const slug = `${choose} also accepts a deployed model's slug.`;
  if (error) return [...paragraph('error', `The models could not be listed: ${error.message}`, width), ...note(slug)];
  return note(loaded ? `The service lists no models. ${slug}` : 'Loading the models…');
}

/** One line from each column; missing below the end of the shorter turn. */
export interface ConversationRow {
  readonly cells: readonly (ConversationLine | undefined)[];
  /** The index of its turn plus a small fraction for the line, so that a place stays in its turn at any width. */
  readonly place: number;
}

/** A conversation and the width of its column. */
interface ConversationColumn {
  readonly conversation: Conversation;
  readonly width: number;
  /** Looked up by turn index. */
  readonly marks?: ((index: number) => TurnMarks) | undefined;
}

const placeOf = (turn: number, line: number): number => turn + line / 1e6;

type ConversationLayout = (columns: readonly ConversationColumn[]) => readonly ConversationRow[];

/** Creates a layout that aligns conversations by turn and caches finished turns. */
export function createConversationLayout(theme: Theme): ConversationLayout {
  const known = new WeakMap<Turn, Map<number, readonly ConversationLine[]>>();
  const linesOf = ({ conversation, width }: ConversationColumn, index: number): readonly ConversationLine[] => {
    const { turns, answering } = conversation;
    const turn = turns[index];
    if (!turn) return [];
    if (answering && index === turns.length - 1) return turnLines(turn, width, true, theme);
    const byWidth = known.get(turn) ?? new Map<number, readonly ConversationLine[]>();
    known.set(turn, byWidth);
    const lines = byWidth.get(width) ?? turnLines(turn, width, false, theme);
    // Two widths may be side by side; any others are left from another terminal size.
    if (byWidth.size > 1 && !byWidth.has(width)) byWidth.clear();
    byWidth.set(width, lines);
    return lines;
  };
  return columns => {
    const rows: ConversationRow[] = [];
    const count = maxOf(columns.map(({ conversation }) => conversation.turns.length));
    for (let turn = 0; turn < count; turn += 1) {
      const sides = columns.map(column => {
        const lines = linesOf(column, turn);
        return column.marks ? markedLines(lines, column.marks(turn), column.width, theme) : lines;
      });
      const length = maxOf(sides.map(lines => lines.length));
      for (let line = 0; line < length; line += 1) {
        rows.push({ cells: sides.map(lines => lines[line]), place: placeOf(turn, line) });
      }
    }
    return rows;
  };
}
