/** The questions and answers of the trajectories that were read with their steps, for lists, which lack them. */
import type { Query } from '@tanstack/react-query';
import { Listeners } from '../../../base/listeners.ts';
import { perObject } from '../../../base/memo.ts';
import { type RolloutTexts, textsOf } from '../../../present/rollout-texts.ts';
import { trajectoryKeys } from '../../../queries/trajectories.ts';
import type { Workbench } from '../../../workbench/workbench.ts';

/** Beyond this number, the oldest are dropped. Each is at most 500 characters long. */
const maxKept = 20_000;

/** How long to wait for more before lists are drawn again, in milliseconds. */
const restMs = 200;

const [readKind, readPart] = trajectoryKeys.one('');

class ReadTexts {
  #known: ReadonlyMap<string, RolloutTexts> = new Map();
  readonly #news = new Map<string, RolloutTexts>();
  readonly #listeners = new Listeners();
  #timer: NodeJS.Timeout | undefined;

  constructor({ cache }: Workbench) {
    const queries = cache.getQueryCache();
    const see = ({ queryKey: [kind, part, id], state }: Query): void => {
      const texts = kind === readKind && part === readPart && state.data !== undefined && textsOf(state.data as object);
      if (texts) this.add([[String(id), texts]]);
    };
    for (const query of queries.getAll()) see(query);
    queries.subscribe(event => {
      if (event.type === 'updated' && event.action.type === 'success') see(event.query);
    });
  }

  readonly subscribe = this.#listeners.subscribe;

  /** The texts by trajectory id; the same map until more texts are read. */
  readonly all = (): ReadonlyMap<string, RolloutTexts> => this.#known;

  add(texts: Iterable<readonly [id: string, texts: RolloutTexts]>): void {
    for (const [id, each] of texts) this.#news.set(id, each);
    if (this.#news.size === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#known = new Map([...this.#known, ...this.#news].slice(-maxKept));
      this.#news.clear();
      this.#listeners.notify();
    }, restMs);
    this.#timer.unref();
  }
}

export const readTextsOf = perObject((workbench: Workbench) => new ReadTexts(workbench));
