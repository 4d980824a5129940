/** Shows a message's image on the terminal, or opens it in the system's viewer. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useCallback } from 'react';
import { capitalised } from '../../../base/capitalised.ts';
import { errorMessage } from '../../../base/errors.ts';
import { decodeImage, type Image } from '../../../present/images.ts';
import { sizeOf } from '../../../text/data-urls.ts';
import type { Environment } from '../../../text/terminal.ts';
import { useShell } from '../../app/shell-context.tsx';
import { ImageWindow } from './image-window.tsx';
import { problemWith } from './terminal-image.ts';

/** The program that opens a file as the desktop would; undefined if there is no desktop, as over SSH. */
export function viewerOf(platform: NodeJS.Platform, environment: Environment): string | undefined {
  if (platform === 'darwin') return environment['SSH_CONNECTION'] ? undefined : 'open';
  if (platform === 'win32') return undefined;
  return environment['DISPLAY'] || environment['WAYLAND_DISPLAY'] ? 'xdg-open' : undefined;
}

/** Decodes an image. @throws Error if the format is not supported */
export function readImage(base64: string): Image {
  const image = decodeImage(base64);
  if (!image) throw new Error('It is not a PNG, JPEG, GIF, WebP or BMP image');
  return image;
}

/** Writes an image to a private file, which is removed when the program ends. Resolves with its path. */
export async function writeImage({ format, bytes }: Image): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'benchtop-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, `image.${format}`);
  await writeFile(path, bytes, { mode: 0o600 });
  return path;
}

/** Starts the viewer, which outlives the program. @throws Error if it cannot be started */
function start(viewer: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(viewer, [path], { stdio: 'ignore', detached: true });
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}

export interface FoundImage {
  readonly base64: string;
  /** The number of its message, from 1. */
  readonly message: number;
  /** Its number among the trajectory's images, from 1. */
  readonly number: number;
  readonly of: number;
}

/**
 * Returns a function that shows an image on the terminal. If the terminal cannot, it opens the system's viewer or, if
 * there is none, shows the file's path.
 */
export function useOpenImage(): (found: FoundImage) => Promise<void> {
  const { toast, showOverlay, terminal } = useShell();
  const { images } = terminal;
  return useCallback(
    async ({ base64, message, number, of }) => {
      const named = of === 1 ? 'the image' : `image ${number} of ${of}`;
      try {
        const image = readImage(base64);
        const problem = images && problemWith(image, images.display);
        if (images && problem === undefined) {
          const which = of === 1 ? '' : `, ${number} of ${of}`;
          const words = `image ${image.format} ${sizeOf(base64.length)} in message ${message}${which}`;
          showOverlay('image', close => <ImageWindow {...{ image, words }} terminal={images} onClose={close} />);
          return;
        }
        const path = await writeImage(image);
        const viewer = viewerOf(process.platform, process.env);
        if (viewer === undefined) {
          toast({
            kind: 'info',
            // The path comes first, because a narrow terminal cuts the end.
            text: `${capitalised(named)} is in ${path} until the program ends. ${problem ?? 'No desktop here.'}`,
          });
          return;
        }
        await start(viewer, path);
        toast({ kind: 'info', text: `Opened ${named} with ${viewer}` });
      } catch (error) {
        toast({ kind: 'warning', text: `${capitalised(named)} could not be opened: ${errorMessage(error)}` });
      }
    },
    [toast, showOverlay, images],
  );
}
