/** A conversation as readable text, with both answers to each question. Pure. */
import { describeAnswerer, describeCall, describeLeftOut } from '../../../chat/answer.ts';
import { answererName, isIncomplete, systemsOf, type Turn, turnText } from '../../../chat/conversation.ts';
import { sanitise } from '../../../text/sanitise.ts';
import { answerNote } from './conversation-lines.ts';
import { describeCounts, verdictLabels } from './describe-choices.ts';
import type { ChatState } from './use-chat.ts';

type ReadChat = Pick<ChatState, 'settings' | 'sides' | 'choiceAt' | 'compared' | 'counts'>;

/**
 * The current branch: questions, answers with their statistics, which answer was chosen, and each system prompt before
 * what was sent with it.
 */
export function chatText({ settings, sides, choiceAt, compared, counts }: ReadChat): string {
  const models = sides.map(side => side.settings.model);
  const conversations = sides.map(side => side.session.conversation.turns);
  const [turns = []] = conversations;
  const partOf = (turn: Turn | undefined, verdict: string | undefined): string[] =>
    turn
      ? [
          `## ${answererName(turn)}`,
          ...(turn.answeredBy === undefined ? [] : [describeAnswerer(turn.answeredBy)]),
          turn.content,
          ...(turn.refusal ? [`refusal: ${turn.refusal}`] : []),
          ...(turn.calls ?? []).map(describeCall),
          turnText(turn) === '' ? '(no text)' : '',
          describeLeftOut(turn.leftOut),
          ...(isIncomplete(turn) ? ['(the answer is incomplete)'] : []),
          [turn.stats?.totalMs !== undefined && answerNote(turn.stats), verdict].filter(Boolean).join('; '),
        ]
      : [];
  const systems = conversations.map(each => systemsOf(each, settings.system));
  let above = '';
  const systemAt = (index: number, side = 0): string[] => {
    const system = systems[side]?.[index] ?? above;
    if (system === above) return [];
    above = system;
    return ['## system', system || 'none'];
  };
  const parts = turns.flatMap((turn, index) => {
    if (turn.role === 'user') return [...systemAt(index), '## you', turn.content];
    const better = choiceAt(index)?.better;
    return conversations.flatMap((each, side) => [
      ...systemAt(index, side),
      ...partOf(each[index], better && verdictLabels[better][side === 0 ? 0 : 1]),
    ]);
  });
  const counted = counts && compared ? describeCounts(counts, undefined, compared) : '';
  const all = [
    `# ${models.join(' and ')}`,
    ...parts,
    ...(counted === '' ? [] : ['## all saved conversations of these models', counted]),
  ];
  return `${sanitise(all.filter(part => part !== '').join('\n\n'), { multiline: true })}\n`;
}
