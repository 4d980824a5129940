/** Shows a message's image on the terminal, or opens it in the system's viewer. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useCallback } from 'react';
import { capitalised } from '../../../base/capitalised.ts';
import { errorMessage } from '../../../base/errors.ts';
import { isAddress } from '../../../present/attachments.ts';
import { decodeImage, type Image } from '../../../present/images.ts';
import { sizeOf } from '../../../text/data-urls.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import type { Environment } from '../../../text/terminal.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useCopy } from '../../app/use-copy.ts';
import { ChoiceWindow } from '../../windows/choice-window.tsx';
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
  /** Its base64 string or its address. */
  readonly content: string;
  /** The number of its message, from 1. */
  readonly message: number;
  /** Its number among the trajectory's images, from 1. */
  readonly number: number;
  readonly of: number;
}

interface AddressWindowProps {
  readonly named: string;
  readonly address: string;
  readonly onOpen: (viewer: string) => void;
  readonly onClose: () => void;
}

/**
 * Asks what to do with an image that is only an address. Opening it sends a request that a model may have thought up,
 * so benchtop never does that by itself.
 */
function AddressWindow({ named, address, onOpen, onClose }: AddressWindowProps) {
  const copy = useCopy();
  const viewer = isWebAddress(address) ? viewerOf(process.platform, process.env) : undefined;
  return (
    <ChoiceWindow
      title={`${capitalised(named)} is only an address`}
      about={sanitiseLine(address)}
      choices={[
        { key: 'no', label: 'Do nothing', value: () => {} },
        { key: 'copy', label: 'Copy the address', value: () => copy(address, 'the address') },
        ...(viewer === undefined
          ? []
          : [{ key: 'open', label: `Open the address with ${viewer}`, value: () => onOpen(viewer) }]),
      ]}
      onChoose={act => act()}
      onClose={onClose}
    />
  );
}

/** A viewer might run a program for other addresses. */
const isWebAddress = (address: string): boolean => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);

/**
 * Returns a function that shows an image on the terminal, or asks about an image that is only an address. If the
 * terminal cannot, it opens the system's viewer or, if there is none, shows the file's path.
 */
export function useOpenImage(): (found: FoundImage) => Promise<void> {
  const { toast, showOverlay, terminal } = useShell();
  const { images } = terminal;
  return useCallback(
    async ({ content, message, number, of }) => {
      const named = of === 1 ? 'the image' : `image ${number} of ${of}`;
      const open = async (viewer: string, path: string): Promise<void> => {
        await start(viewer, path);
        toast({ kind: 'info', text: `Opened ${named} with ${viewer}` });
      };
      const say = (error: unknown): void =>
        toast({ kind: 'warning', text: `${capitalised(named)} could not be opened: ${errorMessage(error)}` });
      if (isAddress(content)) {
        const onOpen = (viewer: string): void => void open(viewer, new URL(content).href).catch(say);
        showOverlay('image', onClose => <AddressWindow {...{ named, onOpen, onClose }} address={content} />);
        return;
      }
      try {
        const image = readImage(content);
        const problem = images && problemWith(image, images.display);
        if (images && problem === undefined) {
          const which = of === 1 ? '' : `, ${number} of ${of}`;
          const words = `image ${image.format} ${sizeOf(content.length)} in message ${message}${which}`;
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
        await open(viewer, path);
      } catch (error) {
        say(error);
      }
    },
    [toast, showOverlay, images],
  );
}
