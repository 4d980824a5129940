/**
 * Facts next to a view: the user scrolls them, selects a reference in them, opens its resource, and comes back to the
 * same fact.
 */
import { useEffect, useState } from 'react';
import { errorMessage } from '../../../base/errors.ts';
import { pushAll } from '../../../base/many.ts';
import type { Fact, Reference } from '../../../present/fact.ts';
import { formatTrainingOrigin, knownOrigin } from '../../../queries/checkpoint-memory.ts';
import { maxSearched, OriginSearch } from '../../../queries/checkpoint-origins.ts';
import { placeOfReference, resourceNamed } from '../../../resources/catalogue.ts';
import { clean } from '../../../text/sanitise.ts';
import type { PaneName } from '../../app/layout.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { referenceCommands, scrollCommands } from '../../keys/general.ts';
import type { Binding } from '../../keys/router.tsx';
import { useMemory } from '../../navigation/memory.tsx';
import { type DrawnFacts, drawFacts } from '../../widgets/facts.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';

interface FactReferences extends DrawnFacts {
  /** The first line of each part. */
  readonly partAt: readonly number[];
  /** The line of the selected fact. */
  readonly at: number | undefined;
  /** The first line to show, if the user has scrolled. */
  readonly from: number | undefined;
  readonly bindings: readonly Binding[];
}

/** Returns a function that adds known names to facts that refer to resources, unless another fact shows the name. */
function useFactsWithNames(): (facts: readonly Fact[]) => readonly Fact[] {
  const nameOf = useNameOf();
  return facts =>
    facts.map(fact => {
      const isId = fact.refers?.within === undefined && fact.value === fact.refers?.id;
      const name = fact.refers && isId ? nameOf(fact.refers) : undefined;
      return name === undefined || facts.some(({ value }) => value === name)
        ? fact
        : { ...fact, value: `${name}\n${fact.value}` };
    });
}

/** Returns a function that names a reference's target or, for a part, the parent, if this machine has seen it. */
function useNameOf(): (reference: Reference) => string | undefined {
  const { statuses, remembered } = useWorkbench();
  return ({ resource, id, within }) => {
    const origin = within === undefined && resource === 'checkpoints' ? knownOrigin(id, remembered) : undefined;
    if (origin) return formatTrainingOrigin(origin);
    const kind = resourceNamed(within === undefined ? resource : 'training')?.kind;
    if (kind === undefined) return undefined;
    const key = { kind, id: within ?? id };
    return statuses.get(key)?.label ?? remembered.seen.find(kind, key.id)?.label;
  };
}

/** Returns a function that opens a reference's target; it searches for a checkpoint's training run if that is unknown. */
function useOpenReference(): (reference: Reference) => Promise<boolean> {
  const shell = useShell();
  const workbench = useWorkbench();
  const nameOf = useNameOf();
  return async wanted => {
    const origin = wanted.resource === 'checkpoints' ? knownOrigin(wanted.id, workbench.remembered) : undefined;
    const reference = { ...wanted, within: wanted.within ?? origin?.training_run_id };
    const known = placeOfReference(reference, nameOf(reference));
    if (known) {
      shell.open(known);
      return true;
    }
    shell.toast({ kind: 'info', text: clean`Searching for the training run of ${reference.id}…` });
    try {
      const signal = AbortSignal.timeout(searchMs);
      const context = workbench.contextFor(await workbench.service(), signal);
      const run = await new OriginSearch().runOf({ checkpoint_id: reference.id }, context);
      const place =
        run && placeOfReference({ ...reference, within: run.training_run_id }, run.display_name ?? undefined);
      if (place) {
        shell.open(place);
        return true;
      }
      const text = clean`None of the newest ${maxSearched} training runs has the checkpoint ${reference.id}`;
      shell.toast({ kind: 'warning', text });
    } catch (error) {
      const text = clean`The search for the training run of ${reference.id} failed: ${errorMessage(error)}`;
      shell.toast({ kind: 'warning', text });
    }
    return false;
  };
}

const searchMs = 30_000;

interface ReferencesOptions {
  readonly pane: Exclude<PaneName, 'sections'>;
  readonly width: number;
  /** Whether focusing the pane selects the first reference; otherwise, the key for the next reference does. */
  readonly focused?: boolean;
  /** How many lines fit; undefined if the view scrolls them itself. */
  readonly height?: number;
  /** How many lines the view shows at least before they are scrolled; by default, as many as fit. */
  readonly least?: number;
}

/** Lines, and facts below them. */
export interface FactsPart {
  readonly lines?: readonly string[];
  readonly facts: readonly Fact[];
}

/** The references that open from these facts. */
export const openableReferences = (facts: readonly Fact[]): readonly Reference[] =>
  facts.flatMap(({ refers, value }) => (refers && value ? [refers] : []));

/** Scrolls the facts of the focused pane until another reference is selected. */
function useFactsScroll(
  count: number,
  at: number | undefined,
  { focused = false, height = count, least = height }: ReferencesOptions,
) {
  const [scrolled, setScrolled] = useState<{ readonly from: number; readonly at: number | undefined }>();
  const last = Math.max(0, count - height);
  const from = focused && scrolled && scrolled.at === at ? Math.min(scrolled.from, last) : undefined;
  const to = (line: number): void => setScrolled(line > 0 ? { from: Math.min(line, last), at } : undefined);
  // The first step down goes to the last line in view.
  const by = (lines: number) => () => to(from === undefined ? (lines > 0 ? least - 1 : 0) : from + lines);
  const page = Math.max(1, height - 1);
  const half = Math.max(1, Math.floor(height / 2));
  const runs = [
    [scrollCommands.pageUp, by(-page)],
    [scrollCommands.pageDown, by(page)],
    [scrollCommands.halfUp, by(-half)],
    [scrollCommands.halfDown, by(half)],
    [scrollCommands.top, () => to(0)],
    // Once scrolled, the facts may have more room, in which all of them fit.
    [scrollCommands.bottom, () => to(Math.max(1, last))],
  ] as const;
  const enabled = focused && count > least;
  return { from, bindings: runs.map(([command, run]): Binding => ({ command, enabled, run })) };
}

/** Draws the facts, and binds the keys that scroll them and that select and open references. */
export function useReferences(parts: readonly FactsPart[], options: ReferencesOptions): FactReferences {
  const { pane, width, focused } = options;
  const theme = useTheme();
  const [left, remember] = useMemory<number | undefined>('reference');
  const [, leave] = useMemory<PaneName>('pane left');
  const [chosen, setChosen] = useState(left);
  const named = useFactsWithNames();
  const openReference = useOpenReference();
  const references = parts.flatMap(({ facts }) => openableReferences(facts));
  useEffect(() => remember(undefined), [remember]);
  const index = chosen === undefined ? (focused ? 0 : undefined) : Math.min(chosen, references.length - 1);
  const selected = focused === false ? undefined : index;
  const drawn: DrawnFacts = { lines: [], referenceLines: [] };
  const partAt: number[] = [];
  for (const { lines = [], facts } of parts) {
    partAt.push(drawn.lines.length);
    pushAll(drawn.lines, lines);
    const own = drawFacts(
      named(facts),
      width,
      theme,
      selected === undefined ? undefined : selected - drawn.referenceLines.length,
    );
    pushAll(
      drawn.referenceLines,
      own.referenceLines.map(line => line + drawn.lines.length),
    );
    pushAll(drawn.lines, own.lines);
  }
  const move = (by: number) => (): unknown => {
    const next = (selected ?? (by > 0 ? -1 : 0)) + by;
    const isInside = next >= 0 && next < references.length;
    setChosen(isInside ? next : undefined);
    return isInside;
  };
  const reference = selected === undefined ? undefined : references[selected];
  const open = (): unknown => {
    if (!reference) return false;
    remember(selected);
    leave(pane);
    return openReference(reference);
  };
  const enabled = references.length > 0 && focused !== false;
  const at = selected === undefined ? undefined : drawn.referenceLines[selected];
  const scroll = useFactsScroll(drawn.lines.length, at, options);
  return {
    ...drawn,
    partAt,
    at,
    from: scroll.from,
    bindings: [
      ...(options.height === undefined ? [] : scroll.bindings),
      { command: referenceCommands.next, enabled, run: move(1) },
      { command: referenceCommands.previous, enabled: enabled && selected !== undefined, run: move(-1) },
      { command: referenceCommands.open, enabled: reference !== undefined, run: open },
    ],
  };
}

/**
 * The lines that fit, including the one that must be visible. The last one counts the rest.
 *
 * @param from the first line, if it is known
 */
export function linesAround(
  lines: readonly string[],
  height: number,
  at: number | undefined,
  from: number = at === undefined ? 0 : Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height)),
): readonly string[] {
  const shown = lines.slice(from, from + height);
  const more = lines.length - from - height;
  return more > 0 && height > 2 ? [...shown.slice(0, -1), `… ${more + 1} more lines`] : shown;
}
