/** Places in the program: a view and what it shows. */

import type { OutcomeKind } from '../present/outcome-classes.ts';
import type { Sort } from '../present/sort.ts';

/** The scopes of lists: resources by their singular, and the status. */
export const scopeNames = ['benchmark', 'run', 'training', 'dataset', 'status'] as const;
export type ScopeName = (typeof scopeNames)[number];

/** The scope of a list: ids, except for `dataset` and `status`. */
export type Scope = { readonly [Name in ScopeName]?: string | undefined };

/** The trajectories whose texts can be searched, and their name. */
export interface SearchedTexts {
  readonly scope: Scope;
  /** Restricts it to the rollouts of this step of a training run. */
  readonly step?: number;
  readonly label: string;
}

/** The input of each view. */
interface Places {
  readonly watch: object;
  readonly inbox: object;
  readonly chat: { readonly model?: string; readonly prompt?: ChatPrompt };
  /** The list of a resource, with an optional scope. */
  readonly list: {
    /** The first name of the resource, e.g. `runs`. */
    readonly resource: string;
    readonly scope?: Scope;
    /** The label of the scope, e.g. the name of the benchmark. */
    readonly label?: string;
    /** The id of the row under the cursor at first. */
    readonly at?: string;
    /** The order at first; that of the service if missing. */
    readonly sort?: Sort;
  };
  readonly record: {
    /** The first name of the resource, e.g. `runs`. */
    readonly resource: string;
    readonly id: string;
    /** Its label, if known before it is read. */
    readonly label?: string;
    /** The search hit to show first. */
    readonly found?: { readonly query: string; readonly place: number };
    /** Id of its parent, e.g. the benchmark of a run. */
    readonly parent?: string;
    /** The id of the part under the cursor at first, e.g. a checkpoint of a training run. */
    readonly at?: string;
    /** The trajectory of the same task in another run. */
    readonly twin?: Twin;
  };
  /** Two evaluation runs, task by task. */
  readonly compare: {
    readonly base: NamedRun;
    readonly new: NamedRun;
    /** The start times are unknown, so the base is the run that was chosen first. */
    readonly isUndated?: true;
  };
  /** Several evaluation runs, compared with one of them. */
  readonly 'compare-many': { readonly runs: readonly NamedRun[]; readonly base: string };
  /** The curves of several training runs. */
  readonly curves: { readonly runs: readonly Pick<NamedRun, 'id' | 'name'>[] };
  /** The tasks of a run, a dataset or a training run; a run may be compared with another. */
  readonly tasks: RolloutScope & { readonly base?: NamedRun };
  /** How the rollouts of a run, a dataset or a training run ended. */
  readonly outcomes: RolloutScope;
  /** The rollouts of one task, or those with the same end, worst first. */
  readonly rollouts: RolloutScope & {
    readonly task?: string;
    readonly ended?: { readonly by: OutcomeKind; readonly value: string | undefined };
  };
  /** The tree of everything, with the branches of these open. */
  readonly tree: { readonly benchmark?: string; readonly training?: string; readonly at?: string };
  /** The rewards of rollouts against their lengths. */
  readonly lengths: RolloutScope;
  /** Two trajectories side by side. */
  readonly pair: OfSides<Pick<NamedRun, 'id' | 'name'>>;
  /** The tasks of a training step. */
  readonly step: { readonly trainingRunId: string; readonly step: number };
  /** The rollouts of a training step, or of one of its tasks. */
  readonly 'step-rollouts': { readonly trainingRunId: string; readonly step: number; readonly task?: string };
  /** A task through the steps that were read, opened at one of them. */
  readonly 'task-life': {
    readonly trainingRunId: string;
    readonly task: string;
    readonly step?: number;
    /** Why it is shown. */
    readonly words?: string;
  };
  /** The audit of a training run. */
  readonly audit: { readonly trainingRunId: string };
  /** The rollouts behind a finding of an audit. */
  readonly evidence: { readonly trainingRunId: string; readonly finding: string };
  /** A search through the texts of trajectories. */
  readonly search: { readonly query: string } & SearchedTexts;
  /** The rollouts of a run, graded again in this session. */
  readonly regrade: { readonly id: string; readonly label?: string };
  readonly 'benchmark-upload': { readonly jobId: string; readonly label?: string };
  readonly 'trajectory-upload': { readonly jobId: string; readonly dataset: string };
}

/** The prompt of a rollout, to put to two models. */
export interface ChatPrompt {
  readonly trajectory: string;
  readonly task?: string;
  readonly system: string;
  /** The last one is not sent yet. */
  readonly questions: readonly string[];
  readonly second?: string;
  /** The training run whose checkpoints can be asked one after the other. */
  readonly training?: string;
  /** Who answers. */
  readonly words: string;
}

/** The trajectory of the same task in another run, with the names of both runs. */
interface Twin {
  /** Undefined if that run has none to open. */
  readonly id: string | undefined;
  readonly name: string;
  /** The run of the trajectory to which this one is the counterpart. */
  readonly of: string;
  /** Whether it belongs to the base run. */
  readonly isBase: boolean;
}

/** The scope of rollouts; those of all runs if empty. */
interface RolloutScope {
  readonly scope: Scope;
  /** Only these steps of training, e.g. `50..60`. */
  readonly steps?: string;
  /** The label of the scope. */
  readonly label?: string;
}

interface OfSides<Side> {
  readonly left: Side;
  readonly right: Side;
}

export interface NamedRun {
  readonly id: string;
  readonly name: string;
  /** The evaluated model in words. */
  readonly model?: string;
  readonly bench_id?: string;
  /** Equal for runs that may be read as one. */
  readonly likeness?: string;
  /** The ids of all runs that are read as this one, if there are several. */
  readonly pool?: readonly string[];
}

export type ViewName = keyof Places;

export type Place<View extends ViewName = ViewName> = {
  [Name in View]: { readonly view: Name } & Places[Name];
}[View];

/** Fields that do not identify a place: labels, and the texts of a rollout that is given by its id. */
const ignored: ReadonlySet<string> = new Set(['label', 'likeness', 'parent', 'twin', 'system', 'questions', 'words']);

/** A key that identifies the place. */
export function placeKey(place: Place): string {
  return JSON.stringify(place, (key, value: unknown) => {
    if (ignored.has(key)) return undefined;
    return value !== null && typeof value === 'object' ? Object.fromEntries(Object.entries(value).sort()) : value;
  });
}
