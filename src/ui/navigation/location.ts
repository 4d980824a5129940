import { own } from '../../text/own.ts';

/** A place in the program: a view and what it shows. */
export interface Location {
  /** Name of a view in the registry, e.g. `runs` or `run`. */
  readonly view: string;
  /** What the view shows, e.g. `{ eval_run_id: 'evr_1' }`. */
  readonly params: Readonly<Record<string, string>>;
}

export function sameLocation(left: Location, right: Location): boolean {
  const names = Object.keys(left.params);
  return (
    left.view === right.view &&
    names.length === Object.keys(right.params).length &&
    names.every(name => own(left.params, name) === own(right.params, name))
  );
}

/** A text that is the same for the same place: the key under which a view's memory is kept. */
export function locationKey({ view, params }: Location): string {
  return JSON.stringify([view, ...Object.entries(params).sort(([left], [right]) => (left < right ? -1 : 1))]);
}
