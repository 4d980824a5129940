/** Detects the generation of the service: from the profile, else from its answers. */
import * as z from 'zod/mini';
import type { Endpoint } from '../contract/common.ts';
import { type Evidence, evidenceIn, type Generation, generations } from '../contract/generation.ts';
import { age } from '../text/time.ts';

/** A detected generation, as saved between starts. */
export interface FoundGeneration extends Evidence {
  /** When an answer last showed it; epoch milliseconds. */
  readonly at: number;
}

/** Stores the detected generation of a service. */
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

/** The saved generation; undefined if it is invalid. */
export function keptGeneration(value: unknown): FoundGeneration | undefined {
  return kept.safeParse(value).data;
}

/** The best evidence is an operation that worked at one generation's path. */
const tried = 3;
/** Constant evidence is saved this often, in milliseconds. */
const saveEveryMs = 60 * 60_000;

export class ServiceGeneration {
  /** The profile's statement, which switches detection off. */
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

  /** The generation that answers have shown, now or in an earlier start. */
  get found(): FoundGeneration | undefined {
    if (!this.#isLoaded) this.#found ??= this.#memory?.load();
    this.#isLoaded = true;
    return this.#found;
  }

  /** The generation to use: the document's until another one is detected. */
  get current(): Generation {
    return this.stated ?? this.found?.generation ?? 'document';
  }

  /** The generation, the reason, and the age of the evidence, as a sentence. */
  describe(now = this.#now()): string {
    if (this.stated !== undefined) return `API generation: ${this.stated}, from the profile.`;
    const { found } = this;
    if (!found) return 'API generation: not known yet.';
    return `API generation: ${found.generation} (${found.reason}, ${age(now - found.at)} ago).`;
  }

  /** Learns from the body of a successful answer. */
  learnFrom(operation: string, body: unknown): void {
    const evidence = this.stated === undefined ? evidenceIn(operation, body) : undefined;
    if (evidence) this.#take(evidence);
  }

  /** An operation that the newest generation has moved worked at this generation's path. */
  hasWorked({ method, path, newest }: Endpoint, generation: Generation): void {
    if (this.stated !== undefined || !newest) return;
    const taken = generation === 'newest' ? newest.path : path;
    this.#take({ generation, weight: tried, reason: `${method} ${taken} worked` });
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
