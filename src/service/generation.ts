/** The service's generation, from the profile or from the first response that reveals it. */
import * as z from 'zod/mini';
import { evidenceIn, type Generation, generations } from '../contract/generation.ts';
import { age } from '../text/time.ts';

/** A detected generation, as saved between sessions. */
const foundSchema = z.object({
  generation: z.enum(generations),
  /** Completes a sentence after “because”. */
  reason: z.string(),
  /** When a response last showed it, in epoch milliseconds. */
  at: z.number(),
});
export type FoundGeneration = z.output<typeof foundSchema>;

/** Stores by name what is learned about the service. */
export interface ServiceMemory {
  readonly setting: (name: string) => unknown;
  readonly setSetting: (name: string, value: unknown) => void;
}

const setting = 'generation';

export class ServiceGeneration {
  /** The generation in the profile, which switches detection off. */
  readonly stated: Generation | undefined;
  readonly #memory: (() => ServiceMemory) | undefined;
  readonly #now: () => number;
  /** Null until the memory has been read. */
  #found: FoundGeneration | null | undefined = null;
  /** Whether a response in this session has confirmed the generation. */
  #isChosen = false;

  constructor(stated: Generation | undefined, memory: (() => ServiceMemory) | undefined, now: () => number) {
    this.stated = stated;
    this.#memory = memory;
    this.#now = now;
  }

  /** The generation detected in this session or an earlier one. */
  get found(): FoundGeneration | undefined {
    if (this.#found === null) this.#found = foundSchema.safeParse(this.#memory?.().setting(setting)).data;
    return this.#found;
  }

  /** The generation in the profile, or the detected one. */
  get known(): Generation | undefined {
    return this.stated ?? this.found?.generation;
  }

  /** The generation to use; the document's until another one is detected. */
  get current(): Generation {
    return this.known ?? 'document';
  }

  /** The generation, its source and the age of the evidence, as a sentence. */
  describe(): string {
    if (this.stated !== undefined) return `API generation: ${this.stated}, from the profile.`;
    const { found } = this;
    if (!found) return 'API generation: not known yet.';
    return `API generation: ${found.generation} (${found.reason}; seen ${age(this.#now() - found.at)} ago).`;
  }

  /** Detects the generation from successful responses, until one reveals it. */
  learnFrom(operation: string, body: unknown): void {
    const evidence = this.stated === undefined && !this.#isChosen && evidenceIn(operation, body);
    if (!evidence) return;
    this.#isChosen = true;
    this.#set({ ...evidence, at: this.#now() });
  }

  /** Forgets the detected generation, because a response contradicted it. */
  forget(): void {
    if (this.stated !== undefined) return;
    this.#isChosen = false;
    this.#set(undefined);
  }

  #set(found: FoundGeneration | undefined): void {
    this.#found = found;
    this.#memory?.().setSetting(setting, found);
  }
}
