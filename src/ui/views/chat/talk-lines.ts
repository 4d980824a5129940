/** A conversation as lines. Pure; turns that are done are laid out once for a width. */
import { type AnswerStats, type Turn, tokensPerSecond } from '../../../queries/conversation.ts';
import type { Fault } from '../../../queries/fault.ts';
import { sanitise, sanitiseLine } from '../../../text/sanitise.ts';
import { duration } from '../../../text/time.ts';
import { wrap } from '../../../text/wrap.ts';

export type TalkLineKind = 'user' | 'assistant' | 'text' | 'reasoning' | 'note' | 'fault';

export interface TalkLine {
  readonly kind: TalkLineKind;
  readonly text: string;
}

const indent = '  ';

function paragraph(kind: TalkLineKind, text: string, width: number): TalkLine[] {
  const lines = wrap(sanitise(text, { multiline: true }), Math.max(8, width - indent.length));
  return lines.map(line => ({ kind, text: indent + line }));
}

function turnLines(turn: Turn, width: number, answering: boolean): TalkLine[] {
  const name = turn.role === 'user' ? 'you' : sanitiseLine(turn.stats?.model ?? 'assistant');
  const lines: TalkLine[] = [{ kind: turn.role, text: name }];
  if (turn.reasoning !== '') lines.push(...paragraph('reasoning', turn.reasoning, width));
  if (turn.content !== '') lines.push(...paragraph('text', turn.content, width));
  if (turn.content === '' && !answering && !turn.fault) lines.push({ kind: 'note', text: `${indent}(no text)` });
  if (turn.content === '' && answering) lines.push({ kind: 'note', text: `${indent}…` });
  if (turn.cancelled) lines.push({ kind: 'note', text: `${indent}stopped` });
  if (turn.fault) {
    const request = turn.fault.requestId ? ` (request ${turn.fault.requestId})` : '';
    lines.push(...paragraph('fault', `${turn.fault.message}${request}`, width));
  }
  if (turn.stats?.completionTokens !== undefined) lines.push({ kind: 'note', text: indent + answerNote(turn.stats) });
  lines.push({ kind: 'text', text: '' });
  return lines;
}

/** What an answer took, for terminals that have no room for it beside the conversation. */
function answerNote(stats: AnswerStats): string {
  const rate = tokensPerSecond(stats);
  return [
    `${stats.completionTokens} tokens out`,
    rate === undefined ? '' : `${Math.round(rate)} a second`,
    stats.firstMs === undefined ? '' : `the first after ${duration(stats.firstMs)}`,
    stats.finishReason === 'length' ? 'cut at the most tokens' : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** Who could answer: the model that is chosen, and how far the list of models is. */
export interface Answerer {
  readonly model: string;
  readonly loaded: boolean;
  readonly fault: Fault | undefined;
}

/** What stands where nothing has been said yet. */
export function openingLines({ model, loaded, fault }: Answerer, width: number): TalkLine[] {
  const note = (text: string): TalkLine[] => [...paragraph('note', text, width), { kind: 'text', text: '' }];
  if (model !== '') {
    return [
      ...note(`Nothing has been said to ${model} yet.`),
      ...note('enter sends what is written below; ctrl-o chooses who answers, ctrl-t a system prompt and parameters.'),
    ];
  }
  const slug = 'ctrl-o takes the slug of a deployed model.';
  if (fault) return [...paragraph('fault', `The models cannot be listed: ${fault.message}`, width), ...note(slug)];
  return note(loaded ? `The service lists no model. ${slug}` : 'The models are being read.');
}

/** Lays conversations out, remembering the turns that are done. */
export function createTalkLayout(): (turns: readonly Turn[], width: number, answering: boolean) => TalkLine[] {
  const known = new WeakMap<Turn, { readonly width: number; readonly lines: readonly TalkLine[] }>();
  return (turns, width, answering) =>
    turns.flatMap((turn, index) => {
      if (answering && index === turns.length - 1) return turnLines(turn, width, true);
      const old = known.get(turn);
      if (old?.width === width) return old.lines;
      const lines = turnLines(turn, width, false);
      known.set(turn, { width, lines });
      return lines;
    });
}
