/** Separates the thoughts that a model writes into its answer: `<think>…</think>`. Pure. */

interface Thoughts {
  readonly thoughts: string;
  readonly answer: string;
  /** The tags around them: the opening one may be in the prompt, and the closing one may be cut off. */
  readonly tags: string;
}

const opening = /^\s*<(think|thinking)>/;
const closing = /(?:^|\n)[ \t]*(<\/(think|thinking)>)/;

/** Undefined for a text without thoughts. */
export function splitThoughts(text: string): Thoughts | undefined {
  const [head, name] = opening.exec(text) ?? [];
  if (head !== undefined) {
    const tag = `</${name}>`;
    const end = text.indexOf(tag, head.length);
    if (end < 0) return { thoughts: text.slice(head.length), answer: '', tags: `in <${name}> without an end` };
    const answer = text.slice(end + tag.length);
    return { thoughts: text.slice(head.length, end), answer, tags: `in <${name}>` };
  }
  const end = closing.exec(text);
  const [all = '', tag = '', of] = end ?? [];
  // An answer may be about the tags.
  if (!end || text.slice(0, end.index).includes(`<${of}>`)) return undefined;
  return { thoughts: text.slice(0, end.index), answer: text.slice(end.index + all.length), tags: `up to ${tag}` };
}

/** The answer alone. */
export const withoutThoughts = (text: string): string => splitThoughts(text)?.answer.trim() ?? text;
