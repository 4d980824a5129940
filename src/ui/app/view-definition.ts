/** What a view tells the program about itself. A new view is one folder and one line in the registry. */
import type { ComponentType } from 'react';
import type { Command } from '../../present/command.ts';
import type { Location } from '../navigation/location.ts';

/** What is passed to every view. */
export interface ViewProps {
  readonly location: Location;
}

export interface ViewDefinition {
  /** As it stands in a location, e.g. `runs`. */
  readonly name: string;
  /** As it stands in crumbs and in the sections, e.g. `Runs`. */
  readonly title: string;
  /** Names under which the palette finds it, besides its own. */
  readonly aliases: readonly string[];
  /** True for the views that stand in the list of sections. */
  readonly section?: boolean;
  /** True for the view that the program opens with. */
  readonly home?: boolean;
  /** Key of the list that the section counts. */
  readonly listKey?: readonly unknown[];
  /** Counts for the section what is no list of the service. */
  readonly useCount?: () => string | undefined;
  /** How an id looks that this view shows, and the parameter it goes into. */
  readonly opens?: { readonly id: RegExp; readonly param: string };
  /** The section that a thing opened by its id belongs to. */
  readonly under?: string;
  /** Crumb of a place in this view; the title where it is missing. */
  readonly crumb?: (params: Readonly<Record<string, string>>) => string;
  readonly component: ComponentType<ViewProps>;
  /** Every command of the view, for help and for the check of key overrides. */
  readonly commands: readonly Command[];
}

/** The views of the program, in the order of the sections. */
export type ViewRegistry = readonly ViewDefinition[];

/** The view of that name. */
export function findView(registry: ViewRegistry, name: string): ViewDefinition | undefined {
  return registry.find(view => view.name === name);
}

/** The view that the program opens with: the one that says so, or the first section. */
export function homeOf(registry: ViewRegistry): ViewDefinition | undefined {
  return registry.find(view => view.home) ?? registry.find(view => view.section);
}

/** The place that shows the thing with this id, if its kind can be told from the id. */
export function locateId(registry: ViewRegistry, id: string): readonly Location[] | undefined {
  const view = registry.find(({ opens }) => opens?.id.test(id));
  if (!view?.opens) return undefined;
  const location = { view: view.name, params: { [view.opens.param]: id } };
  return view.under ? [{ view: view.under, params: {} }, location] : [location];
}
