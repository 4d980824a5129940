/** Talking with a model: what was said, what is being written, and the input below. */
import { Box, Text } from 'ink';
import { useEffect, useMemo, useReducer, useState } from 'react';
import { type AnswerStats, type Conversation, tokensPerSecond } from '../../../queries/conversation.ts';
import { useChats, useKeptChat } from '../../../queries/kept-chats.ts';
import { modelList } from '../../../queries/models.ts';
import { type ChatSettings, useConversation } from '../../../queries/use-conversation.ts';
import { useList } from '../../../queries/use-list.ts';
import { copySequence } from '../../../text/clipboard.ts';
import { duration } from '../../../text/time.ts';
import { Panes, usePane } from '../../app/panes.tsx';
import { useShell } from '../../app/shell-context.tsx';
import type { ViewProps } from '../../app/view-definition.ts';
import type { KeyPress } from '../../keys/key.ts';
import { type Binding, KeyScope } from '../../keys/router.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import { type Fact, factLines } from '../../widgets/facts.ts';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { type EditState, edit, editStateOf, insert, textOf } from '../../widgets/text-field/editing.ts';
import { areaView, withCaret } from '../../widgets/text-field/field-view.ts';
import { type Style, type Styles, useTheme } from '../../widgets/theme/theme.tsx';
import { Lines } from '../shared/lines.tsx';
import { chatCommands } from './commands.ts';
import { createTalkLayout, openingLines, type TalkLineKind } from './talk-lines.ts';
import { EarlierWindow, ModelWindow, SaveWindow, SettingsWindow } from './windows.tsx';

const manyLines = { multiline: true } as const;

interface Draft {
  readonly typed: EditState;
  readonly writing: boolean;
}

type DraftAction =
  | { readonly kind: 'press'; readonly press: KeyPress }
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'set'; readonly text: string }
  | { readonly kind: 'writing'; readonly writing: boolean };

function draftReducer(draft: Draft, action: DraftAction): Draft {
  switch (action.kind) {
    case 'press':
      return { ...draft, typed: edit(draft.typed, action.press, manyLines) ?? draft.typed };
    case 'paste':
      return { ...draft, typed: insert(draft.typed, action.text, manyLines) };
    case 'set':
      return { typed: editStateOf(action.text), writing: true };
    case 'writing':
      return { ...draft, writing: action.writing };
  }
}

function lineStyle(kind: TalkLineKind, styles: Styles): Style | undefined {
  const looks: Partial<Record<TalkLineKind, Style>> = {
    user: styles.user,
    assistant: styles.assistant,
    reasoning: styles.muted,
    note: styles.muted,
    fault: styles.danger,
  };
  return looks[kind];
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

export function ChatView({ location }: ViewProps) {
  const shell = useShell();
  const pane = usePane('main');
  const inspector = usePane('inspector');
  const theme = useTheme();
  const { styles, glyphs } = theme;
  const [said, rememberSaid] = useMemory<Conversation>('conversation');
  const [chosen, rememberChosen] = useMemory<ChatSettings>('settings');
  const models = useList(modelList, 'visible');
  const [own, setSettings] = useState<ChatSettings>(() => ({ ...defaults, ...chosen }));
  const settings = { ...own, model: own.model || location.params['model'] || models.rows[0]?.model_slug || '' };
  const talk = useConversation(said && { ...said, answering: false });
  const { turns, answering } = talk.conversation;
  const [knownId, rememberId] = useMemory<string>('id');
  const [id, setId] = useState(() => knownId ?? crypto.randomUUID());
  useEffect(() => rememberId(id), [rememberId, id]);
  useKeptChat(id, talk.conversation, settings);
  const chats = useChats();
  useEffect(() => rememberSaid(talk.conversation), [rememberSaid, talk.conversation]);
  useEffect(() => rememberChosen(own), [rememberChosen, own]);
  const [draft, dispatch] = useReducer(draftReducer, { typed: editStateOf(''), writing: true });

  const inputLines = pane.height >= 16 ? 4 : 2;
  const talkHeight = Math.max(3, pane.height - inputLines - 2);
  const layout = useMemo(() => createTalkLayout(theme), [theme]);
  const { loaded, fault } = models;
  const lines =
    turns.length > 0
      ? layout(turns, pane.width - 1, answering)
      : openingLines({ model: settings.model, loaded, fault }, pane.width - 1);
  const textAt = (line: number): string => lines[line]?.text ?? '';
  const drawnAt = (line: number): string => {
    const { kind, text, styled } = lines[line] ?? { kind: 'text', text: '' };
    return styled ?? lineStyle(kind, styles)?.(text) ?? text;
  };
  const shownLines = talkHeight - scrollViewLines;
  // What is being written is given room ahead, so that the screen moves now and then and not with every line.
  const room = answering ? Math.max(1, shownLines - 4) : 1;
  const lineCount = Math.ceil(lines.length / room) * room;
  const scroll = useScroll({ lineCount, textAt, height: shownLines });
  // Follows what is being written, unless the reader has gone to an earlier place.
  const { dispatch: scrollTo } = scroll;
  const follows = draft.writing;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line is what it follows
  useEffect(() => {
    if (follows) scrollTo({ kind: 'bottom' });
  }, [follows, lineCount, scrollTo]);

  const send = (): void => {
    const text = textOf(draft.typed).trim();
    if (text === '' || answering) return;
    if (settings.model === '') {
      shell.toast({ kind: 'warning', text: 'Choose a model first: ctrl-o' });
      return;
    }
    talk.send(text, settings);
    dispatch({ kind: 'set', text: '' });
  };
  const last = turns.findLast(turn => turn.role === 'assistant');
  const copy = (): void => {
    const copied = copySequence(last?.content ?? '', process.env);
    if (copied.ok) shell.terminal.writeRaw(copied.sequence);
    shell.toast(copied.ok ? { kind: 'info', text: 'Copied the answer' } : { kind: 'warning', text: copied.message });
  };
  const window = (Content: typeof ModelWindow) => () =>
    shell.showOverlay({
      id: 'chat',
      render: close => <Content settings={settings} onChange={setSettings} onClose={close} />,
    });

  const begin = (): void => {
    talk.clear();
    setId(crypto.randomUUID());
  };
  const showEarlier = (): void =>
    shell.showOverlay({
      id: 'chats',
      render: close => (
        <EarlierWindow
          chats={chats()}
          onChoose={chat => {
            setId(chat.id);
            setSettings(chat.settings);
            talk.open(chat.turns);
          }}
          onClose={close}
        />
      ),
    });
  const save = (): void =>
    shell.showOverlay({
      id: 'save-chat',
      render: close => <SaveWindow settings={settings} turns={turns} onClose={close} />,
    });

  const bindings: Binding[] = [
    { command: chatCommands.cancel, run: talk.cancel, enabled: answering },
    { command: chatCommands.send, run: send, enabled: draft.writing && !answering },
    {
      command: chatCommands.leave,
      run: () => dispatch({ kind: 'writing', writing: false }),
      enabled: draft.writing && !answering,
    },
    { command: chatCommands.write, run: () => dispatch({ kind: 'writing', writing: true }), enabled: !draft.writing },
    { command: chatCommands.model, run: window(ModelWindow) },
    { command: chatCommands.settings, run: window(SettingsWindow) },
    { command: chatCommands.regenerate, run: () => talk.regenerate(settings), enabled: !answering && turns.length > 0 },
    {
      command: chatCommands.edit,
      run: () => dispatch({ kind: 'set', text: talk.takeBack() }),
      enabled: !answering && turns.length > 0,
    },
    { command: chatCommands.clear, run: begin, enabled: turns.length > 0 },
    { command: chatCommands.history, run: showEarlier, enabled: !answering },
    { command: chatCommands.save, run: save, enabled: !answering && turns.some(turn => turn.content !== '') },
    { command: chatCommands.copy, run: copy, enabled: (last?.content ?? '') !== '' },
  ];

  const writing = pane.focused && draft.writing;
  const view = areaView(draft.typed, pane.width - 4, inputLines);
  const empty = draft.typed.characters.length === 0;
  const rule = styles.border(glyphs.horizontal.repeat(pane.width));
  const facts: readonly Fact[] = [
    { label: 'model', value: settings.model || 'none yet' },
    { label: 'system', value: settings.system || 'none' },
    { label: 'temperature', value: settings.temperature ?? 'left to the service' },
    { label: 'top p', value: settings.top_p ?? 'left to the service' },
    { label: 'most tokens', value: settings.max_tokens ?? 'left to the service' },
  ];

  return (
    <Panes
      bindings={draft.writing ? [] : bindings}
      main={
        <Box flexDirection="column">
          <ScrollView
            scroll={scroll}
            textAt={textAt}
            styleAt={line => lineStyle(lines[line]?.kind ?? 'text', styles)}
            drawnAt={drawnAt}
            width={pane.width}
            focused={pane.focused && !draft.writing}
            words={answering ? 'answering' : settings.model}
          />
          <KeyScope
            active={writing}
            bindings={bindings}
            onText={press => {
              if (press.text === '' && !edit(draft.typed, press, manyLines)) return false;
              dispatch({ kind: 'press', press });
              return true;
            }}
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
              {empty && !writing ? <Text>{styles.muted('  i writes')}</Text> : null}
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
              styles.header('LAST ANSWER'),
              ...factLines(answerFacts(last?.stats), inspector.width - 2, theme),
            ]}
            width={inspector.width - 2}
            height={inspector.height}
          />
        </Box>
      }
    />
  );
}
