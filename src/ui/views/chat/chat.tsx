/** The chat: one or two conversations, their streaming answers, and the input below. */
import { Box, Text } from 'ink';
import { type Dispatch, useReducer } from 'react';
import { type AnswerStats, type Turn, tokensPerSecond } from '../../../chat/conversation.ts';
import { titleOf } from '../../../chat/kept.ts';
import type { Deployment } from '../../../contract/deployments.ts';
import type { SupportedModel } from '../../../contract/models.ts';
import { type Fact, referenceFact } from '../../../present/fact.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { chatModelsQuery, modelList } from '../../../queries/models.ts';
import type { Attention } from '../../../queries/polling.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { duration } from '../../../text/time.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useCopy } from '../../app/use-copy.ts';
import { type Pane, usePane, View } from '../../app/view.tsx';
import { useList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { useUnfinished } from '../../data/workbench.tsx';
import { type Binding, KeyScope, useKeyOf } from '../../keys/router.tsx';
import { factLines } from '../../widgets/facts.ts';
import { Lines } from '../../widgets/lines.tsx';
import { fieldHandlers, textOf } from '../../widgets/text-field/editing.ts';
import { areaView, withCaret } from '../../widgets/text-field/field-view.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { chatCommands } from '../commands.ts';
import { linesAround, useDoors } from '../record/use-doors.ts';
import { openingLines } from './conversation-lines.ts';
import { ConversationPane } from './conversation-pane.tsx';
import { type Draft, type DraftAction, draftReducer, emptyDraft, manyLines } from './draft.ts';
import { type ChatState, type Side, useChat } from './use-chat.ts';
import { EarlierWindow, ForgetWindow, ModelWindow, SaveWindow, SettingsWindow } from './windows.tsx';

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

/** The slugs to choose from: listed models, active deployments, and those of the chat endpoint. */
function useSlugs(listed: readonly SupportedModel[], attention: Attention): readonly string[] {
  const chatModels = useLive(chatModelsQuery, attention);
  const deployments = useList(deploymentList, 'visible');
  const known = [...listed.map(row => row.model_slug), ...deployed(deployments.rows)];
  return [...new Set([...known, ...(chatModels.data ?? []).map(({ id }) => id)])];
}

/** The windows of the chat. `read` is the conversation to save. */
function useWindows(chat: ChatState, read: Side, slugs: readonly string[]) {
  const { showOverlay, toast } = useShell();
  const { settings, change } = chat;
  return {
    chooseModel: () =>
      showOverlay('chat', close => <ModelWindow settings={settings} slugs={slugs} onChange={change} onClose={close} />),
    setParameters: () =>
      showOverlay('chat', close => <SettingsWindow settings={settings} onChange={change} onClose={close} />),
    showEarlier: () =>
      showOverlay('chats', close => <EarlierWindow chats={chat.earlier()} onChoose={chat.open} onClose={close} />),
    forget: () =>
      showOverlay('forget-chat', close => (
        <ForgetWindow
          title={titleOf(chat.turns)}
          onForget={() => {
            chat.forget();
            toast({ kind: 'success', text: 'Forgotten' });
          }}
          onClose={close}
        />
      )),
    save: () =>
      showOverlay('save-chat', close => (
        <SaveWindow
          settings={read.settings}
          turns={read.session.conversation.turns}
          isOneOfTwo={chat.sides.length > 1}
          onClose={close}
        />
      )),
  };
}

function useBindings(
  chat: ChatState,
  read: Side,
  slugs: readonly string[],
  [draft, dispatch]: readonly [Draft, Dispatch<DraftAction>],
): readonly Binding[] {
  const { toast } = useShell();
  const keyOf = useKeyOf();
  const copy = useCopy();
  const windows = useWindows(chat, read, slugs);
  const { turns, answering } = chat;
  const idle = !answering;
  const hasTurns = idle && turns.length > 0;
  const last = lastAnswer(read)?.content ?? '';
  const send = (): void => {
    const text = textOf(draft.typed).trim();
    if (text === '' || answering) return;
    if (chat.settings.model === '') {
      toast({ kind: 'warning', text: `Choose a model first: ${keyOf(chatCommands.model)}` });
      return;
    }
    chat.send(text);
    dispatch({ kind: 'set', text: '' });
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
    { command: chatCommands.edit, run: () => dispatch({ kind: 'set', text: chat.takeBack() }), enabled: hasTurns },
    { command: chatCommands.side, run: () => dispatch({ kind: 'side' }), enabled: chat.sides.length > 1 },
    { command: chatCommands.clear, run: chat.begin, enabled: turns.length > 0 },
    { command: chatCommands.history, run: windows.showEarlier, enabled: idle },
    { command: chatCommands.forget, run: windows.forget, enabled: hasTurns },
    { command: chatCommands.save, run: windows.save, enabled: idle && turns.some(turn => turn.content !== '') },
    { command: chatCommands.copy, run: () => copy(last, 'the answer'), enabled: last !== '' },
  ];
}

export function ChatView({ place }: ViewProps<'chat'>) {
  const pane = usePane('main');
  const keyOf = useKeyOf();
  const models = useList(modelList, 'visible');
  const slugs = useSlugs(models.rows, pane.attention);
  const chat = useChat(place.model || models.rows[0]?.model_slug || '');
  const [draft, dispatch] = useReducer(draftReducer, emptyDraft);
  useUnfinished(textOf(draft.typed).trim() === '' ? undefined : 'The unsent message in the chat');
  const { sides } = chat;
  // The second model may have been removed while it was shown.
  const read = sides[draft.side] ?? sides[0];
  const shown = pane.width < twoColumnsFrom ? [read] : sides;
  const bindings = useBindings(chat, read, slugs, [draft, dispatch]);

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
            }))}
            width={pane.width}
            height={height}
            focused={pane.focused && !draft.writing}
            follows={draft.writing}
            more={
              shown.length < sides.length
                ? `${draft.side + 1} of ${sides.length}, ${keyOf(chatCommands.side)} for the other`
                : ''
            }
            opening={(model, room) => openingLines({ model, loaded, error }, room, keyOf)}
          />
          <Input pane={pane} lines={inputLines} draft={draft} dispatch={dispatch} bindings={bindings} />
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
}

/** The unsent message. */
function Input({ pane, lines, draft, dispatch, bindings }: InputProps) {
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
      <Text wrap="truncate">{styles.border(glyphs.horizontal.repeat(pane.width))}</Text>
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
function Inspector({ chat: { settings, sides } }: { chat: ChatState }) {
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
  const parts = [{ facts }, { lines: ['', ...answers], facts: [] }];
  const doors = useDoors(parts, { pane: 'inspector', width: room, focused });
  return (
    <KeyScope active={focused} bindings={doors.bindings}>
      <Box paddingLeft={1}>
        <Lines lines={linesAround(doors.lines, height, doors.at)} width={room} height={height} />
      </Box>
    </KeyScope>
  );
}
