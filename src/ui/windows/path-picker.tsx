/** The window that chooses a local file or folder by navigating or typing a path. */
import { dirname } from 'node:path';
import { Box, Text } from 'ink';
import { useState } from 'react';
import { bytes } from '../../text/numbers.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { displayWidth, fitCells, truncate } from '../../text/width.ts';
import { type Entry, type Listing, listFolder } from '../../uploads/local-files.ts';
import { useWindowRoom } from '../app/shell-context.tsx';
import { overlayCommands, pickerCommands } from '../keys/general.ts';
import { useKeyOf } from '../keys/router.tsx';
import { CursorList, useTypedList } from '../widgets/cursor-list.tsx';
import { fieldHandlers, oneLine } from '../widgets/text-field/editing.ts';
import { lineView, withCaret } from '../widgets/text-field/field-view.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';

interface PathPickerProps {
  readonly title: string;
  /** Whether a file can be chosen, or marks its folder as one that can be. */
  readonly accepts: (name: string) => boolean;
  /** Whether the user chooses a file, or a folder that contains one. */
  readonly choose: 'file' | 'folder';
  readonly start?: string;
  readonly onChoose: (path: string) => void;
  readonly onClose: () => void;
}

const isPath = (text: string): boolean => /^(\/|~|\.\.?\/)/.test(text);

function shownEntries({ entries }: Listing, typed: string): readonly Entry[] {
  const text = typed.toLowerCase();
  return text === '' || isPath(text) ? entries : entries.filter(({ name }) => name.toLowerCase().includes(text));
}

export function PathPicker(props: PathPickerProps) {
  const { title, accepts, choose, start = '.', onChoose, onClose } = props;
  const [listing, setListing] = useState(() => listFolder(start, accepts));
  const list = useTypedList(
    text => shownEntries(listing, text),
    ({ path }) => path,
  );
  const { text: typed, items: entries, move } = list;
  const { width, inner, ...room } = useWindowRoom(76);
  const height = Math.min(room.height, 22);
  const mayUseFolder = choose === 'folder' && listing.entries.some(entry => entry.kind === 'file');
  const show = (next: Listing): void => {
    setListing(next);
    list.replace('');
  };
  const go = (folder: string): void => show(listFolder(folder, accepts));
  const accept = (): void => {
    const entry = entries[list.cursor];
    if (isPath(typed)) {
      const there = listFolder(typed, accepts);
      if (there.error === undefined) show(there);
      else onChoose(typed);
    } else if (entry?.kind === 'folder') go(entry.path);
    else if (mayUseFolder) onChoose(listing.folder);
    else if (entry) onChoose(entry.path);
  };
  return (
    <Window
      title={title}
      width={width}
      height={height}
      bindings={[
        { command: pickerCommands.up, run: move(-1) },
        { command: pickerCommands.down, run: move(1) },
        { command: pickerCommands.parent, run: () => go(dirname(listing.folder)) },
        { command: pickerCommands.use, run: () => onChoose(listing.folder), enabled: mayUseFolder },
        { command: overlayCommands.submit, run: accept },
        { command: overlayCommands.close, run: onClose },
      ]}
      {...fieldHandlers(oneLine, press => {
        const text = press.name === 'paste' ? press.text.trim() : press.text;
        list.press({ ...press, text });
      })}
    >
      <PickerLines
        {...{ listing, list, choose, mayUseFolder }}
        width={inner}
        height={Math.max(1, height - windowMargin.lines - 4)}
      />
    </Window>
  );
}

interface PickerLinesProps extends Pick<PathPickerProps, 'choose'> {
  readonly listing: Listing;
  readonly list: ReturnType<typeof useTypedList<Entry>>;
  readonly mayUseFolder: boolean;
  readonly width: number;
  /** Lines for the entries. */
  readonly height: number;
}

/** The folder, the typed text, a hint, and the entries. */
function PickerLines({ listing, list, choose, mayUseFolder, width, height }: PickerLinesProps) {
  const { styles, glyphs } = useTheme();
  const keyOf = useKeyOf();
  const words = mayUseFolder
    ? styles.success(`${glyphs.check} ${keyOf(pickerCommands.use)} reads this folder, and shows the items to send`)
    : styles.muted(choose === 'folder' ? 'go to the folder that contains manifest.json' : 'choose a file');
  return (
    <>
      <Text wrap="truncate">{styles.muted(truncate(sanitiseLine(listing.folder), width, { position: 'start' }))}</Text>
      <Text wrap="truncate">{`${styles.key(glyphs.crumb)} ${withCaret(lineView(list.typed, width - 3), 0, styles.caret)}`}</Text>
      <Text wrap="truncate">{words}</Text>
      <Box flexDirection="column" height={height} overflow="hidden">
        {listing.error ? <Text>{styles.danger(truncate(sanitiseLine(listing.error), width))}</Text> : null}
        <CursorList
          items={list.items}
          cursor={list.cursor}
          height={height}
          keyOf={list.keyOf}
          lineOf={(entry, emphasise) => {
            const size = entry.size === undefined ? '' : bytes(entry.size);
            const name = fitCells(sanitiseLine(entry.name), width - 3 - displayWidth(size));
            return `${emphasise(name)} ${styles.muted(size)}`;
          }}
        />
      </Box>
      <Text wrap="truncate">
        {styles.muted(`${keyOf(overlayCommands.submit)} opens; type part of a name, or a path`)}
      </Text>
    </>
  );
}
