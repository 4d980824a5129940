/** A model's answer, put together from the events of its stream. */
import type { ChatEvent } from '../service/chat.ts';

/** A tool call of the model; `input` has the arguments as the model wrote them. */
export interface AskedTool {
  readonly name: string;
  readonly input: string;
}

/** The parts that an answer may have besides text and reasoning. */
export interface AnswerExtras {
  /** The model's refusal, as text. */
  readonly refusal?: string | undefined;
  readonly calls?: readonly AskedTool[] | undefined;
  /** The model that answered, if it is not the one that was asked. */
  readonly answeredBy?: string | undefined;
  /** How many other choices were dropped; the first one is the answer. */
  readonly leftOut?: number | undefined;
}

/** Collects the events of the first choice; other choices are only counted. */
export class Answer {
  content = '';
  reasoning = '';
  refusal = '';
  /** Why the model stopped, if the service said so. */
  reason: string | undefined;
  /** The model that answered, if it is not the one that was asked. */
  answeredBy: string | undefined;
  readonly #asked: string;
  readonly #calls = new Map<number, AskedTool>();
  readonly #others = new Set<number>();

  /** @param asked the model as the user named it; for the id of a deployment, the answer may repeat that id */
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

  /** Its text; without one, the refusal. */
  get words(): string {
    return this.content || this.refusal;
  }

  /** Only the parts that the answer has. */
  get extras(): AnswerExtras {
    return {
      ...(this.answeredBy !== undefined && { answeredBy: this.answeredBy }),
      ...(this.refusal !== '' && { refusal: this.refusal }),
      ...(this.#calls.size > 0 && { calls: [...this.#calls.values()] }),
      ...(this.#others.size > 0 && { leftOut: this.#others.size }),
    };
  }
}

/** Names the model that answered instead of the one that was asked. */
export const answererWords = (model: string): string => `answered by ${model}`;

/** `calls the tool search with {"q":"tea"}`. */
export const callWords = ({ name, input }: AskedTool): string =>
  `calls the tool ${name || 'without a name'}${input === '' ? '' : ` with ${input}`}`;

/** `2 other choices were left out`; empty if there were none. */
export function leftOutWords(count: number | undefined): string {
  if (!count) return '';
  return count === 1 ? '1 other choice was left out' : `${count} other choices were left out`;
}
