/** Reads the errors of tools from messages of any generation. */
import { isRecord } from '../base/own-property.ts';

type Fields = { readonly [name: string]: unknown };

/** Whether a message, or a part of its content, is the result of a failed tool call. */
export const hasFailed = ({ is_error }: Fields): boolean => is_error === true || is_error === 'true';

const partsOf = ({ content }: Fields): Fields[] => (Array.isArray(content) ? content.filter(isRecord) : []);

/** A failed result's text, or the texts of its parts. */
const textsOf = (result: Fields): unknown[] => [
  result['tool_response'],
  result['content'],
  ...partsOf(result).map(part => part['text']),
];

/** The text of the last failed tool call in these messages; undefined if none has failed. */
export function lastToolError(messages: readonly Fields[]): string | undefined {
  const last = messages.flatMap(message => [message, ...partsOf(message)]).findLast(hasFailed);
  if (!last) return undefined;
  return textsOf(last).find((text): text is string => typeof text === 'string' && text !== '') ?? 'no text';
}
