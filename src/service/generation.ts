/** Which generation of the service this is: what the profile says, else what its answers have shown. */
import * as z from 'zod/mini';
import type { Endpoint } from '../contract/common.ts';
import { type Evidence, evidenceIn, type Generation, generations } from '../contract/generation.ts';
import { age } from '../text/time.ts';

/** What was found out, as it is kept from one start to the next. */
export interface FoundGeneration extends Evidence {
  /** When an answer showed it last; epoch milliseconds. */
  readonly at: number;
}

/** Keeps what was found out about a service. */
export interface GenerationMemory {
  readonly load: () => FoundGeneration | undefined;
  readonly save: (found: FoundGeneration) => void;
}

const kept = z.object({
  generation: z.enum(generations),
  weight: z.number(),
  reason: z.string(),
  at: z.number(),
});

/** What was kept of an earlier start; undefined if it is not that. */
export function keptGeneration(value: unknown): FoundGeneration | undefined {
  const read = kept.safeParse(value);
  return read.success ? read.data : undefined;
}

/** That an operation worked where one generation has it is the best evidence there is. */
const tried = 3;
/** What is seen all the time is kept this often, in milliseconds. */
const saveEveryMs = 60 * 60_000;

export class ServiceGeneration {
  /** What the profile says; then nothing is found out. */
  readonly stated: Generation | undefined;
  readonly #memory: GenerationMemory | undefined;
  readonly #now: () => number;
  #found: FoundGeneration | undefined;
  #isLoaded = false;
  #savedAt = 0;

  constructor(stated: Generation | undefined, memory: GenerationMemory | undefined, now: () => number) {
    this.stated = stated;
    this.#memory = memory;
    this.#now = now;
  }

  /** What the answers of this service have shown, now or in an earlier start. */
  get found(): FoundGeneration | undefined {
    if (!this.#isLoaded) this.#found ??= this.#memory?.load();
    this.#isLoaded = true;
    return this.#found;
  }

  /** The generation by whose names the service is asked: the document's until something else is known. */
  get current(): Generation {
    return this.stated ?? this.found?.generation ?? 'document';
  }

  /** Which it is, why, and how old the evidence is: a sentence. */
  describe(now = this.#now()): string {
    if (this.stated !== undefined) return `The service is of generation ${this.stated}, as the profile says.`;
    const { found } = this;
    if (!found) return 'The generation of the service is not known yet: it is asked as the document says.';
    return `The service is of generation ${found.generation}: ${found.reason}, seen ${age(now - found.at)} ago.`;
  }

  /** Takes in what the body of a successful answer shows. */
  learnFrom(operation: string, body: unknown): void {
    const evidence = this.stated === undefined ? evidenceIn(operation, body) : undefined;
    if (evidence) this.#take(evidence);
  }

  /** An operation that the newest generation has moved worked where this generation has it. */
  hasWorked({ operation, method, path, newest }: Endpoint, generation: Generation): void {
    if (this.stated !== undefined || !newest) return;
    const taken = generation === 'newest' ? newest.path : path;
    this.#take({ generation, weight: tried, reason: `it took ${method} ${taken} (${operation})` });
  }

  #take(evidence: Evidence): void {
    const { found } = this;
    if (found && found.weight > evidence.weight) return;
    const at = this.#now();
    this.#found = { ...evidence, at };
    if (
      found?.generation === evidence.generation &&
      found.weight === evidence.weight &&
      at - this.#savedAt < saveEveryMs
    )
      return;
    this.#savedAt = at;
    this.#memory?.save(this.#found);
  }
}
