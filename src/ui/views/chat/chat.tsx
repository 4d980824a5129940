/** The chat: one or two conversations, their streaming answers, and the input below. */
import { Box, Text } from 'ink';
import { type Dispatch, useEffect, useMemo, useReducer } from 'react';
import { type AnswerStats, tokensPerSecond } from '../../../chat/conversation.ts';
import type { Deployment } from '../../../contract/deployments.ts';
import type { SupportedModel } from '../../../contract/models.ts';
import { type Fact, referenceFact } from '../../../present/fact.ts';
import { deploymentList } from '../../../queries/deployments.ts';
import { chatModelsQuery, modelList } from '../../../queries/models.ts';
import type { Attention } from '../../../queries/polling.ts';
import type { ChatPrompt } from '../../../resources/place.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { duration } from '../../../text/time.ts';
import { displayWidth, fitCells } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { ViewProps } from '../../app/registry.ts';
import { type Pane, usePane, View } from '../../app/view.tsx';
import { useList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { useUnfinished } from '../../data/workbench.tsx';
import { type Binding, KeyScope, useKeyOf } from '../../keys/router.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import { factLines } from '../../widgets/facts.ts';
import { Lines } from '../../widgets/lines.tsx';
import { describeReplaced, fieldHandlers, textOf } from '../../widgets/text-field/editing.ts';
import { areaView, withCaret } from '../../widgets/text-field/field-view.ts';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import { chatCommands } from '../commands.ts';
import { linesAround, useReferences } from '../record/use-references.ts';
import { openingLines, positionOf, type TurnMarks } from './conversation-lines.ts';
import { ConversationPane } from './conversation-pane.tsx';
import { describeCounts, titlesOf, verdictLabels } from './describe-choices.ts';
import { type Draft, type DraftAction, draftReducer, emptyDraft, manyLines, selectedQuestion } from './draft.ts';
import { lastAnswer, questionsOf, useBindings } from './use-bindings.tsx';
import { type ChatStart, type ChatState, type Side, useChat } from './use-chat.ts';
import { useCheckpoints } from './use-checkpoints.ts';

/** Statistics for a side's last answer, under the model's name. */
function sideLines(side: Side, alone: boolean, width: number, theme: Theme): string[] {
  const answer = lastAnswer(side);
  const stats = answer?.stats;
  // A second model starts with the first one's turns, which are not its own answers.
  const own = alone || stats?.model === side.settings.model ? stats : undefined;
  const heading = alone ? 'LAST ANSWER' : sanitiseLine(side.settings.model).toUpperCase();
  const model = alone && stats ? [{ label: 'model', value: stats.model }] : [];
  const answerer = own ? [{ label: 'answered by', value: answer?.answeredBy }] : [];
  const none = own ? [] : [theme.styles.muted('no answer yet')];
  return [
    theme.styles.header(heading),
    ...none,
    ...factLines([...model, ...answerer, ...answerFacts(own)], width, theme),
  ];
}

/** A fact about a slug refers to its active deployment, otherwise to its entry in the list of models. */
function modelFact(label: string, slug: string, deployments: readonly Deployment[]): Fact {
  const serving = deployments.find(({ model_slug, is_active }) => model_slug === slug && is_active);
  const fact = serving
    ? referenceFact(label, 'deployments', serving.deployment_id)
    : referenceFact(label, 'models', slug);
  return { ...fact, value: slug };
}

function deployedSlugs(deployments: readonly Deployment[]): string[] {
  return deployments.flatMap(({ model_slug, is_active }) => (model_slug && is_active ? [model_slug] : []));
}

const noMarks = (): TurnMarks => ({});

/** Cells at the bottom reserved for the position in the text. */
const positionRoom = 10;
/** In fewer columns, only one of two conversations is shown at a time. */
const twoColumnsFrom = 72;

function answerFacts(stats: AnswerStats | undefined): readonly Fact[] {
  if (!stats) return [];
  const rate = tokensPerSecond(stats);
  return [
    { label: 'finished', value: stats.finishReason },
    { label: 'input tokens', value: stats.promptTokens },
    { label: 'output tokens', value: stats.completionTokens },
    { label: 'first text', value: stats.firstMs === undefined ? undefined : duration(stats.firstMs) },
    { label: 'complete', value: stats.totalMs === undefined ? undefined : duration(stats.totalMs) },
    { label: 'tokens/s', value: rate === undefined ? undefined : Math.round(rate) },
  ];
}

/** The conversation that puts a prompt to two models; its last question is the draft. */
const startOf = ({ system, second, turns }: ChatPrompt): ChatStart => ({
  settings: { system, secondModel: second },
  turns: turns.map(turn => ({ ...turn, reasoning: '', ...(turn.role === 'assistant' && { isExample: true }) })),
});

/** The draft, kept while another view is on screen. @param text the first message, not yet sent */
function useDraft(text: string) {
  const [left, keep] = useMemory<Draft>('draft');
  const [draft, dispatch] = useReducer(draftReducer, left ?? draftReducer(emptyDraft, { kind: 'set', text }));
  useEffect(() => keep(draft), [keep, draft]);
  return [draft, dispatch] as const;
}

/** The slugs to choose from: listed models, active deployments, and the chat endpoint's models. */
function useSlugs(
  listed: readonly SupportedModel[],
  deployments: readonly Deployment[],
  attention: Attention,
): readonly string[] {
  const chatModels = useLive(chatModelsQuery, attention);
  const known = [...listed.map(row => row.model_slug), ...deployedSlugs(deployments)];
  return [...new Set([...known, ...(chatModels.data ?? []).map(({ id }) => id)])];
}

/** The marks beside each side's turns. One function per side, so that a conversation is laid out only once. */
function useTurnMarks({ turns, choiceAt, forks }: ChatState, draft: Draft) {
  const questions = questionsOf(turns);
  const selected = selectedQuestion(draft, questions);
  const isMarked = !draft.writing && questions.length > 1;
  return useMemo(
    () =>
      ([0, 1] as const).map(side => (index: number): TurnMarks => {
        const better = choiceAt(index)?.better;
        return {
          isSelected: isMarked && index === selected,
          fork: forks[side].get(index),
          verdict: better && verdictLabels[better][side],
        };
      }),
    [isMarked, selected, choiceAt, forks],
  );
}

/** The line below the conversations. Shows only whole parts, because a truncated number would be wrong. */
function useStatusLine({ sides, branch, branches, counts }: ChatState, { side }: Draft, room: number) {
  const keyOf = useKeyOf();
  const { glyphs } = useTheme();
  return (isOneOfTwo: boolean, checkpoints: readonly string[]): string => {
    let line = '';
    const add = (...forms: readonly string[]): void => {
      const longer = forms.map(form => [line, form].filter(Boolean).join('  '));
      line = longer.find(words => displayWidth(words) <= room) ?? line;
    };
    if (isOneOfTwo) add(`${side + 1} of ${sides.length}, ${keyOf(chatCommands.side)} for the other`);
    if (branches.length > 1) add(`branch ${positionOf([branch + 1, branches.length], glyphs)}`);
    add(...checkpoints);
    if (!isOneOfTwo && counts) add(describeCounts(counts, room - displayWidth(line) - 2));
    return line;
  };
}

export function ChatView({ place }: ViewProps<'chat'>) {
  const pane = usePane('main');
  const keyOf = useKeyOf();
  const { prompt } = place;
  const models = useList(modelList, 'visible');
  const { rows: deployments } = useList(deploymentList, 'visible');
  const slugs = useSlugs(models.rows, deployments, pane.attention);
  const chat = useChat(place.model || models.rows[0]?.model_slug || '', prompt && startOf(prompt));
  const [draft, dispatch] = useDraft(prompt?.question ?? '');
  const checkpoints = useCheckpoints(prompt, chat, deployments);
  useUnfinished(textOf(draft.typed).trim() === '' ? undefined : 'The unsent message in the chat');
  const { sides } = chat;
  // The second model may have been removed while it was shown.
  const read = sides[draft.side] ?? sides[0];
  const shown = pane.width < twoColumnsFrom ? [read] : sides;
  const titles = titlesOf(
    sides.map(({ settings }) => settings.model),
    deployments,
  );
  const marks = useTurnMarks(chat, draft);
  const statusLine = useStatusLine(chat, draft, pane.width - positionRoom);
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
              title: titles.get(side.settings.model) ?? side.settings.model,
              isRead: side === read,
              marks: marks[side === sides[0] ? 0 : 1] ?? noMarks,
            }))}
            width={pane.width}
            height={height}
            focused={pane.focused && !draft.writing}
            follows={draft.writing}
            more={statusLine(shown.length < sides.length, checkpoints.words)}
            selected={draft.writing ? undefined : draft.question}
            opening={(model, room) => openingLines({ model, loaded, error, about: prompt?.words }, room, keyOf)}
          />
          <Input
            pane={pane}
            lines={inputLines}
            draft={draft}
            dispatch={dispatch}
            bindings={bindings}
            questions={questionsOf(chat.turns)}
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
  /** The turn indexes of the questions. */
  readonly questions: readonly number[];
}

/** The unsent message. */
function Input({ pane, lines, draft, dispatch, bindings, questions }: InputProps) {
  const { styles, glyphs } = useTheme();
  const keyOf = useKeyOf();
  const { editing } = draft;
  const edited = editing && `${questions.indexOf(editing.question) + 1} of ${questions.length}`;
  const discards = `${keyOf(chatCommands.leave)} ${keyOf(chatCommands.edit)} discards the edit`;
  const writing = pane.focused && draft.writing;
  const { original, isReplaced } = draft.typed;
  const about = isReplaced
    ? describeReplaced
    : edited
      ? `Editing question ${edited}, sent in a new branch; ${discards}`
      : original === undefined
        ? undefined
        : 'Tabs, line ends and hidden characters are sent as they were';
  const view = areaView(draft.typed, pane.width - 4, lines);
  const empty = draft.typed.characters.length === 0;
  return (
    <KeyScope
      active={writing}
      bindings={bindings}
      {...fieldHandlers(manyLines, press => dispatch({ kind: 'press', press }))}
    >
      <Text wrap="truncate">
        {about
          ? styles.warning(fitCells(` ${about}`, pane.width))
          : styles.border(glyphs.horizontal.repeat(pane.width))}
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

/** The settings, and statistics for each model's last answer. */
function Inspector({ chat: { settings, sides, counts, compared } }: { chat: ChatState }) {
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
  const [left = '', right = ''] = compared ?? [];
  const chosen = counts && describeCounts(counts, undefined, [sanitiseLine(left), sanitiseLine(right)]);
  const counted = chosen ? ['', theme.styles.header('CHOSEN'), ...wrap(chosen, room)] : [];
  const parts = [{ facts }, { lines: ['', ...answers, ...counted], facts: [] }];
  const references = useReferences(parts, { pane: 'inspector', width: room, height, focused });
  return (
    <KeyScope active={focused} bindings={references.bindings}>
      <Box paddingLeft={1}>
        <Lines
          lines={linesAround(references.lines, height, references.at, references.from)}
          width={room}
          height={height}
        />
      </Box>
    </KeyScope>
  );
}
