/** Names that the user types, to confirm an action or to find something. */
import { sanitiseLine } from './sanitise.ts';

/** Spaces, marks without a letter, and the braille blank are invisible. */
const visible = /[^\s\p{M}\p{C}\u2800]/u;

/** Filters compare every row at each key, so printable ASCII with single spaces must not need the work below. */
const plainWords = /^[!-~]+(?: [!-~]+)*$/;

/**
 * A name as displayed, for comparison. Composed: a keyboard types \u00e9, and a file's name on macOS has e\u0301.
 * Sanitised first, because normalising long runs of marks takes quadratic time.
 */
export const asTyped = (text: string): string =>
  plainWords.test(text) ? text : sanitiseLine(text).trim().replaceAll(/\s+/g, ' ').normalize('NFC');

/** The first name with visible characters, as displayed; `yes` if there is none, so that something is always typed. */
export function typeable(...names: readonly (string | null | undefined)[]): string {
  return names.map(name => asTyped(name ?? '')).find(name => visible.test(name)) ?? 'yes';
}

/** A name, or the id of what has no visible name. */
export const nameOr = (name: string | null | undefined, id: string): string =>
  name != null && visible.test(name) ? name : id;

export const isTyped = (answer: string, name: string): boolean => asTyped(answer) === typeable(name);
