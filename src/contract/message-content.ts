/** Reads message content as text. Uses no schemas, which are slow to create. */
import { isRecord } from '../base/own-property.ts';

/** A value as text: anything but a string is converted to JSON; null and undefined are kept. */
export function toText(value: unknown): string | null | undefined {
  return typeof value === 'string' || value == null ? value : JSON.stringify(value);
}

/**
 * Message content as one string. Joins the text parts of a list, as chat clients send them, and converts anything else
 * to JSON. Keeps null and undefined.
 */
export function messageContent(value: unknown): string | null | undefined {
  return isParts(value) ? value.map(textOfPart).join('') : toText(value);
}

/** Only the text of message content, without images and other parts. */
export function contentText(value: unknown): string | null | undefined {
  return isParts(value) ? value.map(part => textIn(part) ?? '').join('') : toText(value);
}

type Part = string | { readonly type: string; readonly text?: unknown; readonly refusal?: unknown };

function isParts(value: unknown): value is readonly Part[] {
  const isPart = (part: unknown): boolean =>
    typeof part === 'string' || (isRecord(part) && typeof part['type'] === 'string');
  return Array.isArray(value) && value.length > 0 && value.every(isPart);
}

function textIn(part: Part): string | undefined {
  if (typeof part === 'string') return part;
  const text = part.type === 'refusal' ? part.refusal : part.text;
  return typeof text === 'string' ? text : undefined;
}

const textOfPart = (part: Part): string => textIn(part) ?? JSON.stringify(part);
