/** The images in a trajectory. Pure. */
import type { Trajectory } from '../contract/trajectories.ts';
import { isAddress } from './attachments.ts';
import { partsOf } from './transcript-parts.ts';

export interface Image {
  readonly format: string;
  readonly bytes: Buffer;
}

/** The first bytes of the supported formats: the type that a message names may be wrong. */
const formats: readonly (readonly [format: string, isOne: (bytes: Buffer) => boolean])[] = [
  ['png', bytes => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))],
  ['jpg', bytes => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))],
  ['gif', bytes => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))],
  ['webp', bytes => /^RIFF[\s\S]{4}WEBP/.test(bytes.toString('latin1', 0, 12))],
  ['bmp', bytes => bytes.toString('latin1', 0, 2) === 'BM'],
];

/** An image whose bytes are of a supported format; undefined for others. */
export function decodeImage(base64: string): Image | undefined {
  const bytes = Buffer.from(base64, 'base64');
  const format = formats.find(([, isOne]) => isOne(bytes))?.[0];
  return format === undefined ? undefined : { format, bytes };
}

export interface MessageImage {
  /** The number of its message, from 1 over the whole trajectory. */
  readonly message: number;
  readonly base64: string;
}

/** The images whose bytes the trajectory contains. */
export function imagesIn({ steps }: Pick<Trajectory, 'steps'>): readonly MessageImage[] {
  const messages = (steps ?? []).flatMap(step => step.messages ?? []);
  return messages.flatMap((message, index) =>
    partsOf(message)
      .flatMap(part => (part.kind === 'attachment' ? (part.image ?? []) : part.kind === 'response' ? part.images : []))
      .filter(image => !isAddress(image))
      .map(base64 => ({ message: index + 1, base64 })),
  );
}
