/** A model's answer as it adds up from the events of its stream. */
import type { ChatEvent } from '../service/chat.ts';

/** A tool that the model wants called; `input` is its arguments, as the model wrote them. */
export interface AskedTool {
  readonly name: string;
  readonly input: string;
}

/** What an answer may have besides its text and its reasoning. */
export interface AnswerExtras {
  /** The words with which the model refused. */
  readonly refusal?: string | undefined;
  readonly calls?: readonly AskedTool[] | undefined;
  /** The model that answered, where the service names another than the one asked. */
  readonly answeredBy?: string | undefined;
  /** The number of other choices that were left out: the first one is the answer. */
  readonly leftOut?: number | undefined;
}

/** Adds up the events of the first choice; the others are only counted. */
export class Answer {
  content = '';
  reasoning = '';
  refusal = '';
  /** Why the model stopped, if the service said so. */
  reason: string | undefined;
  /** The model that answered, if the service names another than the one asked. */
  answeredBy: string | undefined;
  readonly #asked: string;
  readonly #calls = new Map<number, AskedTool>();
  readonly #others = new Set<number>();

  /** @param asked the model as the user named it: a deployment asked by its id may answer with that */
  constructor(asked: string) {
    this.#asked = asked;
  }

  add(event: ChatEvent): void {
    if (event.kind === 'usage') return;
    if (event.kind === 'model') {
      if (event.model !== this.#asked) this.answeredBy = event.model;
    } else if (event.index !== 0) this.#others.add(event.index);
    else if (event.kind === 'finish') this.reason = event.reason;
    else if (event.kind === 'delta') {
      this.content += event.content ?? '';
      this.reasoning += event.reasoning ?? '';
      this.refusal += event.refusal ?? '';
    } else {
      const { name, input } = this.#calls.get(event.call) ?? { name: '', input: '' };
      this.#calls.set(event.call, { name: name + event.name, input: input + event.input });
    }
  }

  /** Its text, or else the words of a refusal. */
  get words(): string {
    return this.content || this.refusal;
  }

  /** Without what it lacks. */
  get extras(): AnswerExtras {
    return {
      ...(this.answeredBy !== undefined && { answeredBy: this.answeredBy }),
      ...(this.refusal !== '' && { refusal: this.refusal }),
      ...(this.#calls.size > 0 && { calls: [...this.#calls.values()] }),
      ...(this.#others.size > 0 && { leftOut: this.#others.size }),
    };
  }
}

/** Who answered, where it is another model than the one asked. */
export const answererWords = (model: string): string => `answered by ${model}`;

/** `calls the tool search with {"q":"tea"}`. */
export const callWords = ({ name, input }: AskedTool): string =>
  `calls the tool ${name || 'without a name'}${input === '' ? '' : ` with ${input}`}`;

/** `2 other choices were left out`; empty if there were none. */
export function leftOutWords(count: number | undefined): string {
  if (!count) return '';
  return count === 1 ? '1 other choice was left out' : `${count} other choices were left out`;
}
