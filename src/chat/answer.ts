/** Assembles a model's answer from the events of its stream. */
import type { ChatEvent } from '../service/chat.ts';

/** A tool call by the model. */
export interface ToolCall {
  readonly name: string;
  /** The arguments as the model wrote them, usually JSON. */
  readonly input: string;
}

/** The optional parts of an answer besides text and reasoning. */
export interface AnswerExtras {
  /** The refusal's text. */
  readonly refusal?: string | undefined;
  readonly calls?: readonly ToolCall[] | undefined;
  /** The model that answered, if it differs from the requested one. */
  readonly answeredBy?: string | undefined;
  /** How many choices after the first were dropped. */
  readonly leftOut?: number | undefined;
}

/** Collects the first choice's events and counts the other choices. */
export class Answer {
  content = '';
  reasoning = '';
  refusal = '';
  /** The finish reason, if the service reported one. */
  reason: string | undefined;
  /** The model that answered, if it differs from the requested one. */
  answeredBy: string | undefined;
  readonly #requested: string;
  readonly #calls = new Map<number, ToolCall>();
  readonly #others = new Set<number>();

  /** @param requested the user's name for the model; if it is a deployment's id, the answer may repeat that id */
  constructor(requested: string) {
    this.#requested = requested;
  }

  add(event: ChatEvent): void {
    if (event.kind === 'usage') return;
    if (event.kind === 'model') {
      if (event.model !== this.#requested) this.answeredBy = event.model;
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

  /** The text, or else the refusal. */
  get words(): string {
    return this.content || this.refusal;
  }

  /** Omits the parts that the answer lacks. */
  get extras(): AnswerExtras {
    return {
      ...(this.answeredBy !== undefined && { answeredBy: this.answeredBy }),
      ...(this.refusal !== '' && { refusal: this.refusal }),
      ...(this.#calls.size > 0 && { calls: [...this.#calls.values()] }),
      ...(this.#others.size > 0 && { leftOut: this.#others.size }),
    };
  }
}

/** Names the model that answered, if it differs from the requested one. */
export const describeAnswerer = (model: string): string => `answered by ${model}`;

/** E.g. `calls the tool search with {"q":"tea"}`. */
export const describeCall = ({ name, input }: ToolCall): string =>
  `${name === '' ? 'calls a tool without a name' : `calls the tool ${name}`}${input === '' ? '' : ` with ${input}`}`;

/** E.g. `2 other choices were left out`; empty if there were none. */
export function describeLeftOut(count: number | undefined): string {
  if (!count) return '';
  return count === 1 ? '1 other choice was left out' : `${count} other choices were left out`;
}
