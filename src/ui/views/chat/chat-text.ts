/** A conversation as readable text, with both answers to each question. Pure. */
import { answererWords, callWords, leftOutWords } from '../../../chat/answer.ts';
import { type Turn, wordsOf } from '../../../chat/conversation.ts';
import { sanitise } from '../../../text/sanitise.ts';
import { countWords, verdictWords } from './choice-words.ts';
import { answerNote } from './conversation-lines.ts';
import type { ChatState } from './use-chat.ts';

type ReadChat = Pick<ChatState, 'settings' | 'sides' | 'choiceAt' | 'compared' | 'counts'>;

/** The current branch: system prompt, questions, answers with their statistics, and which answer was chosen. */
export function chatText({ settings, sides, choiceAt, compared, counts }: ReadChat): string {
  const models = sides.map(side => side.settings.model);
  const conversations = sides.map(side => side.session.conversation.turns);
  const [turns = []] = conversations;
  const partOf = (turn: Turn | undefined, verdict: string | undefined): string[] =>
    turn
      ? [
          `## ${turn.stats?.model ?? 'assistant'}`,
          ...(turn.answeredBy === undefined ? [] : [answererWords(turn.answeredBy)]),
          turn.content,
          ...(turn.refusal ? [`refusal: ${turn.refusal}`] : []),
          ...(turn.calls ?? []).map(callWords),
          wordsOf(turn) === '' ? '(no text)' : '',
          leftOutWords(turn.leftOut),
          ...(turn.cancelled || turn.error ? ['(the answer is incomplete)'] : []),
          [turn.stats?.totalMs !== undefined && answerNote(turn.stats), verdict].filter(Boolean).join('; '),
        ]
      : [];
  const parts = turns.flatMap((turn, index) => {
    if (turn.role === 'user') return ['## you', turn.content];
    const better = choiceAt(index)?.better;
    return conversations.flatMap((each, side) =>
      partOf(each[index], better && verdictWords[better][side === 0 ? 0 : 1]),
    );
  });
  const counted = counts && compared ? countWords(counts, undefined, compared) : '';
  const all = [
    `# ${models.join(' and ')}`,
    ...(settings.system.trim() === '' ? [] : ['## system', settings.system]),
    ...parts,
    ...(counted === '' ? [] : ['## all saved conversations of these models', counted]),
  ];
  return `${sanitise(all.filter(part => part !== '').join('\n\n'), { multiline: true })}\n`;
}
