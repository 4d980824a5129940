/** Saved conversations: for later sessions, as trajectories in a dataset, and as files. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { perObject } from '../base/memo.ts';
import { isRecord } from '../base/own-property.ts';
import { earlyEndOf } from '../contract/finish-reason.ts';
import type { RememberedStore } from '../store/store.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import type { Workbench } from '../workbench/workbench.ts';
import { allBranches, type Branch, type OtherBranches, withBranches } from './branches.ts';
import { type Choice, type Preference, pairKey, preferences } from './choices.ts';
import {
  answeringModel,
  type ChatParameters,
  type Conversation,
  isIncomplete,
  parametersOf,
  systemsOf,
  type Turn,
  turnText,
} from './conversation.ts';
import type { ChatSettings } from './session.ts';

/** A conversation: the branch on screen, the other branches, and the choices between answers. */
export interface Chat extends Branch {
  readonly id: string;
  readonly others?: OtherBranches['others'] | undefined;
  readonly branch?: number | undefined;
  readonly choices?: readonly Choice[] | undefined;
}

const titleLength = 200;

/** The beginning of the first question. */
export function titleOf(turns: readonly Turn[]): string {
  const question = turns.find(turn => turn.role === 'user')?.content.trim() ?? '';
  return question.replace(/\s+/g, ' ').slice(0, titleLength);
}

function isTurn(value: unknown): value is Turn {
  const turn = (value ?? {}) as Partial<Record<keyof Turn, unknown>>;
  const { role, content, reasoning, answeredBy, refusal, calls = [], leftOut, stats } = turn;
  const system = isRecord(stats) ? stats['system'] : undefined;
  const isCall = (call: unknown): boolean =>
    isRecord(call) && typeof call['name'] === 'string' && typeof call['input'] === 'string';
  return (
    (role === 'user' || role === 'assistant') &&
    typeof content === 'string' &&
    typeof reasoning === 'string' &&
    (answeredBy === undefined || typeof answeredBy === 'string') &&
    (refusal === undefined || typeof refusal === 'string') &&
    (leftOut === undefined || typeof leftOut === 'number') &&
    (system === undefined || typeof system === 'string') &&
    Array.isArray(calls) &&
    calls.every(isCall)
  );
}

function areTurns(value: unknown): value is readonly Turn[] {
  return Array.isArray(value) && value.every(isTurn);
}

function branchOf(value: unknown): Branch | undefined {
  const { settings, turns, secondTurns } = (value ?? {}) as Partial<Record<keyof Branch, unknown>>;
  const { model, system } = (settings ?? {}) as Partial<Record<keyof ChatSettings, unknown>>;
  if (typeof model !== 'string' || typeof system !== 'string') return undefined;
  if (!areTurns(turns) || (secondTurns !== undefined && !areTurns(secondTurns))) return undefined;
  return { settings: settings as ChatSettings, turns, ...(secondTurns && { secondTurns }) };
}

function isChoice(value: unknown): value is Choice {
  const { pair, better, models, at } = (value ?? {}) as Partial<Record<keyof Choice, unknown>>;
  return (
    typeof pair === 'string' &&
    typeof at === 'number' &&
    preferences.some(each => each === better) &&
    Array.isArray(models) &&
    models.length === 2 &&
    models.every(model => typeof model === 'string')
  );
}

/** Parses a saved conversation; undefined for unknown data, e.g. data from another version. */
export function chatOf(id: string, talk: unknown): Chat | undefined {
  const current = branchOf(talk);
  const { others = [], branch = 0 } = (talk ?? {}) as Partial<Record<keyof Chat, unknown>>;
  if (!current || !Array.isArray(others)) return undefined;
  const parsed = others.flatMap(each => branchOf(each) ?? []);
  const isPosition = Number.isInteger(branch) && Number(branch) >= 0 && Number(branch) <= others.length;
  if (parsed.length < others.length || !isPosition) return undefined;
  return {
    ...{ id, ...current },
    ...(parsed.length > 0 && { others: parsed, branch: Number(branch) }),
  };
}

/** A saved conversation, with the time of its last turn; undefined if this version cannot parse it. */
export function savedChat(
  remembered: Pick<RememberedStore, 'chat'>,
  id: string,
): (Chat & { readonly at: number }) | undefined {
  const saved = remembered.chat(id);
  const chat = saved && chatOf(id, saved.talk);
  return chat && { ...chat, at: saved.at };
}

/** A choice, and the conversation it is from, which may have been deleted. */
interface SavedChoice extends Choice {
  readonly conversation: string;
}

/** The choices in all conversations, most recent first. */
export function savedChoices(remembered: Pick<RememberedStore, 'choices'>): readonly SavedChoice[] {
  return remembered
    .choices()
    .flatMap(({ conversation, choice }) => (isChoice(choice) ? [{ ...choice, conversation }] : []))
    .sort((one, other) => other.at - one.at);
}

/** The saved part of a conversation. Its choices are saved on their own. */
export function savedTalk({ settings, turns, secondTurns, others = [], branch }: Omit<Chat, 'id' | 'choices'>) {
  return { settings, turns, secondTurns, ...(others.length > 0 && { others, branch }) };
}

/** The conversation on screen, with the branches that another screen has saved. */
export function withSaved<Own extends Chat>(own: Own, saved: Chat | undefined): Own {
  if (!saved) return own;
  const { others = [], branch = 0 } = own;
  const theirs = allBranches({ others: saved.others ?? [], branch: saved.branch ?? 0 }, saved);
  return { ...own, others: withBranches({ others, branch }, own, theirs), branch };
}

/** Whether a conversation's last answer is incomplete. */
export function endsIncomplete({ turns, secondTurns = [] }: Pick<Chat, 'turns' | 'secondTurns'>): boolean {
  return [turns.at(-1), secondTurns.at(-1)].some(isIncomplete);
}

/** The conversation with one of the models, as an item for a trajectory upload. */
export interface StoredConversation {
  /** The requested model. */
  readonly model: string;
  readonly item: Readonly<Record<string, unknown>>;
  /** Describes what the item omits, and how it differs from the conversation. */
  readonly notes: readonly string[];
}

/** Whether a turn is an answer that a dataset can store: complete, and with text or a tool call. */
export const isStored = (turn: Turn): boolean =>
  turn.role === 'assistant' && !isIncomplete(turn) && (turnText(turn) !== '' || turn.calls !== undefined);

/**
 * Whether a dataset stores a turn. Leaves out the question of an omitted answer, so that questions and answers
 * alternate.
 */
function isStoredAt(turns: readonly Turn[], index: number): boolean {
  const [turn, next] = turns.slice(index, index + 2);
  const answer = turn?.role === 'assistant' ? turn : next?.role === 'assistant' ? next : undefined;
  return answer === undefined || isStored(answer);
}

/**
 * The current branch as items for a trajectory upload: one for each model with a complete answer. Two models' items
 * share the conversation's id. The trace id depends only on the content, so a repeated upload stores no duplicates.
 */
export function trajectoriesOf(chat: Chat, taskId: string): readonly StoredConversation[] {
  const { id, settings, turns, secondTurns = [], branch, choices = [] } = chat;
  const { model, secondModel } = settings;
  // Until the second model has answered, its turns are the first model's answers.
  const isPair = secondModel !== undefined && secondTurns.some(({ stats }) => stats?.model === secondModel);
  const sides = [
    { requested: model, ownTurns: turns, side: 'left' as const },
    ...(isPair ? [{ requested: secondModel, ownTurns: secondTurns, side: 'right' as const }] : []),
  ];
  const halves = sides.flatMap(half => {
    const isOwn = ({ stats, isExample }: Turn): boolean =>
      !isExample && (half.side === 'left' || stats?.model === half.requested);
    const last = half.ownTurns.findLast(turn => isStored(turn) && isOwn(turn));
    return last ? [{ ...half, last, answerer: answeringModel(last) ?? half.requested }] : [];
  });
  const unanswered = sides.filter(({ side }) => halves.every(half => half.side !== side));
  return halves.map(half => {
    const { requested, ownTurns, side, last, answerer } = half;
    const other = halves.find(each => each !== half);
    const end = earlyEndOf(last.stats?.finishReason);
    // A refusal counts as complete.
    const isCut = end !== undefined && end !== 'refusal';
    const leftOut = ownTurns.filter(turn => turn.role === 'assistant' && !isStored(turn)).length;
    const parameters = last.stats?.parameters ?? parametersOf(settings);
    const messages = storedMessages(ownTurns, settings.system, answerer, parameters);
    const made = other ? choicesIn(turns, secondTurns, choices, index => isStoredAt(ownTurns, index)) : [];
    const content = {
      conversation_id: id,
      ...(taskId === '' ? {} : { task_id: taskId }),
      status: isCut ? 'failed' : 'completed',
      model_slug: answerer,
      messages,
      metadata: {
        parameters,
        ...(branch !== undefined && { branch: branch + 1 }),
        ...(leftOut > 0 && { left_out: leftOut }),
        ...(other !== undefined && {
          compared_with: other.answerer,
          choices: made.map(({ question, better }) => ({ question, better: resultFor(side, better) })),
        }),
      },
    };
    const trace_id = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32);
    const notes = [
      ...unanswered.map(each => clean`${each.requested} gave no complete answer, and is not saved`),
      ...(answerer === requested ? [] : [clean`saved under ${answerer}, which gave the last answer`]),
      ...(leftOut > 0
        ? [
            `left out, with ${leftOut === 1 ? 'its question' : 'their questions'}: ${counted(leftOut, 'incomplete or empty answer')}`,
          ]
        : []),
      ...(messages.slice(1).some(({ role }) => role === 'system')
        ? ['the system prompt was changed: each version is stored before the first question sent with it']
        : []),
      ...(messages.some(message => 'parameters' in message)
        ? ['the parameters were changed: answers made with different parameters are stored with their own']
        : []),
      ...(isCut ? ['saved as failed, because the last answer was cut off'] : []),
    ];
    return { model: requested, item: { trace_id, ...content }, notes };
  });
}

/**
 * A trajectory's messages. Answers also have their reasoning, refusal, tool calls and finish reason, in the fields of
 * the chat completions API, and their model and parameters if they differ from `model` and `parameters`. Each system
 * prompt comes before the first question that was sent with it; if it was removed, an empty one does.
 */
function storedMessages(turns: readonly Turn[], currentSystem: string, model: string, parameters: ChatParameters) {
  const stored = turns.filter((_, index) => isStoredAt(turns, index));
  const systems = systemsOf(stored, currentSystem);
  return stored.flatMap((turn, index) => {
    const { role, content, reasoning, refusal, calls, stats } = turn;
    const answerer = answeringModel(turn);
    const system = systems[index] ?? '';
    const own = stats?.parameters;
    return [
      ...(system === (systems[index - 1] ?? '') ? [] : [{ role: 'system', content: system }]),
      {
        ...{ role, content },
        ...(reasoning !== '' && { reasoning }),
        ...(refusal !== undefined && { refusal }),
        ...(calls && { tool_calls: calls.map(({ name, input }) => ({ function: { name, arguments: input } })) }),
        ...(stats?.finishReason !== undefined && { finish_reason: stats.finishReason }),
        ...(answerer !== undefined && answerer !== model && { model: answerer }),
        ...(own && !isDeepStrictEqual(own, parameters) && { parameters: own }),
      },
    ];
  });
}

const resultFor = (side: 'left' | 'right', better: Preference): string =>
  better === 'left' || better === 'right' ? (better === side ? 'this' : 'other') : better;

/** The choices in a branch, each with its question's number, from 1. @param counts whether to count a question */
function choicesIn(
  turns: readonly Turn[],
  secondTurns: readonly Turn[],
  choices: readonly Choice[],
  counts: (index: number) => boolean = () => true,
) {
  const byPair = new Map(choices.map(choice => [choice.pair, choice]));
  let question = 0;
  return turns.flatMap(({ role }, index) => {
    if (role === 'user') {
      if (counts(index)) question += 1;
      return [];
    }
    const choice = byPair.get(pairKey(turns, secondTurns, index));
    return choice ? [{ question, ...choice }] : [];
  });
}

/** A conversation as JSON: every branch with its settings, turns and choices. */
export function exportedChat(chat: Chat) {
  const { id, others = [], branch = 0, choices = [], settings, turns, secondTurns } = chat;
  const branches = allBranches({ others, branch }, { settings, turns, secondTurns });
  return {
    conversation_id: id,
    current_branch: branch + 1,
    branches: branches.map(each => ({
      settings: each.settings,
      turns: each.turns,
      ...(each.secondTurns && {
        second_turns: each.secondTurns,
        choices: choicesIn(each.turns, each.secondTurns, choices).map(({ question, better, models, at }) => ({
          ...{ question, better, models },
          chosen_at: new Date(at).toISOString(),
        })),
      }),
    })),
  };
}

/** The turns to keep while an answer is streaming: the answer will be incomplete if the program ends now. */
export const stoppedTurns = perObject(({ turns, answering }: Conversation): readonly Turn[] => {
  const last = turns.at(-1);
  return answering && last ? [...turns.slice(0, -1), { ...last, cancelled: true }] : turns;
});

/** A conversation's key in `Workbench.unfinished`. */
export const unsavedKey = (id: string): string => `chat ${id}`;

/** Removes a conversation, saved or not. */
export function forgetChat({ remembered, unfinished }: Workbench, id: string): void {
  remembered.forgetChat(id);
  unfinished.delete(unsavedKey(id));
}
