/** The chat's keys, and the windows that they open. */
import type { Dispatch } from 'react';
import { answersAt, type Preference, preferences } from '../../../chat/choices.ts';
import { type Turn, turnText } from '../../../chat/conversation.ts';
import { exportedChat, isStored, titleOf, trajectoriesOf } from '../../../chat/saved.ts';
import { exportFileName } from '../../../text/export.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useCopy } from '../../app/use-copy.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { recordCommands } from '../../keys/general.ts';
import { type Binding, useKeyOf } from '../../keys/router.tsx';
import { enteredText } from '../../widgets/text-field/editing.ts';
import { chatCommands } from '../commands.ts';
import { ExportWindow } from '../record/export-window.tsx';
import { chatText } from './chat-text.ts';
import { describeCounts } from './describe-choices.ts';
import { type Draft, type DraftAction, selectedQuestion } from './draft.ts';
import type { ChatState, Side } from './use-chat.ts';
import {
  EarlierWindow,
  ForgetWindow,
  ModelWindow,
  SaveWindow,
  type SaveWindowProps,
  SettingsWindow,
} from './windows.tsx';

const unreadableText = 'This conversation cannot be read: it is damaged, or from another version of benchtop';

/** Cells that the rest of a notice takes: its mark, the border, and a key. */
const toastRoom = 6;

export function lastAnswer({ session }: Side): Turn | undefined {
  return session.conversation.turns.findLast(turn => turn.role === 'assistant');
}

/** The turn indexes of the questions. */
export function questionsOf(turns: readonly Turn[]): readonly number[] {
  return turns.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
}

function useWindows(chat: ChatState, slugs: readonly string[], leaveQuestions: () => void) {
  const { showOverlay, toast } = useShell();
  const { remembered } = useWorkbench();
  const { settings, change } = chat;
  const showSave = (props: Pick<SaveWindowProps, 'halves' | 'initial'>): void =>
    showOverlay('save-chat', close => <SaveWindow {...props} onRefused={showSave} onClose={close} />);
  return {
    chooseModel: () =>
      showOverlay('chat', close => <ModelWindow settings={settings} slugs={slugs} onChange={change} onClose={close} />),
    setParameters: () =>
      showOverlay('chat', close => <SettingsWindow settings={settings} onChange={change} onClose={close} />),
    showEarlier: () =>
      showOverlay('chats', close => (
        <EarlierWindow
          chats={remembered.chats()}
          onChoose={id => {
            leaveQuestions();
            if (!chat.open(id)) toast({ kind: 'danger', text: unreadableText });
          }}
          onClose={close}
        />
      )),
    forget: () =>
      showOverlay('forget-chat', close => (
        <ForgetWindow
          title={titleOf(chat.turns)}
          choices={chat.choices.length}
          onForget={() => {
            leaveQuestions();
            chat.forget();
            toast({ kind: 'success', text: 'Forgotten' });
          }}
          onClose={close}
        />
      )),
    save: () => showSave({ halves: task => trajectoriesOf(chat.whole, task) }),
    export: () => {
      const json = exportedChat(chat.whole);
      const text = chatText(chat);
      const name = exportFileName('chat', json.conversation_id, 'text', new Date());
      showOverlay('export', close => (
        <ExportWindow
          record={{ id: json.conversation_id, json }}
          document={() => ({ name, parts: [text] })}
          siblings="chat"
          onClose={close}
        />
      ));
    },
  };
}

type DraftState = readonly [Draft, Dispatch<DraftAction>];

/** The keys that select a question, edit it, and choose between its answers. */
function useQuestionBindings(chat: ChatState, [draft, dispatch]: DraftState): readonly Binding[] {
  const { toast, layout } = useShell();
  const keyOf = useKeyOf();
  const { turns, answering } = chat;
  const questions = questionsOf(turns);
  const selected = selectedQuestion(draft, questions);
  const answer = selected === undefined ? -1 : selected + 1;
  const [one, other] = chat.sides;
  const answers = other
    ? answersAt(one.session.conversation.turns, other.session.conversation.turns, answer)
    : { why: `Choose a second model first: ${keyOf(chatCommands.model)}` };
  const choose = (better: Preference | undefined): void => {
    const counts = better && chat.choose(answer, better);
    if (counts) toast({ kind: 'info', text: describeCounts(counts, layout.columns - toastRoom) || 'Choice removed' });
  };
  const select = (by: -1 | 1) => (): void => dispatch({ kind: 'select', by, questions });
  const isEditing = draft.editing !== undefined || selected === undefined;
  return [
    { command: chatCommands.previousQuestion, run: select(-1), enabled: questions.length > 0 },
    { command: chatCommands.nextQuestion, run: select(1), enabled: questions.length > 0 },
    {
      command: chatCommands.edit,
      run: () =>
        dispatch(
          isEditing ? { kind: 'end-edit' } : { kind: 'edit', question: selected, text: turns[selected]?.content ?? '' },
        ),
      enabled: !answering && turns.length > 0,
    },
    {
      command: chatCommands.choose,
      run: ({ name }) => choose(preferences[Number(name) - 1]),
      why: 'why' in answers ? answers.why : undefined,
    },
  ];
}

/** Sends the message as the next question, or in place of the one being edited. */
function useSend(chat: ChatState, [draft, dispatch]: DraftState): () => void {
  const { toast } = useShell();
  const keyOf = useKeyOf();
  return () => {
    const text = enteredText(draft.typed);
    if (text.trim() === '' || chat.answering) return;
    if (chat.settings.model === '') {
      toast({ kind: 'warning', text: `Choose a model first: ${keyOf(chatCommands.model)}` });
      return;
    }
    if (draft.editing) {
      chat.edit(draft.editing.question, text);
      dispatch({ kind: 'end-edit' });
    } else {
      chat.send(text);
      dispatch({ kind: 'set', text: '' });
    }
  };
}

/** @param read the side whose answer can be copied */
export function useBindings(
  chat: ChatState,
  read: Side,
  slugs: readonly string[],
  state: DraftState,
): readonly Binding[] {
  const [{ writing }, dispatch] = state;
  const copy = useCopy();
  const keyOf = useKeyOf();
  const leaveQuestions = (): void => dispatch({ kind: 'leave-questions' });
  const windows = useWindows(chat, slugs, leaveQuestions);
  const { turns, answering } = chat;
  const idle = !answering;
  const hasTurns = idle && turns.length > 0;
  const answer = lastAnswer(read);
  const last = answer ? turnText(answer) : '';
  const goTo = (by: -1 | 1) => (): void => {
    leaveQuestions();
    chat.goTo(chat.branch + by);
  };
  const begin = (): void => {
    leaveQuestions();
    chat.begin();
  };
  const write = (isWriting: boolean) => (): void => dispatch({ kind: 'writing', writing: isWriting });
  return [
    { command: chatCommands.cancel, run: chat.stop, enabled: answering },
    { command: chatCommands.send, run: useSend(chat, state), enabled: writing && idle },
    { command: chatCommands.leave, run: write(false), enabled: writing && idle },
    { command: chatCommands.write, run: write(true), enabled: !writing },
    {
      command: chatCommands.model,
      run: windows.chooseModel,
      // A second model gets the conversation so far, which must not end with half an answer.
      why: answering ? `The answer must end first: ${keyOf(chatCommands.cancel)} stops it` : undefined,
    },
    { command: chatCommands.settings, run: windows.setParameters },
    { command: chatCommands.regenerate, run: chat.again, enabled: hasTurns },
    ...useQuestionBindings(chat, state),
    { command: chatCommands.previousBranch, run: goTo(-1), enabled: idle && chat.branch > 0 },
    { command: chatCommands.nextBranch, run: goTo(1), enabled: idle && chat.branch < chat.branches.length - 1 },
    { command: chatCommands.side, run: () => dispatch({ kind: 'side' }), enabled: chat.sides.length > 1 },
    { command: chatCommands.clear, run: begin, enabled: turns.length > 0 },
    { command: chatCommands.history, run: windows.showEarlier, enabled: idle },
    { command: chatCommands.forget, run: windows.forget, enabled: hasTurns },
    {
      command: chatCommands.save,
      run: windows.save,
      enabled: hasTurns,
      why: chat.sides.some(({ session }) => session.conversation.turns.some(isStored))
        ? undefined
        : 'No answer is complete yet',
    },
    { command: recordCommands.export, run: windows.export, enabled: hasTurns },
    { command: chatCommands.copy, run: () => copy(last, 'the answer'), enabled: last !== '' },
  ];
}
