/**
 * A list against a model: rows come, go and change at random while pages are read, with answers that overtake each
 * other. Nothing is shown twice, nothing shown is lost while it exists, and in the end the list equals the service's.
 */
import { describe, expect, it } from 'vitest';
import type { ListData } from '../../../src/queries/lists/list-source.ts';
import { ListReader, pagesPerPoll } from '../../../src/queries/lists/reader.ts';
import type { QueryContext } from '../../../src/queries/query-context.ts';
import { type CursorKind, ListServer, type Row, randomFrom } from './list-server.ts';

const groups = 6;
const seedsAGroup = 20;
const steps = 150;
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

class World {
  readonly server: ListServer;
  readonly reader: ListReader<Row>;
  readonly random: () => number;
  /** Requests in flight: answered at one moment, delivered at another. */
  readonly #waiting: { answer?: () => void; deliver?: () => void }[] = [];
  readonly #running = new Set<Promise<unknown>>();
  #polling = false;
  #seen: readonly string[] = [];
  slow = true;

  constructor(seed: number, cursors: CursorKind) {
    this.random = randomFrom(seed);
    this.server = new ListServer(2 + this.below(6), cursors);
    this.server.insertMany(this.below(40));
    const { signal } = new AbortController();
    const context = { signal } as QueryContext;
    this.reader = new ListReader<Row>(
      {
        key: ['rows'],
        id: row => row.id,
        readPage: ({ query }) => {
          if (!this.slow) return Promise.resolve(this.server.answer(query));
          return new Promise((resolve, reject) => {
            const request: { answer?: () => void; deliver?: () => void } = {};
            request.answer = () => {
              const page = this.server.answer(query);
              const fails = this.random() < 0.05;
              request.deliver = () => (fails ? reject(new Error('the cable is out')) : resolve(page));
              delete request.answer;
            };
            this.#waiting.push(request);
          });
        },
      },
      { context: async () => context, publish: () => {} },
    );
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  run(work: () => Promise<unknown>): void {
    const running = work().catch(() => {});
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  poll(): void {
    if (this.#polling) return;
    this.#polling = true;
    const context = { signal: new AbortController().signal } as QueryContext;
    this.run(() =>
      this.reader.poll(context).finally(() => {
        this.#polling = false;
      }),
    );
  }

  mutate(): void {
    const all = this.server.rows();
    const some = all[this.below(all.length)];
    const what = this.random();
    if (what < 0.35) this.server.insertMany(1 + this.below(3));
    else if (what < 0.4) this.server.insertMany(this.below(40));
    else if (what < 0.5 && some) this.server.insert(this.server.placeOf(some.id) + this.random());
    else if (what < 0.75 && some) this.server.places.delete(some.id);
    else if (what < 0.8)
      for (const { id } of all.slice(this.below(all.length)).slice(0, 12)) this.server.places.delete(id);
    else if (some) this.server.places.set(some.id, { place: this.server.placeOf(some.id), value: this.random() });
  }

  look(): void {
    const { rows } = this.reader.data;
    const from = this.below(rows.length);
    this.#seen = rows.slice(from, from + window).map(({ id }) => id);
    this.reader.see(this, rows.slice(from, from + window));
  }

  /** The rows of the last view that still exist. */
  inView(): Row[] {
    return this.reader.data.rows.filter(({ id }) => this.#seen.includes(id));
  }

  async step(): Promise<void> {
    const what = this.random();
    if (what < 0.4) {
      // Answered in the order sent, delivered in any order.
      const request = this.#waiting[this.below(this.#waiting.length)];
      if (request?.answer) this.#waiting.find(({ answer }) => answer)?.answer?.();
      else if (request?.deliver) {
        this.#waiting.splice(this.#waiting.indexOf(request), 1);
        request.deliver();
      }
    } else if (what < 0.6) this.mutate();
    else if (what < 0.75) this.poll();
    else if (what < 0.9) this.run(() => this.reader.readOn());
    else if (what < 0.96) this.look();
    else this.run(() => this.reader.readRest());
    await turn();
  }

  /** No more changes, and everything is answered. */
  async settle(): Promise<void> {
    this.slow = false;
    while (this.#waiting.length > 0 || this.#running.size > 0) {
      const request = this.#waiting.shift();
      request?.answer?.();
      request?.deliver?.();
      await turn();
    }
  }
}

const ids = ({ rows }: ListData<Row>): string[] => rows.map(({ id }) => id);

/** Rows before the last visible one. */
function reach(world: World, data: ListData<Row>): (id: string) => boolean {
  if (data.complete) return () => true;
  const lowest = Math.min(...data.rows.map(({ id }) => world.server.placeOf(id) || Infinity));
  return id => world.server.placeOf(id) > lowest;
}

async function pollNow({ reader }: World): Promise<void> {
  await reader.poll({ signal: new AbortController().signal } as QueryContext);
}

/** This many rows from `at` are visible. */
const window = 3;

async function play(seed: number, cursors: CursorKind): Promise<void> {
  const world = new World(seed, cursors);
  const { server, reader } = world;
  const shown = new Set<string>();
  for (let step = 0; step < steps; step += 1) {
    await world.step();
    const now = ids(reader.data);
    expect(new Set(now).size, 'shown once').toBe(now.length);
    if (cursors === 'place') {
      // With offsets a row may slip from one page to another between two requests; it returns with the next poll.
      const within = reach(world, reader.data);
      const lost = [...shown].filter(id => server.places.has(id) && within(id) && !now.includes(id));
      expect(lost, 'shown before, still there, and not shown any more').toEqual([]);
    }
    for (const id of now) shown.add(id);
  }
  await world.settle();

  for (let round = 0; round < 20; round += 1) {
    world.look();
    world.mutate();
    const before = server.asked;
    await pollNow(world);
    const exhausted = server.asked - before >= pagesPerPoll;
    const there = new Map(server.rows().map(row => [row.id, row]));
    for (const row of reader.data.rows.slice(0, 2)) expect(row, 'at the head').toEqual(there.get(row.id));
    if (!exhausted) for (const row of world.inView()) expect(row, 'in view').toEqual(there.get(row.id));
  }

  for (let at = 0; at < 2 * server.places.size + window; at += window) {
    const { rows } = reader.data;
    const from = at % Math.max(1, rows.length);
    reader.see(world, rows.slice(from, from + window));
    await pollNow(world);
    await reader.readRest();
  }
  expect(reader.data.rows).toEqual(server.rows());
  expect(reader.data).toMatchObject({ complete: true });
  const { data } = reader;
  await pollNow(world);
  expect(reader.data, 'nothing changed: nothing is drawn').toBe(data);
}

describe.each(['place', 'offset'] as const)('a list whose cursors are of the kind %s', cursors => {
  it.each(Array.from({ length: groups }, (_, group) => group))('is what the service has (group %i)', async group => {
    for (let seed = group * seedsAGroup; seed < (group + 1) * seedsAGroup; seed += 1) {
      try {
        await play(seed, cursors);
      } catch (error) {
        throw new Error(`with seed ${seed}`, { cause: error });
      }
    }
  });
});
