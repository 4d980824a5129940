/** Plays the steps of a program with the client, and checks the laws of its answers. */
import { hasEnded } from '../../src/contract/status.ts';
import { ReadOnlyError, ServiceError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import { Ledger, type Noted, type Outcome } from './ledger.ts';
import type { LocalService } from './local-service.ts';
import type { Listed, Step } from './plan.ts';

const messages = [{ role: 'user', content: 'say yes' }];
const model = 'benchtop/tutor-base';

interface Row {
  readonly id: string;
  readonly name: string;
}

/** How to read each list, and the same rows from the database. */
const lists = {
  benchmarks: { call: 'listBenchmarks', id: 'bench_id', sql: 'select bench_id as id from benchmarks' },
  trajectories: { call: 'listTrajectories', id: 'trajectory_id', sql: 'select trajectory_id as id from trajectories' },
  secrets: { call: 'listSecrets', id: 'secret_id', sql: 'select secret_id as id from secrets' },
} as const;

interface UserOptions {
  readonly client: Service;
  /** A read-only client. */
  readonly readOnly: Service;
  readonly local: LocalService;
  readonly benchId: string;
  readonly fail: (what: string) => void;
  readonly count: (what: string) => void;
}

export class User {
  readonly ledger: Ledger;
  readonly #options: UserOptions;
  readonly #open = new Set<Promise<void>>();
  #rewards = 0;

  constructor(options: UserOptions) {
    this.#options = options;
    this.ledger = new Ledger(options.fail);
  }

  /** Actions in flight. */
  get open(): number {
    return this.#open.size;
  }

  /** Starts an action without waiting for its end. */
  begin(step: Step, index: number): void {
    const { fail, count } = this.#options;
    const noted = this.#act(step, index)
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError)) fail(error instanceof Error ? String(error.stack) : String(error));
        count(error instanceof ServiceError ? `refused: ${error.kind}` : 'broken');
      })
      .finally(() => this.#open.delete(noted));
    this.#open.add(noted);
  }

  async #act(step: Step, index: number): Promise<void> {
    const { client, benchId: bench_id } = this.#options;
    switch (step.do) {
      case 'evaluate': {
        const options = { evaluation_max_samples: step.tasks };
        const name = `run ${index}`;
        const body = { display_name: name, model_slug: model, options };
        return this.#write('run', name, 'make', () =>
          client.call('startEval', { params: { bench_id }, body }).then(({ eval_run_id }) => eval_run_id),
        );
      }
      case 'train': {
        const options = { num_steps: 3, train_batch_size: 4, samples_per_instance: 2, held_out_every: 3 };
        await client.call('startTraining', {
          body: { bench_id, base_model_slug: model, options, display_name: `training ${index}` },
        });
        return;
      }
      case 'keep secret': {
        const body = { name: step.name, value: `value of ${step.name}`, description: '' };
        return this.#write('secret', step.name, 'make', () =>
          client.call('createSecret', { body }).then(({ secret }) => secret.secret_id),
        );
      }
      case 'record': {
        const name = `trace ${index}`;
        const open = { trace_id: name, task_id: 'a task', status: 'running', messages };
        const body = { dataset: 'simulated', trajectories: [open] };
        return this.#write('trajectory', name, 'make', () =>
          client.call('uploadTrajectories', { body }).then(({ trajectories }) => trajectories?.[0]?.trajectory_id),
        );
      }
      case 'forget secret':
        return this.#withOne('secret', step.which, ({ name, id: secret_id }) =>
          this.#write('secret', name, 'remove', () => client.call('deleteSecret', { params: { secret_id } })),
        );
      case 'delete':
        return this.#withOne('run', step.which, ({ name, id: eval_run_id }) =>
          this.#write('run', name, 'remove', () => client.call('deleteEvalRun', { params: { bench_id, eval_run_id } })),
        );
      case 'cancel':
        return this.#withOne('run', step.which, async ({ id: eval_run_id }) => {
          await client.call('cancelEval', { params: { eval_run_id } });
        });
      case 'reward':
        return this.#withOne('trajectory', step.which, one => this.#reward(one, step.which));
      case 'compare':
        return this.#withOne('run', step.which, run => this.compare(run));
      case 'list':
        return this.list(step.what, step.limit);
      case 'write read-only':
        return this.#tryToWrite(`READER_${index}`);
    }
  }

  /** Law: the reported outcome of a write matches its answer. */
  async #write(kind: Noted, name: string, write: 'make' | 'remove', send: () => Promise<unknown>): Promise<void> {
    const answered = this.ledger.begin(kind, name, write);
    let outcome: Outcome = 'done';
    let id: unknown;
    try {
      id = await send();
    } catch (error) {
      const isGone = write === 'remove' && error instanceof ServiceError && error.kind === 'not_found';
      outcome = isGone ? 'done' : error instanceof ServiceError && error.outcomeUnknown ? 'unknown' : 'not done';
      if (!isGone) throw error;
    } finally {
      answered(outcome, typeof id === 'string' ? id : undefined);
    }
  }

  async #withOne(kind: Noted, which: number, act: (one: Row) => Promise<void>): Promise<void> {
    const known = this.ledger.known(kind);
    const one = known[Math.floor(which * known.length)];
    if (one) await act(one);
  }

  async #reward({ id: trajectory_id }: Row, which: number): Promise<void> {
    const { client } = this.#options;
    this.#rewards += 1;
    const reward_id = `reward-${this.#rewards}`;
    const body = { reward_id, name: 'simulated', value: which };
    await this.#write('reward', reward_id, 'make', () => client.call('logReward', { params: { trajectory_id }, body }));
  }

  /** Law: two counts of the same run agree once it has ended. */
  async compare({ name, id: eval_run_id }: Row): Promise<void> {
    const { client, fail, count } = this.#options;
    const params = { eval_run_id };
    const run = await client.call('getEvalRun', { params });
    const { status } = run;
    const ended = hasEnded(status ?? '');
    this.ledger.saw(name, status ?? '', ended);
    if (!ended) return;
    const { live } = await client.call('getEvalProgress', { params });
    const { trajectory_rewards } = await client.call('getTrajectoryRewards', { params });
    const rewards = (trajectory_rewards ?? []).map(({ reward }) => reward).filter(reward => typeof reward === 'number');
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    count('runs compared');
    if (live?.scored_rollouts !== rewards.length)
      fail(`${name} has ${live?.scored_rollouts} scored rollouts, and ${rewards.length} rewards`);
    for (const reported of [run.reward_mean, live?.final_reward_mean]) {
      const isSame =
        rewards.length === 0 ? (reported ?? null) === null : Math.abs((reported ?? Number.NaN) - mean) < 1e-9;
      if (!isSame) fail(`${name} has the mean ${reported}; that of its ${rewards.length} rewards is ${mean}`);
    }
  }

  /** The ids in the database. */
  stored(what: Listed): Set<string> {
    const sql = what === 'runs' ? 'select eval_run_id as id from eval_runs' : lists[what].sql;
    return new Set(this.#options.local.rows<{ id: string }>(sql).map(({ id }) => id));
  }

  /** Law: a list has every row that existed throughout the read, and none that never existed. */
  async list(what: Listed, limit: number): Promise<void> {
    const { fail, count } = this.#options;
    const before = this.stored(what);
    const shown = what === 'runs' ? await this.#runs() : await this.#pages(what, limit);
    const after = this.stored(what);
    count('lists compared');
    const lost = [...before].filter(id => after.has(id) && !shown.has(id));
    if (lost.length > 0) fail(`${what} are listed without ${lost.join(', ')}`);
    const strange = [...shown].filter(id => !before.has(id) && !after.has(id));
    // Rows that existed during part of the read may be in the list.
    if (strange.length > 0 && this.#open.size <= 1) fail(`${what} are listed with ${strange.join(', ')}`);
  }

  async #runs(): Promise<Set<string>> {
    const { client } = this.#options;
    const { items } = await client.call('listBenchmarks', { query: { limit: 200 } });
    const runs = await Promise.all(items.map(({ bench_id }) => client.call('listEvalRuns', { params: { bench_id } })));
    return new Set(runs.flatMap(list => list.map(({ eval_run_id }) => eval_run_id)));
  }

  async #pages(what: Exclude<Listed, 'runs'>, limit: number): Promise<Set<string>> {
    const { client } = this.#options;
    const ids = new Set<string>();
    const { call, id } = lists[what];
    for (let cursor: string | undefined; ; ) {
      const page = await client.call(call, { query: { limit, ...(cursor !== undefined && { cursor }) } });
      for (const row of page.items as readonly object[]) ids.add(String(Reflect.get(row, id)));
      if (!page.has_more) return ids;
      cursor = page.next_cursor ?? undefined;
    }
  }

  /** Law: read-only writes nothing. */
  async #tryToWrite(name: string): Promise<void> {
    const { readOnly, fail } = this.#options;
    try {
      await readOnly.call('createSecret', { body: { name, value: 'no' } });
      fail('read-only, but a secret was created');
    } catch (error) {
      if (!(error instanceof ReadOnlyError)) throw error;
    }
  }

  audit(): void {
    const { local, count } = this.#options;
    if (!local.isRunning) return;
    count('audits');
    this.ledger.audit(local);
  }

  /** Reads every list and every run once there are no more faults. */
  async compareAll(): Promise<void> {
    for (const what of ['runs', 'trajectories', 'secrets', 'benchmarks'] as const) await this.list(what, 200);
    for (const run of this.ledger.known('run')) {
      await this.compare(run).catch((error: unknown) => {
        const mayBeGone = error instanceof ServiceError && error.kind === 'not_found';
        if (!mayBeGone) throw error;
      });
    }
  }
}
