/** The service's generation, from the profile or from the first response that reveals it. */
import * as z from 'zod/mini';
import { type Evidence, evidenceIn, type Generation, generations } from '../contract/generation.ts';
import { age } from '../text/time.ts';

/** A detected generation, as saved between sessions. */
export interface FoundGeneration extends Evidence {
  /** When a response last showed it, in epoch milliseconds. */
  readonly at: number;
}

/** Stores a service's detected generation. */
export interface GenerationMemory {
  readonly load: () => FoundGeneration | undefined;
  /** Undefined deletes it. */
  readonly save: (found: FoundGeneration | undefined) => void;
}

const keptSchema = z.object({ generation: z.enum(generations), reason: z.string(), at: z.number() });

/** The saved generation; undefined if it is invalid. */
export function keptGeneration(value: unknown): FoundGeneration | undefined {
  return keptSchema.safeParse(value).data;
}

export class ServiceGeneration {
  /** The generation in the profile, which switches detection off. */
  readonly stated: Generation | undefined;
  readonly #memory: GenerationMemory | undefined;
  readonly #now: () => number;
  #found: FoundGeneration | undefined;
  #isLoaded = false;
  /** Whether a response in this session has confirmed the generation. */
  #isChosen = false;

  constructor(stated: Generation | undefined, memory: GenerationMemory | undefined, now: () => number) {
    this.stated = stated;
    this.#memory = memory;
    this.#now = now;
  }

  /** The generation detected in this session or an earlier one. */
  get found(): FoundGeneration | undefined {
    if (!this.#isLoaded) this.#found ??= this.#memory?.load();
    this.#isLoaded = true;
    return this.#found;
  }

  /** The generation to use; the document's until another one is detected. */
  get current(): Generation {
    return this.stated ?? this.found?.generation ?? 'document';
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
    this.#isLoaded = true;
    this.#found = found;
    this.#memory?.save(found);
  }
}
