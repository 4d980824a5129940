/**
 * Splits text into tokens: lower-case words, single digits, single signs. Digits are separate so that the model can
 * compose numbers.
 */

export const endToken = '<end>';
export const unknownToken = '<unknown>';
/** The role tokens of the chat template. */
export const roleTokens = { system: '<system>', user: '<user>', assistant: '<assistant>' } as const;

const special = [endToken, unknownToken, ...Object.values(roleTokens)];
const word = /[\p{L}]+(?:['’][\p{L}]+)*|\d|[^\s\p{L}\d]/gu;

export function splitWords(text: string): string[] {
  return text.toLowerCase().match(word) ?? [];
}

/** The words a model knows, by number. */
export class Vocabulary {
  readonly words: readonly string[];
  readonly #index: ReadonlyMap<string, number>;

  constructor(words: readonly string[]) {
    this.words = words;
    this.#index = new Map(words.map((each, index) => [each, index]));
  }

  /** Collects the words in these texts, special tokens first. The order of the texts determines the numbers. */
  static of(texts: readonly string[]): Vocabulary {
    return new Vocabulary([...new Set([...special, ...texts.flatMap(splitWords)])]);
  }

  get size(): number {
    return this.words.length;
  }

  token(text: string): number {
    return this.#index.get(text) ?? this.#index.get(unknownToken) ?? 0;
  }

  encode(text: string): number[] {
    return splitWords(text).map(each => this.token(each));
  }

  word(token: number): string {
    return this.words[token] ?? unknownToken;
  }
}

const noSpaceBefore = /^[.,;:!?)\]}'’%]$/;
const noSpaceAfter = /^[([{$]$/;

/** The separator between two words: nothing within numbers and before signs, otherwise a space. */
export function separatorBefore(previous: string | undefined, next: string): string {
  if (previous === undefined || noSpaceBefore.test(next) || noSpaceAfter.test(previous)) return '';
  return /^\d$/.test(previous) && /^\d$/.test(next) ? '' : ' ';
}
