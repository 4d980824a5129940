/** The command palette: views by name and alias, ids, and all available commands. */
import { Box, Text } from 'ink';
import { useState } from 'react';
import { resources } from '../../resources/catalogue.ts';
import type { Place } from '../../resources/place.ts';
import { withDistinctions } from '../../resources/watch.ts';
import { displayWidth, padEnd, truncate } from '../../text/width.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { overlayCommands, paletteCommands } from '../keys/general.ts';
import { keyLabel } from '../keys/key.ts';
import type { Router } from '../keys/key-router.ts';
import { useRouter } from '../keys/router.tsx';
import { cutTitles, type PaletteEntry } from '../navigation/palette.ts';
import { isNamed, manyKind, paletteEntries, soughtName } from '../navigation/palette-records.ts';
import { CursorList, useTypedList } from '../widgets/cursor-list.tsx';
import { fieldHandlers, oneLine } from '../widgets/text-field/editing.ts';
import { lineView, withCaret } from '../widgets/text-field/field-view.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { type Connection, useConnection } from './connection.ts';
import { useShowProfile } from './leave.tsx';
import type { Registry } from './registry.ts';
import { type Shell, useShell, useWindowRoom } from './shell-context.tsx';
import { useListedNames, useNameSearch } from './use-name-search.ts';

/** Number of recent entries shown first while nothing is typed. */
const recentEntries = 8;
/** Number of recently seen names that are searched. */
const maxNames = 500;

const shortNote = (note: string): string => truncate(note, 28);

function sectionEntries({ sections }: Registry, navigate: Shell['navigate']): PaletteEntry[] {
  return sections.map(({ title, names, place }) => ({
    id: `view.${names[0] ?? title}`,
    title,
    words: names,
    note: names
      .slice(1, 3)
      .map(name => `:${name}`)
      .join(' '),
    run: () => navigate({ kind: 'go', trail: [place] }),
  }));
}

/** Other configured services: `:profile prod` switches to one. */
function profileEntries({ profiles, current }: Connection, show: (name: string) => void): PaletteEntry[] {
  return profiles.map(name => ({
    id: `profile.${name}`,
    title: `profile ${name}`,
    words: [name],
    note: name === current ? 'shown now' : 'another service',
    run: () => show(name),
  }));
}

/** The commands that can be used now. */
function commandEntries(router: Router): PaletteEntry[] {
  return router
    .offers()
    .filter(({ binding: { command } }) => command.palette !== false)
    .map(({ binding, keys: [key = ''] }) => ({
      id: binding.command.id,
      title: binding.command.title,
      words: [binding.command.id],
      note: keyLabel(key),
      run: () => router.run(binding, { name: key, text: '' }),
    }));
}

/**
 * The palette entries that match the typed text: views, commands, profiles, and names that are remembered or in a list
 * that has been read; recently used ones first.
 */
function usePaletteEntries(registry: Registry) {
  const { navigate } = useShell();
  const { remembered } = useWorkbench();
  const connection = useConnection();
  const router = useRouter();
  const showProfile = useShowProfile();
  const [commands] = useState(() => commandEntries(router));
  const [recent] = useState(() => remembered.recentCommands(recentEntries));
  // Read once: names that appear while the user types are left out.
  const [seen] = useState(() => {
    const named = resources.flatMap(({ kind = manyKind }) => (kind === manyKind ? [] : [kind]));
    const [few = [], many = []] = [named, [manyKind]].map(kinds =>
      remembered.seen.since(0, { kinds, limit: maxNames }),
    );
    return [...withDistinctions(remembered, few), ...many];
  });
  const listed = useListedNames();
  const entries = [...sectionEntries(registry, navigate), ...commands, ...profileEntries(connection, showProfile)];
  const named = (text: string) => withDistinctions(remembered, remembered.seen.named(text, maxNames));
  const open = (trail: readonly Place[]): void => navigate({ kind: 'go', trail });
  return {
    listed: listed.words,
    of: (typed: string) => {
      const name = soughtName(typed);
      const found = name === '' ? [] : listed.containing(name);
      return paletteEntries(typed, { entries, seen: [...found, ...seen], named, recent, open });
    },
  };
}

/** The entries' titles, cut to fit. Those with the same note are of the same kind, and are cut together. */
function titlesByNote(
  entries: readonly PaletteEntry[],
  cut: (note: string, titles: readonly string[]) => ReadonlyMap<string, string>,
) {
  const groups = Map.groupBy(entries, ({ note }) => note);
  return new Map(
    Array.from(groups, ([note, some]) => {
      const titles = some.map(({ title }) => title);
      return [note, cut(note, titles)];
    }),
  );
}

export function PaletteOverlay({ registry, onClose }: { registry: Registry; onClose: () => void }) {
  const { remembered } = useWorkbench();
  const { styles, glyphs } = useTheme();
  const palette = usePaletteEntries(registry);
  const list = useTypedList(palette.of, ({ id }) => id);
  const { text, items: entries, cursor, move } = list;
  const name = soughtName(text);
  const searching = useNameSearch(name, isNamed(name, entries), palette.listed);
  const { width, inner, ...room } = useWindowRoom(72);
  const height = Math.min(room.height, 18);
  const complete = (): void => list.replace(entries[cursor]?.title ?? text);
  const titleRoom = (note: string): number => inner - 3 - displayWidth(shortNote(note));
  const near = entries.slice(Math.max(0, cursor - height), cursor + height);
  const titles = titlesByNote(near, (note, some) => cutTitles(some, titleRoom(note), text, glyphs.ellipsis));
  const accept = (): void => {
    const entry = entries[cursor];
    onClose();
    if (!entry) return;
    remembered.rememberCommand(entry.id);
    entry.run();
  };
  return (
    <Window
      title="Go to a view or run a command"
      width={width}
      height={height}
      bindings={[
        { command: paletteCommands.up, run: move(-1) },
        { command: paletteCommands.down, run: move(1) },
        { command: paletteCommands.complete, run: complete },
        { command: overlayCommands.submit, run: accept },
        { command: overlayCommands.close, run: onClose },
      ]}
      {...fieldHandlers(oneLine, list.press)}
    >
      <Text wrap="truncate">{`${styles.key(':')}${withCaret(lineView(list.typed, inner - 1), 0, styles.caret)}`}</Text>
      <Box flexDirection="column">
        <CursorList
          items={entries}
          cursor={cursor}
          height={height - windowMargin.lines - (searching === '' ? 1 : 2)}
          keyOf={list.keyOf}
          lineOf={({ title, note }, emphasise) =>
            `${emphasise(padEnd(titles.get(note)?.get(title) ?? title, titleRoom(note)))} ${styles.muted(shortNote(note))}`
          }
        />
        {searching === '' && entries.length === 0 ? <Text>{styles.muted('  no match')}</Text> : null}
        {searching === '' ? null : <Text wrap="truncate">{styles.muted(`  ${searching}`)}</Text>}
      </Box>
    </Window>
  );
}
