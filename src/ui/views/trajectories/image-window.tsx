/** An image in place of the whole screen, until a key is pressed. */
import { Text } from 'ink';
import { useLayoutEffect } from 'react';
import type { Image } from '../../../present/images.ts';
import { useShell, useWindowRoom } from '../../app/shell-context.tsx';
import type { ImageTerminal } from '../../app/terminal-port.ts';
import { Window, windowMargin } from '../../widgets/window.tsx';
import { imageBytes } from './terminal-image.ts';

interface ImageWindowProps {
  readonly image: Image;
  /** Describes the image, in ASCII. */
  readonly words: string;
  readonly terminal: ImageTerminal;
  readonly onClose: () => void;
}

export function ImageWindow({ image, words, terminal, onClose }: ImageWindowProps) {
  const { columns, rows } = useShell().layout;
  const { width } = useWindowRoom(64);
  const keys = 'any key returns';
  useLayoutEffect(() => {
    const { show, remove } = imageBytes(image, terminal.display, { columns, rows: rows - 1 });
    return terminal.cover(`${show}\u001b[${rows};1H${words}; ${keys}`, remove);
  }, [image, words, terminal, columns, rows]);
  // The window is visible only after a signal has suspended the program: the screen is then redrawn without the image.
  return (
    <Window
      title={words}
      width={width}
      height={1 + windowMargin.lines}
      field={{ takes: () => true, type: onClose }}
      onPaste={() => {
        onClose();
        return true;
      }}
    >
      <Text>{keys}</Text>
    </Window>
  );
}
