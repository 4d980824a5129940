/** The content of a message: a text, or parts of which some are texts. */

interface TextPart {
  readonly type: string;
  readonly text?: string | null;
  readonly refusal?: string | null;
}

function textOf(part: unknown): string | undefined {
  if (typeof part !== 'object' || part === null) return undefined;
  const { type, text, refusal } = part as TextPart;
  if (type === 'text' || type === 'input_text' || type === 'output_text') return text ?? '';
  return type === 'refusal' ? (refusal ?? '') : undefined;
}

export function isTextPart(part: unknown): boolean {
  return textOf(part) !== undefined;
}

/** Content as one text: parts of text are joined by line breaks, anything else is written as JSON. Null where there is none. */
export function contentText(content: unknown): string | null {
  if (content === null || content === undefined) return null;
  if (typeof content === 'string') return content;
  if (Array.isArray(content) && content.every(isTextPart)) return content.map(textOf).join('\n');
  return JSON.stringify(content);
}
