/** The views of the program, and the sections that lead to them. */
import type { ComponentType } from 'react';
import type { Command } from '../../present/command.ts';
import type { Place, ViewName } from '../../resources/place.ts';

/** What is passed to a view. */
export interface ViewProps<Name extends ViewName = ViewName> {
  readonly place: Place<Name>;
}

export interface ViewDefinition<Name extends ViewName = ViewName> {
  /** What it shows, as in a place: `watch`, `list runs`, `record runs`. */
  readonly id: string;
  /** Heading of its commands in help, e.g. `Runs`. */
  readonly title: string;
  /** Crumb of a place in this view; the title if it is missing. */
  readonly crumb?: (place: Place<Name>) => string;
  readonly component: ComponentType<ViewProps<Name>>;
  /** Whether it fills the inspector; it does unless this is false. */
  readonly hasInspector?: boolean;
  /** Every command of the view, for help and for the check of key overrides. */
  readonly commands: readonly Command[];
}

/** An entry of the list at the left. */
export interface Section {
  readonly title: string;
  /** Names under which the palette finds it. */
  readonly names: readonly string[];
  readonly place: Place;
  /** Key of the list whose rows it counts. */
  readonly listKey?: readonly unknown[];
  /** Counts what is no list of the service. */
  readonly useCount?: () => string | undefined;
}

export interface Registry {
  /** From top to bottom. */
  readonly sections: readonly Section[];
  /** In the order in which help names them. */
  readonly views: readonly ViewDefinition[];
  /** Where the program opens. */
  readonly home: Place;
}

/** Declares a view: it is given places of its own kind only. */
export function defineView<Name extends ViewName>(view: ViewDefinition<Name>): ViewDefinition {
  return view as unknown as ViewDefinition;
}

/** The id of the view that shows a place. */
export function viewId(place: Place): string {
  return place.view === 'list' || place.view === 'record' ? `${place.view} ${place.resource}` : place.view;
}

/** The view that shows a place. */
export function findView({ views }: Registry, place: Place): ViewDefinition | undefined {
  const id = viewId(place);
  return views.find(view => view.id === id);
}

/** What a place is called in the crumbs. Not yet safe for a terminal. */
export function crumbOf(registry: Registry, place: Place): string {
  const view = findView(registry, place);
  return view?.crumb?.(place) ?? view?.title ?? place.view;
}
