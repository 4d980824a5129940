/** Names images and other binary content instead of showing it: `image png 288 KB`. Pure. */

import { isRecord, own } from '../base/own-property.ts';
import { dataUrl, formatMediaType, sizeOf } from '../text/data-urls.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { truncate } from '../text/width.ts';

const base64 = /^[A-Za-z0-9+/\r\n]+={0,2}$/;
/** Shorter strings without spaces are shown: they may be ids, hashes or keys. */
const minBinaryLength = 2_048;
/** Maximum width of an address, in cells. */
const longestAddress = 80;

/** Describes a base64 string: `image png 288 KB`, `base64 12 KB`. Undefined for readable text. */
export function describeBinary(text: string): string | undefined {
  if (text.startsWith('data:')) {
    const [head, type = 'data'] = dataUrl.exec(text) ?? [];
    return head === undefined ? undefined : `${formatMediaType(type).trim()} ${sizeOf(text.length - head.length)}`;
  }
  if (text.length < minBinaryLength || text.slice(0, 200).includes(' ') || !base64.test(text.trimEnd()))
    return undefined;
  // Require mixed characters, because a single long word is not base64.
  return /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text) ? `base64 ${sizeOf(text.length)}` : undefined;
}

/** Fields that hold the content or its address, in the formats of OpenAI, Anthropic, MCP and Hugging Face. */
const holders = [
  'source',
  'image_url',
  'image',
  'input_audio',
  'audio',
  'audio_url',
  'video_url',
  'video',
  'file',
] as const;
const contents = [...holders, 'url', 'data', 'file_data', 'file_url', 'file_id'] as const;
const mediaTypes = ['media_type', 'mimeType', 'mime_type', 'format'] as const;
const names = ['filename', 'file_name', 'title', 'name'] as const;

const kinds: readonly (readonly [RegExp, string])[] = [
  [/image/, 'image'],
  [/audio/, 'audio'],
  [/video/, 'video'],
  [/^(input_)?file$|document/, 'file'],
];

type Fields = Readonly<Record<string, unknown>>;

function textIn(places: readonly Fields[], fields: readonly string[]): string | undefined {
  for (const place of places) {
    for (const field of fields) {
      const value = own(place, field);
      if (typeof value === 'string' && value !== '') return value;
    }
  }
  return undefined;
}

/** The part itself, and the objects in it that may hold its content. */
const placesOf = (part: Fields): readonly Fields[] => [
  part,
  ...holders.map(field => own(part, field)).filter(isRecord),
];

/** Whether an image is only an address. In base64, there is no colon. */
export const isAddress = (content: string): boolean => /^[a-z][a-z\d+.-]*:\/\//i.test(content);

/** The base64 string of an image in a message part, or its address; undefined if the part has no image. */
export function imageIn(part: Fields): string | undefined {
  if (!String(part['type']).includes('image')) return undefined;
  const content = textIn(placesOf(part), contents);
  return content?.slice(dataUrl.exec(content)?.[0].length ?? 0);
}

/**
 * Describes an image, audio, a video or a file in a message part: `image png 288 KB`, `image https://…`. Undefined if
 * the part is not an attachment, or has neither data nor an address.
 */
export function describeAttachment(part: Fields): string | undefined {
  const kind = kinds.find(([pattern]) => pattern.test(String(part['type'])))?.[1];
  const places = placesOf(part);
  const content = textIn(places, contents);
  if (kind === undefined || content === undefined) return undefined;
  const name = textIn(places, names);
  const label = name === undefined ? kind : `${kind} ${sanitiseLine(name)}`;
  const head = dataUrl.exec(content);
  const type = head?.[1] ?? textIn(places, mediaTypes);
  const format =
    type === undefined
      ? ''
      : ` ${formatMediaType(type.includes('/') ? type : `${kind}/${type}`)
          .split(' ')
          .at(-1)}`;
  if (head) return `${label}${format} ${sizeOf(content.length - head[0].length)}`;
  if (isAddress(content)) return `${label} ${truncate(sanitiseLine(content), longestAddress)}`;
  const isId = textIn(places, ['file_id']) === content;
  return isId ? `${label} ${sanitiseLine(content)}` : `${label}${format} ${sizeOf(content.length)}`;
}
