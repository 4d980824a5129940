/** A conversation as lines. Pure; turns that are done are laid out once for a width. */
import type { Turn } from '../../../queries/conversation.ts';
import { sanitise, sanitiseLine } from '../../../text/sanitise.ts';
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
  lines.push({ kind: 'text', text: '' });
  return lines;
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
