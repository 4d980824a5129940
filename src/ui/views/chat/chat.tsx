/** The chat: the conversation, the streaming answer, and the input below. */
import { Box, Text } from 'ink';
import { useEffect, useReducer, useState } from 'react';
import type { Deployment } from '../../../contract/deployments.ts';
import type { Fact } from '../../../present/fact.ts';
import { type ChatSession, type ChatSettings, useChatSession } from '../../../queries/chat-session.ts';
import { type AnswerStats, type Turn, tokensPerSecond } from '../../../queries/conversation.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { titleOf, useChats, useKeptChat } from '../../../queries/kept-chats.ts';
import { chatModelsQuery, modelList } from '../../../queries/models.ts';
import { useList } from '../../../queries/use-list.ts';
import { useLive } from '../../../queries/use-live.ts';
import { useUnfinished } from '../../../queries/use-workbench.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { duration } from '../../../text/time.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useCopy } from '../../app/use-copy.ts';
import { Separator, usePane, View } from '../../app/view.tsx';
import { type Binding, KeyScope, useKeyOf } from '../../keys/router.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import { factLines } from '../../widgets/facts.ts';
import { fieldHandlers, textOf } from '../../widgets/text-field/editing.ts';
import { areaView, withCaret } from '../../widgets/text-field/field-view.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { chatCommands } from '../commands.ts';
import { Lines } from '../shared/lines.tsx';
import { openingLines } from './conversation-lines.ts';
import { ConversationPane } from './conversation-pane.tsx';
import { draftReducer, emptyDraft, manyLines } from './draft.ts';
import { EarlierWindow, ForgetWindow, ModelWindow, SaveWindow, SettingsWindow } from './windows.tsx';

/** A conversation with its settings. */
interface Side {
  readonly session: ChatSession;
  readonly settings: ChatSettings;
}

function lastAnswer({ session }: Side): Turn | undefined {
  return session.conversation.turns.findLast(turn => turn.role === 'assistant');
}

/** The numbers of a side's last answer, under the model's name. */
function sideLines(side: Side, alone: boolean, width: number, theme: Theme): string[] {
  const stats = lastAnswer(side)?.stats;
  // A second model starts with the first one's turns, which are not its own answers.
  const own = alone || stats?.model === side.settings.model ? stats : undefined;
  const heading = alone ? 'LAST ANSWER' : sanitiseLine(side.settings.model).toUpperCase();
  const given = alone && stats ? [{ label: 'model', value: stats.model }] : [];
  const none = own ? [] : [theme.styles.muted('no answer yet')];
  return [theme.styles.header(heading), ...none, ...factLines([...given, ...answerFacts(own)], width, theme)];
}

/** Slugs of active deployments. */
function deployed(deployments: readonly Deployment[]): string[] {
  return deployments.flatMap(({ model_slug, is_active }) => (model_slug && is_active ? [model_slug] : []));
}

/** Two share the width, less the line between them. */
function sideWidth(width: number, index: number, count: number): number {
  if (count === 1) return width;
  const first = Math.floor((width - 1) / 2);
  return index === 0 ? first : width - 1 - first;
}

function answerFacts(stats: AnswerStats | undefined): readonly Fact[] {
  if (!stats) return [];
  const rate = tokensPerSecond(stats);
  return [
    { label: 'finished', value: stats.finishReason },
    { label: 'tokens in', value: stats.promptTokens },
    { label: 'tokens out', value: stats.completionTokens },
    { label: 'first text', value: stats.firstMs === undefined ? undefined : duration(stats.firstMs) },
    { label: 'whole', value: stats.totalMs === undefined ? undefined : duration(stats.totalMs) },
    { label: 'tokens/s', value: rate === undefined ? undefined : Math.round(rate) },
  ];
}

const defaults: ChatSettings = { model: '', system: '' };

export function ChatView({ place }: ViewProps<'chat'>) {
  const shell = useShell();
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const { styles, glyphs } = theme;
  const keyOf = useKeyOf();
  const session = useChatSession(...useMemory<ChatSession>('talk'));
  const secondSession = useChatSession(...useMemory<ChatSession>('second talk'));
  const [chosen, rememberChosen] = useMemory<ChatSettings>('settings');
  const models = useList(modelList, 'visible');
  const chatModels = useLive(chatModelsQuery, pane.attention);
  const deployments = useList(deploymentList, 'visible');
  const [own, setSettings] = useState<ChatSettings>(() => ({ ...defaults, ...chosen }));
  const settings = { ...own, model: own.model || place.model || models.rows[0]?.model_slug || '' };
  const first: Side = { session, settings };
  const sides: readonly Side[] = [
    first,
    ...(settings.secondModel
      ? [{ session: secondSession, settings: { ...settings, model: settings.secondModel } }]
      : []),
  ];
  const { turns } = session.conversation;
  const answering = sides.some(side => side.session.conversation.answering);
  const [knownId, rememberId] = useMemory<string>('id');
  const [id, setId] = useState(() => knownId ?? crypto.randomUUID());
  useKeptChat({ id, settings }, session, settings.secondModel ? secondSession : undefined);
  const chats = useChats();
  const { remembered } = useWorkbench();
  useEffect(() => rememberId(id), [rememberId, id]);
  useEffect(() => rememberChosen(own), [rememberChosen, own]);
  const [draft, dispatch] = useReducer(draftReducer, emptyDraft);
  useUnfinished(textOf(draft.typed).trim() === '' ? undefined : 'The message that is being written in the chat');
  // The second model may have been removed while it was shown.
  const read = sides[draft.side] ?? first;

  const inputLines = pane.height >= 16 ? 4 : 2;
  const conversationHeight = Math.max(3, pane.height - inputLines - 1);
  const { loaded, error } = models;

  const send = (): void => {
    const text = textOf(draft.typed).trim();
    if (text === '' || answering) return;
    if (settings.model === '') {
      shell.toast({ kind: 'warning', text: `Choose a model first: ${keyOf(chatCommands.model)}` });
      return;
    }
    for (const side of sides) side.session.send(text, side.settings);
    dispatch({ kind: 'set', text: '' });
  };
  const last = lastAnswer(read);
  const copy = useCopy();
  const change = (next: ChatSettings): void => {
    // A second model added later knows the earlier turns.
    if (next.secondModel && next.secondModel !== settings.secondModel) secondSession.open(turns);
    setSettings(next);
  };
  const known = [...models.rows.map(row => row.model_slug), ...deployed(deployments.rows)];
  const slugs = [...new Set([...known, ...(chatModels.data ?? []).map(({ id }) => id)])];
  const chooseModel = (): void =>
    shell.showOverlay({
      id: 'chat',
      render: close => <ModelWindow settings={settings} slugs={slugs} onChange={change} onClose={close} />,
    });
  const setParameters = (): void =>
    shell.showOverlay({
      id: 'chat',
      render: close => <SettingsWindow settings={settings} onChange={change} onClose={close} />,
    });

  const begin = (): void => {
    for (const side of sides) side.session.clear();
    setId(crypto.randomUUID());
  };
  const forget = (): void =>
    shell.showOverlay({
      id: 'forget-chat',
      render: close => (
        <ForgetWindow
          title={titleOf(turns)}
          onForget={() => {
            remembered.forgetChat(id);
            begin();
            shell.toast({ kind: 'success', text: 'Forgotten' });
          }}
          onClose={close}
        />
      ),
    });
  const showEarlier = (): void =>
    shell.showOverlay({
      id: 'chats',
      render: close => (
        <EarlierWindow
          chats={chats()}
          onChoose={chat => {
            setId(chat.id);
            setSettings(chat.settings);
            session.open(chat.turns);
            secondSession.open(chat.secondTurns ?? []);
          }}
          onClose={close}
        />
      ),
    });
  const save = (): void =>
    shell.showOverlay({
      id: 'save-chat',
      render: close => (
        <SaveWindow
          settings={read.settings}
          turns={read.session.conversation.turns}
          isOneOfTwo={sides.length > 1}
          onClose={close}
        />
      ),
    });

  const stop = (): void => {
    for (const side of sides) side.session.cancel();
  };
  const again = (): void => {
    for (const side of sides) side.session.regenerate(side.settings);
  };
  const takeBack = (): void => {
    const [text = ''] = sides.map(side => side.session.takeBack());
    dispatch({ kind: 'set', text });
  };

  const bindings: Binding[] = [
    { command: chatCommands.cancel, run: stop, enabled: answering },
    { command: chatCommands.send, run: send, enabled: draft.writing && !answering },
    {
      command: chatCommands.leave,
      run: () => dispatch({ kind: 'writing', writing: false }),
      enabled: draft.writing && !answering,
    },
    { command: chatCommands.write, run: () => dispatch({ kind: 'writing', writing: true }), enabled: !draft.writing },
    { command: chatCommands.model, run: chooseModel },
    { command: chatCommands.settings, run: setParameters },
    { command: chatCommands.regenerate, run: again, enabled: !answering && turns.length > 0 },
    { command: chatCommands.edit, run: takeBack, enabled: !answering && turns.length > 0 },
    { command: chatCommands.side, run: () => dispatch({ kind: 'side' }), enabled: sides.length > 1 },
    { command: chatCommands.clear, run: begin, enabled: turns.length > 0 },
    { command: chatCommands.history, run: showEarlier, enabled: !answering },
    { command: chatCommands.forget, run: forget, enabled: !answering && turns.length > 0 },
    { command: chatCommands.save, run: save, enabled: !answering && turns.some(turn => turn.content !== '') },
    {
      command: chatCommands.copy,
      run: () => copy(last?.content ?? '', 'the answer'),
      enabled: (last?.content ?? '') !== '',
    },
  ];

  const writing = pane.focused && draft.writing;
  const view = areaView(draft.typed, pane.width - 4, inputLines);
  const empty = draft.typed.characters.length === 0;
  const rule = styles.border(glyphs.horizontal.repeat(pane.width));
  const facts: readonly Fact[] = [
    { label: 'model', value: settings.model || 'none yet' },
    { label: 'second model', value: settings.secondModel },
    { label: 'system', value: settings.system || 'none' },
    { label: 'temperature', value: settings.temperature ?? 'service default' },
    { label: 'top p', value: settings.top_p ?? 'service default' },
    { label: 'token limit', value: settings.max_tokens ?? 'service default' },
  ];

  return (
    <View
      bindings={draft.writing ? [] : bindings}
      main={
        <Box flexDirection="column">
          <Box>
            {sides.map((side, index) => (
              <Box key={index}>
                {index > 0 ? <Separator height={conversationHeight} /> : null}
                <ConversationPane
                  conversation={side.session.conversation}
                  width={sideWidth(pane.width, index, sides.length)}
                  height={conversationHeight}
                  focused={pane.focused && !draft.writing && side === read}
                  follows={draft.writing}
                  words={
                    sides.length > 1 && side === read ? `${glyphs.marker} ${side.settings.model}` : side.settings.model
                  }
                  opening={room => openingLines({ model: side.settings.model, loaded, error }, room, keyOf)}
                />
              </Box>
            ))}
          </Box>
          <KeyScope
            active={writing}
            bindings={bindings}
            field={fieldHandlers(manyLines, press => dispatch({ kind: 'press', press }))}
            onPaste={text => {
              dispatch({ kind: 'paste', text });
              return true;
            }}
          >
            <Text wrap="truncate">{rule}</Text>
            <Box flexDirection="column" height={inputLines}>
              {view.lines.map((line, index) => (
                <Text key={index} wrap="truncate">
                  {`${index === 0 ? styles.key(glyphs.crumb) : ' '} ${writing ? withCaret(view, index, styles.caret) : line}`}
                </Text>
              ))}
              {empty && !writing ? <Text>{styles.muted(`  ${keyOf(chatCommands.write)} writes`)}</Text> : null}
            </Box>
          </KeyScope>
        </Box>
      }
      inspector={
        <Box paddingLeft={1}>
          <Lines
            lines={[
              ...factLines(facts, inspector.width - 2, theme),
              '',
              ...sides.flatMap((side, index) => [
                ...(index > 0 ? [''] : []),
                ...sideLines(side, sides.length === 1, inspector.width - 2, theme),
              ]),
            ]}
            width={inspector.width - 2}
            height={inspector.height}
          />
        </Box>
      }
    />
  );
}
