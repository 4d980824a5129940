/** A service with many trajectories, in memory: pages of 200, in any requested order. */

import type { ListQuery } from '../../../src/contract/common.ts';
import type { Trajectory } from '../../../src/contract/trajectories.ts';
import { Capabilities } from '../../../src/service/capabilities.ts';
import { ServiceError } from '../../../src/service/errors.ts';
import type { Service } from '../../../src/service/index.ts';
import { fakeService } from '../../service/fake-service.ts';

/** How it handles `sort`: follows it, refuses it, or ignores it. */
export type Sorting = 'sorts' | 'refuses' | 'ignores';

export class ManyRows {
  rows: Trajectory[];
  sorting: Sorting = 'sorts';
  /** Queries that came. */
  readonly asked: ListQuery[] = [];
  /** Awaited before each answer. */
  before: (query: ListQuery) => Promise<void> = async () => {};
  #made = 0;

  constructor(count: number) {
    this.rows = [];
    this.add(count);
  }

  /** Adds rows before all others. The reward rises with the number of a row: the worst is the first one made, at the end of the list. */
  add(count: number): void {
    const added = Array.from({ length: count }, (): Trajectory => {
      this.#made += 1;
      const name = String(this.#made).padStart(6, '0');
      const reward = this.#made % 10 === 0 ? undefined : this.#made / 1_000;
      return { trajectory_id: `traj_${name}`, task_id: `task ${name}`, status: 'completed', reward, num_steps: 1 };
    });
    this.rows = [...added.reverse(), ...this.rows];
  }

  readonly #list = async (query: ListQuery) => {
    this.asked.push(query);
    await this.before(query);
    const rows = this.#inOrder(query);
    const from = Number(query.cursor ?? 0);
    const to = from + (query.limit ?? 25);
    const has_more = to < rows.length;
    return { items: rows.slice(from, to), has_more, next_cursor: has_more ? String(to) : null, dropped: 0 };
  };

  #inOrder({ sort, order }: ListQuery): readonly Trajectory[] {
    if (!sort || this.sorting === 'ignores') return this.rows;
    if (this.sorting === 'refuses') {
      throw new ServiceError('validation', `This list does not sort by ${sort}.`, { status: 422, param: 'sort' });
    }
    const value = (row: Trajectory): number => (typeof row[sort] === 'number' ? row[sort] : Number.POSITIVE_INFINITY);
    const sorted = this.rows.toSorted((left, right) => value(left) - value(right));
    return order === 'asc' ? sorted : sorted.toReversed();
  }

  get service(): Service {
    return fakeService(
      { listTrajectories: ({ query = {} }) => this.#list(query) },
      { baseUrl: 'http://many.test', capabilities: new Capabilities() },
    );
  }
}
