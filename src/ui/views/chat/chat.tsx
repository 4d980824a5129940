/** The chat: one or two conversations, their streaming answers, and the input below. */
import { Box, Text } from 'ink';
import { type Dispatch, useEffect, useMemo, useReducer } from 'react';
import { answersAt, type Preference, preferences } from '../../../chat/choices.ts';
import { type AnswerStats, type Turn, tokensPerSecond } from '../../../chat/conversation.ts';
import { exportedChat, titleOf, trajectoriesOf } from '../../../chat/kept.ts';
import type { Deployment } from '../../../contract/deployments.ts';
import type { SupportedModel } from '../../../contract/models.ts';
import { type Fact, referenceFact } from '../../../present/fact.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { chatModelsQuery, modelList } from '../../../queries/models.ts';
import type { Attention } from '../../../queries/polling.ts';
import type { ChatPrompt } from '../../../resources/place.ts';
import { exportFileName } from '../../../text/export.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { duration } from '../../../text/time.ts';
import { displayWidth, fitCells } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useCopy } from '../../app/use-copy.ts';
import { type Pane, usePane, View } from '../../app/view.tsx';
import { useList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { useUnfinished } from '../../data/workbench.tsx';
import { recordCommands } from '../../keys/general.ts';
import { type Binding, KeyScope, useKeyOf } from '../../keys/router.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import { factLines } from '../../widgets/facts.ts';
import { Lines } from '../../widgets/lines.tsx';
import { fieldHandlers, textOf } from '../../widgets/text-field/editing.ts';
import { areaView, withCaret } from '../../widgets/text-field/field-view.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { chatCommands } from '../commands.ts';
import { ExportWindow } from '../record/export-window.tsx';
import { linesAround, useDoors } from '../record/use-doors.ts';
import { chatText } from './chat-text.ts';
import { countWords, verdictWords } from './choice-words.ts';
import { openingLines, positionOf, type TurnMarks } from './conversation-lines.ts';
import { ConversationPane } from './conversation-pane.tsx';
import { type Draft, type DraftAction, draftReducer, emptyDraft, manyLines, selectedQuestion } from './draft.ts';
import { type ChatStart, type ChatState, type Side, useChat } from './use-chat.ts';
import { useCheckpoints } from './use-checkpoints.ts';
import {
  EarlierWindow,
  ForgetWindow,
  ModelWindow,
  SaveWindow,
  type SaveWindowProps,
  SettingsWindow,
} from './windows.tsx';

function lastAnswer({ session }: Side): Turn | undefined {
  return session.conversation.turns.findLast(turn => turn.role === 'assistant');
}

/** The statistics of a side's last answer, under the model's name. */
function sideLines(side: Side, alone: boolean, width: number, theme: Theme): string[] {
  const stats = lastAnswer(side)?.stats;
  // A second model starts with the turns of the first, which are not its answers.
  const own = alone || stats?.model === side.settings.model ? stats : undefined;
  const heading = alone ? 'LAST ANSWER' : sanitiseLine(side.settings.model).toUpperCase();
  const model = alone && stats ? [{ label: 'model', value: stats.model }] : [];
  const none = own ? [] : [theme.styles.muted('no answer yet')];
  return [theme.styles.header(heading), ...none, ...factLines([...model, ...answerFacts(own)], width, theme)];
}

/** Where a slug comes from: an active deployment, or the list of models. */
function modelFact(label: string, slug: string, deployments: readonly Deployment[]): Fact {
  const serving = deployments.find(({ model_slug, is_active }) => model_slug === slug && is_active);
  const fact = serving
    ? referenceFact(label, 'deployments', serving.deployment_id)
    : referenceFact(label, 'models', slug);
  return { ...fact, value: slug };
}

function deployed(deployments: readonly Deployment[]): string[] {
  return deployments.flatMap(({ model_slug, is_active }) => (model_slug && is_active ? [model_slug] : []));
}

const noMarks = (): TurnMarks => ({});

/** Cells at the bottom for the position in the text. */
const positionRoom = 10;
/** Cells beside a notice: its mark, the border, and a key. */
const toastRoom = 6;

/** Below this width, one of two conversations is shown at a time. */
const twoColumnsFrom = 72;

function answerFacts(stats: AnswerStats | undefined): readonly Fact[] {
  if (!stats) return [];
  const rate = tokensPerSecond(stats);
  return [
    { label: 'finished', value: stats.finishReason },
    { label: 'tokens in', value: stats.promptTokens },
    { label: 'tokens out', value: stats.completionTokens },
    { label: 'first text', value: stats.firstMs === undefined ? undefined : duration(stats.firstMs) },
    { label: 'all', value: stats.totalMs === undefined ? undefined : duration(stats.totalMs) },
    { label: 'tokens/s', value: rate === undefined ? undefined : Math.round(rate) },
  ];
}

/** The conversation that puts a prompt to two models; its last question is the draft. */
const startOf = ({ system, second, questions }: ChatPrompt): ChatStart => ({
  settings: { system, secondModel: second },
  turns: questions.slice(0, -1).map(content => ({ role: 'user', content, reasoning: '' })),
});

/** The draft, kept while another view is on screen. @param text the first message, not sent yet */
function useDraft(text: string) {
  const [left, keep] = useMemory<Draft>('draft');
  const [draft, dispatch] = useReducer(draftReducer, left ?? draftReducer(emptyDraft, { kind: 'set', text }));
  useEffect(() => keep(draft), [keep, draft]);
  return [draft, dispatch] as const;
}

/** The slugs to choose from: listed models, active deployments, and those of the chat endpoint. */
function useSlugs(
  listed: readonly SupportedModel[],
  deployments: readonly Deployment[],
  attention: Attention,
): readonly string[] {
  const chatModels = useLive(chatModelsQuery, attention);
  const known = [...listed.map(row => row.model_slug), ...deployed(deployments)];
  return [...new Set([...known, ...(chatModels.data ?? []).map(({ id }) => id)])];
}

/** The windows of the chat. */
function useWindows(chat: ChatState, slugs: readonly string[], leaveQuestions: () => void) {
  const { showOverlay, toast } = useShell();
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
          chats={chat.earlier()}
          onChoose={chosen => {
            leaveQuestions();
            chat.open(chosen);
          }}
          onClose={close}
        />
      )),
    forget: () =>
      showOverlay('forget-chat', close => (
        <ForgetWindow
          title={titleOf(chat.turns)}
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
          document={() => ({ name, text })}
          siblings="chat"
          onClose={close}
        />
      ));
    },
  };
}

/** The indexes of the questions among the turns. */
function questionsOf(turns: readonly Turn[]): readonly number[] {
  return turns.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
}

function useBindings(
  chat: ChatState,
  read: Side,
  slugs: readonly string[],
  [draft, dispatch]: readonly [Draft, Dispatch<DraftAction>],
): readonly Binding[] {
  const { toast, layout } = useShell();
  const keyOf = useKeyOf();
  const copy = useCopy();
  const leaveQuestions = (): void => dispatch({ kind: 'leave-questions' });
  const windows = useWindows(chat, slugs, leaveQuestions);
  const { turns, answering } = chat;
  const idle = !answering;
  const hasTurns = idle && turns.length > 0;
  const last = lastAnswer(read)?.content ?? '';
  const questions = questionsOf(turns);
  const selected = selectedQuestion(draft, questions);
  const answer = selected === undefined ? -1 : selected + 1;
  const [one, other] = chat.sides;
  const answers = other
    ? answersAt(one.session.conversation.turns, other.session.conversation.turns, answer)
    : { why: `Choose a second model first: ${keyOf(chatCommands.model)}` };
  const choose = (better: Preference | undefined): void => {
    const counts = better && chat.choose(answer, better);
    if (counts)
      toast({ kind: 'info', text: countWords(counts, layout.columns - toastRoom) || 'The choice is taken back' });
  };
  const select = (by: -1 | 1) => (): void => dispatch({ kind: 'select', by, questions });
  const goTo = (by: -1 | 1) => (): void => {
    leaveQuestions();
    chat.goTo(chat.branch + by);
  };
  const begin = (): void => {
    leaveQuestions();
    chat.begin();
  };
  const send = (): void => {
    const text = textOf(draft.typed).trim();
    if (text === '' || answering) return;
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
  const write = (writing: boolean) => (): void => dispatch({ kind: 'writing', writing });
  return [
    { command: chatCommands.cancel, run: chat.stop, enabled: answering },
    { command: chatCommands.send, run: send, enabled: draft.writing && idle },
    { command: chatCommands.leave, run: write(false), enabled: draft.writing && idle },
    { command: chatCommands.write, run: write(true), enabled: !draft.writing },
    { command: chatCommands.model, run: windows.chooseModel },
    { command: chatCommands.settings, run: windows.setParameters },
    { command: chatCommands.regenerate, run: chat.again, enabled: hasTurns },
    { command: chatCommands.previousQuestion, run: select(-1), enabled: questions.length > 0 },
    { command: chatCommands.nextQuestion, run: select(1), enabled: questions.length > 0 },
    {
      command: chatCommands.edit,
      run: () =>
        dispatch(
          draft.editing || selected === undefined
            ? { kind: 'end-edit' }
            : { kind: 'edit', question: selected, text: turns[selected]?.content ?? '' },
        ),
      enabled: hasTurns,
    },
    { command: chatCommands.previousBranch, run: goTo(-1), enabled: idle && chat.branch > 0 },
    { command: chatCommands.nextBranch, run: goTo(1), enabled: idle && chat.branch < chat.branches.length - 1 },
    {
      command: chatCommands.choose,
      run: ({ name }) => choose(preferences[Number(name) - 1]),
      why: 'why' in answers ? answers.why : undefined,
    },
    { command: chatCommands.side, run: () => dispatch({ kind: 'side' }), enabled: chat.sides.length > 1 },
    { command: chatCommands.clear, run: begin, enabled: turns.length > 0 },
    { command: chatCommands.history, run: windows.showEarlier, enabled: idle },
    { command: chatCommands.forget, run: windows.forget, enabled: hasTurns },
    { command: chatCommands.save, run: windows.save, enabled: idle && turns.some(turn => turn.content !== '') },
    { command: recordCommands.export, run: windows.export, enabled: hasTurns },
    { command: chatCommands.copy, run: () => copy(last, 'the answer'), enabled: last !== '' },
  ];
}

export function ChatView({ place }: ViewProps<'chat'>) {
  const pane = usePane('main');
  const keyOf = useKeyOf();
  const { glyphs } = useTheme();
  const { prompt } = place;
  const models = useList(modelList, 'visible');
  const { rows: deployments } = useList(deploymentList, 'visible');
  const slugs = useSlugs(models.rows, deployments, pane.attention);
  const chat = useChat(place.model || models.rows[0]?.model_slug || '', prompt && startOf(prompt));
  const [draft, dispatch] = useDraft(prompt?.questions.at(-1) ?? '');
  const checkpoints = useCheckpoints(prompt, chat, deployments);
  useUnfinished(textOf(draft.typed).trim() === '' ? undefined : 'The unsent message in the chat');
  const { sides } = chat;
  // The second model may have been removed while it was shown.
  const read = sides[draft.side] ?? sides[0];
  const shown = pane.width < twoColumnsFrom ? [read] : sides;
  const isReading = !draft.writing;
  const questions = questionsOf(chat.turns);
  const selected = selectedQuestion(draft, questions);
  const { choiceAt, forks } = chat;
  // One function per side, the same until a mark changes: the conversation is then laid out once.
  const marks = useMemo(() => {
    const isMarked = isReading && questions.length > 1;
    return ([0, 1] as const).map(side => (index: number): TurnMarks => {
      const better = choiceAt(index)?.better;
      return {
        isSelected: isMarked && index === selected,
        fork: forks[side].get(index),
        verdict: better && verdictWords[better][side],
      };
    });
  }, [isReading, questions.length, selected, choiceAt, forks]);
  const branch =
    chat.branches.length > 1 ? `branch ${positionOf([chat.branch + 1, chat.branches.length], glyphs)}` : '';
  const isOneOfTwo = shown.length < sides.length;
  const side = isOneOfTwo ? `${draft.side + 1} of ${sides.length}, ${keyOf(chatCommands.side)} for the other` : '';
  // Whole parts only: half a number would be a wrong one.
  let more = '';
  const room = pane.width - positionRoom;
  const add = (...forms: readonly string[]): void => {
    const longer = forms.map(form => [more, form].filter(Boolean).join('  '));
    more = longer.find(words => displayWidth(words) <= room) ?? more;
  };
  add(side);
  add(branch);
  add(...checkpoints.words);
  if (!isOneOfTwo && chat.counts) add(countWords(chat.counts, room - displayWidth(more) - 2));
  const bindings = [...useBindings(chat, read, slugs, [draft, dispatch]), ...checkpoints.bindings];

  const inputLines = pane.height >= 16 ? 4 : 2;
  const height = Math.max(3, pane.height - inputLines - 1);
  const { loaded, error } = models;
  return (
    <View
      bindings={draft.writing ? [] : bindings}
      main={
        <Box flexDirection="column">
          <ConversationPane
            sides={shown.map(side => ({
              conversation: side.session.conversation,
              model: side.settings.model,
              isRead: side === read,
              marks: marks[side === sides[0] ? 0 : 1] ?? noMarks,
            }))}
            width={pane.width}
            height={height}
            focused={pane.focused && !draft.writing}
            follows={draft.writing}
            more={more}
            selected={isReading ? draft.question : undefined}
            opening={(model, room) => openingLines({ model, loaded, error, about: prompt?.words }, room, keyOf)}
          />
          <Input
            pane={pane}
            lines={inputLines}
            draft={draft}
            dispatch={dispatch}
            bindings={bindings}
            heading={
              draft.editing
                ? `question ${questions.indexOf(draft.editing.question) + 1} of ${questions.length}, sent in a new branch; ${keyOf(chatCommands.leave)} ${keyOf(chatCommands.edit)} gives it up`
                : ''
            }
          />
        </Box>
      }
      inspector={<Inspector chat={chat} />}
    />
  );
}

interface InputProps {
  readonly pane: Pane;
  readonly lines: number;
  readonly draft: Draft;
  readonly dispatch: Dispatch<DraftAction>;
  readonly bindings: readonly Binding[];
  /** What the message is, unless it is the next one. */
  readonly heading: string;
}

/** The unsent message. */
function Input({ pane, lines, draft, dispatch, bindings, heading }: InputProps) {
  const { styles, glyphs } = useTheme();
  const keyOf = useKeyOf();
  const writing = pane.focused && draft.writing;
  const view = areaView(draft.typed, pane.width - 4, lines);
  const empty = draft.typed.characters.length === 0;
  return (
    <KeyScope
      active={writing}
      bindings={bindings}
      {...fieldHandlers(manyLines, press => dispatch({ kind: 'press', press }))}
    >
      <Text wrap="truncate">
        {heading === ''
          ? styles.border(glyphs.horizontal.repeat(pane.width))
          : styles.warning(fitCells(` Editing ${heading}`, pane.width))}
      </Text>
      <Box flexDirection="column" height={lines}>
        {view.lines.map((line, index) => (
          <Text key={index} wrap="truncate">
            {`${index === 0 ? styles.key(glyphs.crumb) : ' '} ${writing ? withCaret(view, index, styles.caret) : line}`}
          </Text>
        ))}
        {empty && !writing ? <Text>{styles.muted(`  ${keyOf(chatCommands.write)} writes`)}</Text> : null}
      </Box>
    </KeyScope>
  );
}

/** The settings, and the statistics of each model's last answer. */
function Inspector({ chat: { settings, sides, counts } }: { chat: ChatState }) {
  const { width, height, focused } = usePane('inspector');
  const theme = useTheme();
  const { rows: deployments } = useList(deploymentList, 'visible');
  const room = width - 2;
  const facts: readonly Fact[] = [
    settings.model ? modelFact('model', settings.model, deployments) : { label: 'model', value: 'none yet' },
    ...(settings.secondModel ? [modelFact('second model', settings.secondModel, deployments)] : []),
    { label: 'system', value: settings.system || 'none' },
    { label: 'temperature', value: settings.temperature ?? 'service default' },
    { label: 'top p', value: settings.top_p ?? 'service default' },
    { label: 'token limit', value: settings.max_tokens ?? 'service default' },
  ];
  const answers = sides.flatMap((side, index) => [
    ...(index > 0 ? [''] : []),
    ...sideLines(side, sides.length === 1, room, theme),
  ]);
  const chosen =
    counts && countWords(counts, undefined, [sanitiseLine(settings.model), sanitiseLine(settings.secondModel ?? '')]);
  const counted = chosen ? ['', theme.styles.header('CHOSEN'), ...wrap(chosen, room)] : [];
  const parts = [{ facts }, { lines: ['', ...answers, ...counted], facts: [] }];
  const doors = useDoors(parts, { pane: 'inspector', width: room, focused });
  return (
    <KeyScope active={focused} bindings={doors.bindings}>
      <Box paddingLeft={1}>
        <Lines lines={linesAround(doors.lines, height, doors.at)} width={room} height={height} />
      </Box>
    </KeyScope>
  );
}
