/** Places in the program: a view and what it shows. */

/** What a list is narrowed to: ids, but for `dataset` and `status`. */
export interface Scope {
  readonly benchmark?: string | undefined;
  readonly run?: string | undefined;
  readonly training?: string | undefined;
  readonly dataset?: string | undefined;
  readonly status?: string | undefined;
}

export type ScopeName = keyof Scope;

/** What each view is given to show. */
interface Places {
  readonly watch: object;
  readonly chat: { readonly model?: string };
  /** The list of a resource, all of it or within something else. */
  readonly list: {
    /** The first name of the resource, e.g. `runs`. */
    readonly resource: string;
    readonly scope?: Scope;
    /** What it is within, e.g. the name of the benchmark. */
    readonly label?: string;
  };
  /** One of a resource. */
  readonly record: {
    /** The first name of the resource, e.g. `runs`. */
    readonly resource: string;
    readonly id: string;
    /** What it is called, as far as that is known before it is read. */
    readonly label?: string;
    /** Id of what it belongs to, e.g. the benchmark of a run. */
    readonly parent?: string;
  };
  /** Two evaluation runs, task by task. */
  readonly compare: { readonly base: NamedRun; readonly new: NamedRun };
  readonly step: { readonly trainingRunId: string; readonly step: number };
  readonly 'benchmark-upload': { readonly jobId: string; readonly label?: string };
  readonly 'trajectory-upload': { readonly jobId: string; readonly dataset: string };
}

export interface NamedRun {
  readonly id: string;
  readonly name: string;
}

export type ViewName = keyof Places;

/** A place of one view, or of any. */
export type Place<View extends ViewName = ViewName> = {
  [Name in View]: { readonly view: Name } & Places[Name];
}[View];

/** A text that is the same for the same place: labels say nothing about where that is. */
export function placeKey(place: Place): string {
  return JSON.stringify(place, (key, value: unknown) => {
    if (key === 'label' || key === 'parent') return undefined;
    return value !== null && typeof value === 'object' ? Object.fromEntries(Object.entries(value).sort()) : value;
  });
}
