/** Places in the program: a view and its input. */

import type { OutcomeKind } from '../present/outcome-classes.ts';
import type { Sort } from '../present/sort.ts';

/** The possible scopes of a list: singular names of resources, and the status. */
export const scopeNames = ['benchmark', 'run', 'training', 'dataset', 'status'] as const;
export type ScopeName = (typeof scopeNames)[number];

/** The scope of a list: ids, except for `dataset` and `status`. */
export type Scope = { readonly [Name in ScopeName]?: string | undefined };

/** Trajectories for a text search, and a label for them. */
export interface SearchedTexts {
  readonly scope: Scope;
  /** Only the rollouts from this step of a training run. */
  readonly step?: number;
  readonly label: string;
}

/** The input for each view. */
interface Places {
  readonly watch: object;
  readonly inbox: object;
  readonly chat: { readonly model?: string; readonly prompt?: ChatPrompt };
  /** The list of a resource, with an optional scope. */
  readonly list: {
    /** The resource's first name, e.g. `runs`. */
    readonly resource: string;
    readonly scope?: Scope;
    /** The scope's label, e.g. the benchmark's name. */
    readonly label?: string;
    /** The id of the row to select first. */
    readonly at?: string;
    /** The initial sort order; by default the service's order. */
    readonly sort?: Sort;
    /** The initial filter. */
    readonly filter?: string;
  };
  readonly record: {
    /** The resource's first name, e.g. `runs`. */
    readonly resource: string;
    readonly id: string;
    /** Its label, if known in advance. */
    readonly label?: string;
    /** The search hit to show first. */
    readonly found?: { readonly query: string | undefined; readonly place: number };
    /** Its parent's id, e.g. a run's benchmark. */
    readonly parent?: string;
    /** The id of the part to select first, e.g. a training run's checkpoint. */
    readonly at?: string;
    /** The trajectory for the same task in another run. */
    readonly twin?: Twin;
    /** The rollout that the comparison opens, if another one of its task is shown. */
    readonly listed?: string;
    /** The grade from a regrading, in words. */
    readonly graded?: string | undefined;
  };
  /** Two evaluation runs, task by task. */
  readonly compare: {
    readonly base: NamedRun;
    readonly new: NamedRun;
    /** Set if the start times are unknown, so that the base is the run chosen first. */
    readonly isUndated?: true;
    /** The task to begin at. */
    readonly at?: string;
  } & ByGrader;
  /** Several evaluation runs; one is the base. */
  readonly 'compare-many': { readonly runs: readonly NamedRun[]; readonly base: string } & ByGrader;
  /** The curves of several training runs. */
  readonly curves: { readonly runs: readonly Pick<NamedRun, 'id' | 'name'>[] };
  /** The tasks in a run, a dataset or a training run; a run may be compared with a base. */
  readonly tasks: RolloutScope & { readonly base?: NamedRun };
  /** How the rollouts in a run, a dataset or a training run ended. */
  readonly outcomes: RolloutScope;
  /** The rollouts with the same task or the same outcome, worst first. */
  readonly rollouts: RolloutScope & {
    readonly task?: string;
    /** The run to compare with. */
    readonly base?: NamedRun;
    readonly ended?: { readonly by: OutcomeKind; readonly value: string | undefined };
  };
  /** The tree of all resources; the branches with these ids start open. */
  readonly tree: { readonly benchmark?: string; readonly training?: string; readonly at?: string };
  /** Rollout rewards against rollout lengths. */
  readonly lengths: RolloutScope;
  /** Two trajectories side by side. */
  readonly pair: OfSides<Pick<Twin, 'graded'> & Pick<NamedRun, 'id' | 'name'>> & {
    /** The rollout that the comparison lists, if a different one of the task is shown. */
    readonly listed?: string;
  };
  /** The tasks in a training step. */
  readonly step: { readonly trainingRunId: string; readonly step: number };
  /** The rollouts in a training step, or in one of its tasks. */
  readonly 'step-rollouts': { readonly trainingRunId: string; readonly step: number; readonly task?: string };
  /** One task over the steps of training, opened at one of them. */
  readonly 'task-life': {
    readonly trainingRunId: string;
    readonly task: string;
    readonly step?: number;
    /** Why it is shown. */
    readonly words?: string;
  };
  /** The audit of a training run. */
  readonly audit: { readonly trainingRunId: string };
  /** The rollouts behind one of an audit's findings. */
  readonly evidence: { readonly trainingRunId: string; readonly finding: string };
  /** A search through the text of trajectories. */
  readonly search: { readonly query: string } & SearchedTexts;
  /** The rollouts of a run that have been regraded in this session. */
  readonly regrade: { readonly id: string; readonly label?: string };
  readonly 'benchmark-upload': { readonly jobId: string; readonly label?: string };
  readonly 'trajectory-upload': { readonly jobId: string; readonly dataset: string };
}

/** A rollout's prompt, for a chat with two models. */
export interface ChatPrompt {
  readonly trajectory: string;
  readonly task?: string;
  readonly system: string;
  /** The messages before the question, which may be answers as examples. */
  readonly turns: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** The user's last message, which has not been sent yet. */
  readonly question: string;
  readonly second?: string;
  /** A training run whose checkpoints can take turns answering. */
  readonly training?: string;
  /** A sentence that names the models. */
  readonly words: string;
}

/** The counterpart of a trajectory: the same task in another run. */
interface Twin {
  /** Undefined if the other run has no such trajectory. */
  readonly id: string | undefined;
  /** The other run's name. */
  readonly name: string;
  /** The name of the run that the trajectory on screen belongs to. */
  readonly of: string;
  /** Whether the other run is the base. */
  readonly isBase: boolean;
  /** Its grade from a regrading, in words. */
  readonly graded?: string | undefined;
}

/** A set of rollouts; an empty scope means the rollouts of all runs. */
interface RolloutScope {
  readonly scope: Scope;
  /** Only these training steps, e.g. `50..60`. */
  readonly steps?: string;
  /** Only the rollouts that match this filter of their list. */
  readonly filter?: string | undefined;
  /** The scope's label. */
  readonly label?: string;
}

interface ByGrader {
  /** The regrading of this session that gives the rewards, and its grader; by default, the rewards are the stored ones. */
  readonly regrading?: {
    readonly id: string;
    readonly grader: string;
    /** Whether the place below shows the same runs by the stored rewards. */
    readonly isAboveStored?: true;
  };
}

interface OfSides<Side> {
  readonly left: Side;
  readonly right: Side;
}

export interface NamedRun {
  readonly id: string;
  readonly name: string;
  /** A description of the evaluated model. */
  readonly model?: string;
  readonly bench_id?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Equal for runs that can be pooled. */
  readonly likeness?: string;
  /** The ids of all pooled runs, if there are several. */
  readonly pool?: readonly string[];
}

export type ViewName = keyof Places;

export type Place<View extends ViewName = ViewName> = {
  [Name in View]: { readonly view: Name } & Places[Name];
}[View];

/** Fields that do not identify a place: labels, and a rollout's text, which its id already identifies. */
const ignoredFields: ReadonlySet<string> = new Set([
  'label',
  'likeness',
  'parent',
  'twin',
  'graded',
  'system',
  'turns',
  'question',
  'words',
]);

/** Identifies the place. */
export function placeKey(place: Place): string {
  return JSON.stringify(place, (key, value: unknown) => {
    if (ignoredFields.has(key)) return undefined;
    return value !== null && typeof value === 'object' ? Object.fromEntries(Object.entries(value).sort()) : value;
  });
}
