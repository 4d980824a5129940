/** The program's views, and the sections that open them. */
import type { ComponentType } from 'react';
import type { Command, CommandTable } from '../../present/command.ts';
import type { Place, ViewName } from '../../resources/place.ts';
import type { SectionCount } from '../data/use-watched.ts';
import { errorCommands, generalLayers, globalCommands } from '../keys/general.ts';

export interface ViewProps<Name extends ViewName = ViewName> {
  readonly place: Place<Name>;
}

export interface ViewDefinition<Name extends ViewName = ViewName> {
  /** The places it shows, e.g. `watch`, `list runs`, `record runs`. */
  readonly id: string;
  /** Heading of its commands in help, e.g. `Runs`. */
  readonly title: string;
  /** A place's crumb in this view, at most `room` cells wide if it can be shortened; the title by default. */
  readonly crumb?: (place: Place<Name>, room: number) => string | undefined;
  readonly component: ComponentType<ViewProps<Name>>;
  /** Whether it fills the inspector; true by default. */
  readonly hasInspector?: boolean;
  /**
   * Minimum terminal columns to show the inspector, until the user shows or hides it; shown at any width if missing.
   */
  readonly inspectorFrom?: number;
  /**
   * Minimum terminal columns to show the side panes, until the user shows or hides one. That choice does not affect
   * views without this property.
   */
  readonly sidesFrom?: number;
  /** Explains its numbers in help. */
  readonly about?: string;
  /** All of the view's commands, for help and for validating key overrides. */
  readonly commands: readonly Command[];
  /** The general commands that are active in it, e.g. those for lists. Global commands are active in every view. */
  readonly general: readonly CommandTable[];
}

/** An entry in the list on the left. */
export interface Section {
  readonly title: string;
  readonly names: readonly string[];
  readonly place: Place;
  /** Key of the list to count. */
  readonly listKey?: readonly unknown[];
  /** A custom count, if it is not the size of a list. */
  readonly count?: SectionCount;
}

export interface Registry {
  /** From top to bottom. */
  readonly sections: readonly Section[];
  /** In the order in which help lists them. */
  readonly views: readonly ViewDefinition[];
  /** Where the program opens. */
  readonly home: Place;
  /**
   * Where it opens instead if something is running or has ended since the last look; it also goes there later, until a
   * key is pressed.
   */
  readonly busyHome?: Place;
}

/** Finds a section by any of its names, in lower or upper case. */
export const sectionNamed = ({ sections }: Registry, name: string): Section | undefined =>
  sections.find(({ names }) => names.includes(name.toLowerCase()));

/** Declares a view, which gets only places of its own kind. */
export function defineView<Name extends ViewName>(view: ViewDefinition<Name>): ViewDefinition {
  return view as unknown as ViewDefinition;
}

export function viewId(place: Place): string {
  return place.view === 'list' || place.view === 'record' ? `${place.view} ${place.resource}` : place.view;
}

export function findView({ views }: Registry, place: Place): ViewDefinition | undefined {
  const id = viewId(place);
  return views.find(view => view.id === id);
}

/**
 * The sets of commands that may be active at the same time: the commands of a window, and those of each view along with
 * its general ones.
 */
export function keyLayers({ views }: Registry): readonly (readonly Command[])[] {
  const viewLayers = views.map(({ id, commands, general }) => {
    // A record shares its resource's commands, which the list declares.
    const list = views.find(each => id === each.id.replace(/^list /, 'record '));
    const shared = [...general, errorCommands, globalCommands].flatMap(table => Object.values<Command>(table));
    return [...new Set([...commands, ...(list?.commands ?? []), ...shared])];
  });
  return [...generalLayers.map(table => Object.values<Command>(table)), ...viewLayers];
}

/** A place's crumb. Not sanitised. */
export function crumbOf(registry: Registry, place: Place, room: number): string {
  const view = findView(registry, place);
  return view?.crumb?.(place, room) ?? view?.title ?? place.view;
}
