/** The chat view's state: one conversation, or two with the same questions, with their branches, kept on disk. */
import { type Dispatch, type SetStateAction, useMemo } from 'react';
import {
  allBranches,
  type Branch,
  branchOff,
  type Fork,
  forksOf,
  goToBranch,
  type OtherBranches,
  onlyBranch,
} from '../../../chat/branches.ts';
import {
  answersAt,
  type Choice,
  type Counts,
  countChoices,
  type Preference,
  pairKey,
  withChoice,
} from '../../../chat/choices.ts';
import { isIncomplete, type Turn, turnText } from '../../../chat/conversation.ts';
import { type Chat, forgetChat, savedChat, savedChoices, stoppedTurns } from '../../../chat/saved.ts';
import type { ChatSession, ChatSettings } from '../../../chat/session.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { useMemory, useRememberedState } from '../../navigation/memory.tsx';
import { useChatSession, useSavedChat } from './use-saved-chat.ts';

/** A conversation with its settings. */
export interface Side {
  readonly session: ChatSession;
  readonly settings: ChatSettings;
}

export interface ChatState {
  readonly settings: ChatSettings;
  /** One conversation, or two with a second model. */
  readonly sides: readonly [Side, ...Side[]];
  /** The first conversation's turns. */
  readonly turns: readonly Turn[];
  readonly answering: boolean;
  readonly send: (text: string) => void;
  readonly stop: () => void;
  /** Sends the last question again, in a new branch; to only one side if only its answer is incomplete. */
  readonly again: () => void;
  /** Sends the last question to a different second model, in a branch of its own. */
  readonly askSecond: (model: string) => void;
  /** Replaces the question at a turn index, in a new branch. */
  readonly edit: (index: number, text: string) => void;
  readonly branches: readonly Branch[];
  /** The position of the current branch. */
  readonly branch: number;
  readonly goTo: (branch: number) => void;
  /** For each side, the turns that differ between branches. */
  readonly forks: readonly [left: ReadonlyMap<number, Fork>, right: ReadonlyMap<number, Fork>];
  readonly choices: readonly Choice[];
  /** The choice made for the answers at a turn index, if there is one. */
  readonly choiceAt: (index: number) => Choice | undefined;
  /**
   * Records the better answer at a turn index; the same choice again removes it. Returns the counts for the two models.
   */
  readonly choose: (index: number, better: Preference) => Counts | undefined;
  /** The two models that the choices compare: the ones that gave the last answers, or else the ones that were asked. */
  readonly compared: Choice['models'] | undefined;
  /** How often each was chosen, in all saved conversations. */
  readonly counts: Counts | undefined;
  readonly change: (settings: ChatSettings) => void;
  /** Stops an answer, begins a new conversation, and keeps this one. */
  readonly begin: () => void;
  /** Deletes this conversation and begins a new one. */
  readonly forget: () => void;
  /** The conversation as saved. */
  readonly whole: Chat;
  /** Opens a saved conversation; false if it cannot be read. */
  readonly open: (id: string) => boolean;
}

const defaults: ChatSettings = { model: '', system: '' };

/** A conversation without its turns. */
interface Identity extends OtherBranches {
  readonly id: string;
  readonly choices: readonly Choice[];
}

type SetIdentity = Dispatch<SetStateAction<Identity>>;

const noTurns: readonly Turn[] = [];

const newIdentity = (): Identity => ({ id: crypto.randomUUID(), ...onlyBranch, choices: [] });

/** The start of a new conversation. */
export interface ChatStart {
  readonly settings: Partial<ChatSettings>;
  readonly turns: readonly Turn[];
}

/** The branches of the conversation on screen. @param show shows another branch */
function useBranches(identity: Identity, current: Branch, setIdentity: SetIdentity, show: (branch: Branch) => void) {
  const { turns, secondTurns } = current;
  const branches = allBranches(identity, current);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the turns and other branches, not the list of all
  const forks = useMemo(() => {
    const all = (of: (branch: Branch) => readonly Turn[]) => forksOf(branches.map(of), of(current));
    return [all(each => each.turns), all(each => each.secondTurns ?? [])] as const;
  }, [identity, turns, secondTurns]);
  return {
    branches,
    forks,
    /** Keeps the current branch before it changes. */
    keep: (): void => setIdentity(before => ({ ...before, ...branchOff(before, current) })),
    goTo: (index: number): void => {
      const gone = goToBranch(identity, current, index);
      if (!gone || index === identity.branch) return;
      const { current: target, ...rest } = gone;
      setIdentity({ ...identity, ...rest });
      show(target);
    },
  };
}

/** The choices between the answers on screen. */
function useChoices({ id, choices }: Identity, { turns, secondTurns = noTurns }: Branch, setIdentity: SetIdentity) {
  const { remembered, keepsChats } = useWorkbench();
  const elsewhere = useMemo(
    () => savedChoices(remembered).filter(({ conversation }) => conversation !== id),
    [remembered, id],
  );
  return {
    choiceAt: useMemo(() => choiceFinder(choices, turns, secondTurns), [choices, turns, secondTurns]),
    countsOf: (models: Choice['models']): Counts => countChoices([...elsewhere, ...choices], models),
    choose: (index: number, better: Preference): Counts | undefined => {
      const answers = answersAt(turns, secondTurns, index);
      if ('why' in answers) return undefined;
      const choice = { pair: pairKey(turns, secondTurns, index), better, models: answers.models, at: Date.now() };
      const next = withChoice(choices, choice);
      setIdentity(before => ({ ...before, choices: next }));
      const { pair } = choice;
      if (keepsChats && next.includes(choice)) remembered.saveChoice({ conversation: id, pair }, choice);
      else if (keepsChats) remembered.removeChoice({ conversation: id, pair });
      return countChoices([...elsewhere, ...next], answers.models);
    },
  };
}

const lastOf = ({ session }: Side): Turn | undefined => session.conversation.turns.at(-1);

/** Sends questions to every side. @param keepBranch called before an answer is replaced */
function questionsTo(
  sides: readonly Side[],
  keepBranch: () => void,
): Pick<ChatState, 'send' | 'stop' | 'again' | 'edit'> {
  return {
    send: text => {
      for (const { session, settings } of sides) session.send(text, settings);
    },
    stop: () => {
      for (const { session } of sides) session.cancel();
    },
    again: () => {
      const incomplete = sides.filter(side => isIncomplete(lastOf(side)));
      const asked = (incomplete.length > 0 ? incomplete : sides).filter(side => !lastOf(side)?.isExample);
      if (asked.map(lastOf).some(turn => turn?.role === 'assistant' && turnText(turn) !== '')) keepBranch();
      for (const { session, settings } of asked) session.regenerate(settings);
    },
    edit: (index, text) => {
      keepBranch();
      for (const { session, settings } of sides) {
        session.open(session.conversation.turns.slice(0, index));
        session.send(text, settings);
      }
    },
  };
}

/** Changes the current branch's settings; a replaced second model's answers stay in their branch. */
function settingsOf(
  { settings, turns, secondTurns }: Branch,
  second: ChatSession,
  { branches, keep, goTo }: ReturnType<typeof useBranches>,
  setSettings: (settings: ChatSettings) => void,
): Pick<ChatState, 'askSecond' | 'change'> {
  const { secondModel } = settings;
  const keepAnswers = (): void => {
    if (secondTurns?.some(({ stats }) => stats?.model === secondModel)) keep();
  };
  return {
    askSecond: asked => {
      const own = (each: Branch): boolean => each.settings.secondModel === asked && isSameTurns(each.turns, turns);
      const known = branches.findIndex(own);
      if (known >= 0) {
        goTo(known);
        return;
      }
      const next = { ...settings, secondModel: asked };
      keepAnswers();
      setSettings(next);
      second.open(turns);
      if (turns.length > 0) second.regenerate({ ...next, model: asked });
    },
    change: next => {
      if (next.secondModel !== secondModel) {
        keepAnswers();
        // A second model added later gets the earlier turns.
        if (next.secondModel) second.open(turns);
      }
      setSettings(next);
    },
  };
}

/** @param model the model to use until the user chooses one; empty if none is known */
export function useChat(model: string, start?: ChatStart): ChatState {
  const session = useChatSession(...useMemory<ChatSession>('talk'), start?.turns);
  const secondSession = useChatSession(...useMemory<ChatSession>('second talk'), start?.turns);
  const initial: ChatSettings = { ...defaults, ...start?.settings };
  const [own, setSettings] = useRememberedState<ChatSettings>('settings', kept => ({ ...initial, ...kept }));
  const [identity, setIdentity] = useRememberedState<Identity>('identity', kept => kept ?? newIdentity());
  const [, rememberIdentity] = useMemory<Identity>('identity');
  const workbench = useWorkbench();
  const settings = { ...own, model: own.model || model };
  const { secondModel } = settings;
  useSavedChat({ ...identity, settings }, session, secondModel ? secondSession : undefined, merged => {
    const { id, others = [], branch = 0 } = merged;
    if (id !== identity.id) return;
    setIdentity(before => ({ ...before, others, branch }));
    // Off screen, no state is kept.
    rememberIdentity({ ...identity, others, branch });
  });

  const first: Side = { session, settings };
  const second: Side[] = secondModel ? [{ session: secondSession, settings: { ...settings, model: secondModel } }] : [];
  const sides = [first, ...second] as const;
  const turns = stoppedTurns(session.conversation);
  const secondTurns = secondModel ? stoppedTurns(secondSession.conversation) : undefined;
  const current: Branch = { settings, turns, secondTurns };
  const show = (branch: Branch): void => {
    setSettings(branch.settings);
    session.open(branch.turns);
    secondSession.open(branch.secondTurns ?? []);
  };
  const branching = useBranches(identity, current, setIdentity, show);
  const { countsOf, ...choosing } = useChoices(identity, current, setIdentity);
  const { branches, forks, goTo } = branching;
  const { choices, branch } = identity;
  const compared = secondModel
    ? ([answererFor(settings.model, turns), answererFor(secondModel, secondTurns)] as const)
    : undefined;
  const begin = (): void => {
    for (const { session } of sides) {
      session.cancel();
      session.clear();
    }
    setIdentity(newIdentity());
  };
  const questions = questionsTo(sides, branching.keep);
  return {
    ...questions,
    send: text => {
      // Another model may become the default during the conversation.
      setSettings(before => ({ ...before, model: before.model || model }));
      questions.send(text);
    },
    ...settingsOf(current, secondSession, branching, setSettings),
    ...choosing,
    ...{ settings, sides, turns, branches, branch, forks, goTo, choices, begin },
    answering: sides.some(side => side.session.conversation.answering),
    compared,
    counts: compared && countsOf(compared),
    forget: () => {
      begin();
      forgetChat(workbench, identity.id);
    },
    whole: { ...identity, ...current, branch: branches.length > 1 ? branch : undefined },
    open: id => {
      const saved = savedChat(workbench.remembered, id);
      if (!saved) return false;
      const { at: savedAt, others = [], branch: at = 0, ...opened } = saved;
      const made = savedChoices(workbench.remembered).filter(({ conversation }) => conversation === id);
      workbench.remembered.openedChat({ id, at: savedAt });
      setIdentity({ id, others, branch: at, choices: made });
      show(opened);
      return true;
    },
  };
}

/** The model that last answered a request sent to `asked`. */
const answererFor = (asked: string, turns: readonly Turn[] = noTurns): string =>
  turns.findLast(({ stats }) => stats?.model === asked)?.answeredBy ?? asked;

const isSameTurns = (one: readonly Turn[], other: readonly Turn[]): boolean =>
  one.length === other.length && pairKey(one, [], one.length) === pairKey(other, [], other.length);

/** Returns a function that finds the choice made for the answers at a turn index. */
function choiceFinder(choices: readonly Choice[], left: readonly Turn[], right: readonly Turn[]) {
  const byPair = new Map(choices.map(choice => [choice.pair, choice]));
  return (index: number): Choice | undefined =>
    byPair.size === 0 || left[index]?.role !== 'assistant' ? undefined : byPair.get(pairKey(left, right, index));
}
