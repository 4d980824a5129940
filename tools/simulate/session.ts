/**
 * A session: the local service, the client and a user with a plan in one process, under virtual time and faults. Its
 * laws are checked all along. To be imported once time is virtual.
 */
import { hasEnded } from '../../src/contract/status.ts';
import { ReadOnlyError, ServiceError } from '../../src/service/errors.ts';
import { createService, type Service } from '../../src/service/index.ts';
import { failureOf, full, rollBackAlone, setOnWrite, watchWrites } from '../rig/disk.ts';
import { type Input, mouseBytes } from '../torture/inputs.ts';
import { frameFailures, slipOn } from '../torture/judge.ts';
import { mainPane, shownRows } from '../torture/oracle.ts';
import { calm, type Exchange, type FaultyProxy, startProxy } from '../torture/proxy.ts';
import type { Random } from '../torture/random.ts';
import { Ledger, type Noted, type Said } from './ledger.ts';
import { apiKey, type Leave, LocalService } from './local-service.ts';
import type { Listed, Step } from './plan.ts';
import { SimulatedScreen } from './screen.tsx';
import type { VirtualNetwork } from './virtual-network.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface SessionOptions {
  readonly time: VirtualTime;
  readonly network: VirtualNetwork;
  readonly random: Random;
  /** A folder for the data. */
  readonly root: string;
  readonly plan: readonly Step[];
  /** Bugs, to show that a law is watched. */
  readonly bugs?: {
    readonly service?: (service: Service) => Service;
    readonly leave?: Leave;
    readonly readerWrites?: boolean;
    /** What reaches the terminal. */
    readonly bytes?: (bytes: string) => string;
  };
}

export interface SessionResult {
  readonly failures: readonly string[];
  /** Virtual milliseconds. */
  readonly ms: number;
  readonly counts: Readonly<Record<string, number>>;
}

const messages = [{ role: 'user', content: 'say yes' }];
const model = 'benchtop/tutor-base';
/** Longer than a call may take with its retries. */
const callMs = 10 * 60_000;
const stallMs = 60_000;
const restartMs = 500;
/** A kill that waits for a write does not wait longer. */
const killMs = 5_000;
/** Until what was started has ended, once nothing fails any more. */
const calmMs = 30 * 60_000;
const reader = 'simulated-reader';
/** Until the screen has drawn what it was given. */
const restMs = 1_000;

interface Row {
  readonly id: string;
  readonly name: string;
}

/** How each list is read, and the same from the database. */
const lists = {
  benchmarks: { call: 'listBenchmarks', id: 'bench_id', sql: 'select bench_id as id from benchmarks' },
  trajectories: { call: 'listTrajectories', id: 'trajectory_id', sql: 'select trajectory_id as id from trajectories' },
  secrets: { call: 'listSecrets', id: 'secret_id', sql: 'select secret_id as id from secrets' },
} as const;

class Session {
  readonly #options: SessionOptions;
  readonly #local: LocalService;
  readonly #ledger = new Ledger(what => this.#fail(what));
  readonly #failures: string[] = [];
  readonly #open = new Set<Promise<void>>();
  /** Keys of the writes that reached the service, by what they ask for. */
  readonly #writes = new Map<string, string | undefined>();
  readonly counts: Record<string, number> = {};
  #step = -1;
  #killAfter = 0;
  #isFull = false;
  #proxy: FaultyProxy | undefined;
  #benchId = '';
  #screen: SimulatedScreen | undefined;
  #isReadOnly = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#local = new LocalService(options.root, options.network, options.bugs?.leave);
  }

  #fail(what: string): void {
    const { plan, time } = this.#options;
    const after = this.#step < 0 ? 'at the start' : `after step ${this.#step}, ${JSON.stringify(plan[this.#step])}`;
    this.#failures.push(`${what} (${Math.round(time.now / 1000)} s, ${after})`);
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  async run(): Promise<SessionResult> {
    const { time, plan, random } = this.#options;
    const began = time.now;
    watchWrites();
    setOnWrite(database => this.#beforeWrite(database));
    const onRejection = (error: unknown): void =>
      this.#fail(`unhandled: ${error instanceof Error ? error.stack : error}`);
    process.on('unhandledRejection', onRejection);
    const proxyReady = startProxy({
      target: this.#local.baseUrl,
      random: random.fork('answers'),
      shares: calm,
      mostStarts: Number.POSITIVE_INFINITY,
      stallMs,
      onForward: exchange => this.#forwarded(exchange),
    });
    try {
      this.#proxy = await time.during(proxyReady, callMs);
      await time.during(this.#local.start(), callMs);
      const client = this.#client('simulated', false);
      const readOnly = this.#client(reader, !this.#options.bugs?.readerWrites);
      await this.#becomeReady(client);
      for (const [index, step] of plan.entries()) {
        this.#step = index;
        await this.#take(step, client, readOnly);
        if (this.#failures.length > 0) break;
      }
      if (this.#failures.length === 0) await this.#endCalmly(client);
    } catch (error) {
      this.#fail(`the session: ${error instanceof Error ? error.stack : String(error)}`);
    } finally {
      setOnWrite(undefined);
      await this.#endScreen();
      const closed = Promise.allSettled([this.#proxy?.close(), this.#local.stop()]);
      await time.during(closed, callMs);
      await time.pass(callMs);
      process.off('unhandledRejection', onRejection);
    }
    return { failures: this.#failures, ms: time.now - began, counts: this.counts };
  }

  #client(userAgent: string, readOnly: boolean): Service {
    const key = async (): Promise<string> => apiKey;
    const { baseUrl } = this.#proxy ?? { baseUrl: '' };
    const service = createService({ baseUrl, apiKey: key, inferenceToken: key, userAgent, readOnly });
    return this.#options.bugs?.service?.(service) ?? service;
  }

  /** The sample benchmarks are built before the first step. */
  async #becomeReady(client: Service): Promise<void> {
    const { time } = this.#options;
    const { items } = await time.during(client.call('listBenchmarks'), callMs);
    this.#benchId = items.find(({ label }) => label === 't-words')?.bench_id ?? '';
    for (;;) {
      const { ready } = await time.during(
        client.call('getBenchmarkReadiness', { params: { bench_id: this.#benchId } }),
        callMs,
      );
      if (ready) return;
      await time.pass(1_000);
    }
  }

  /** Law: no write is sent twice, unless its key says that it is the same. */
  #forwarded({ method, url, headers, requestBody }: Exchange): void {
    this.#count('requests');
    if (method === 'GET') return;
    this.#count('writes');
    if (String(headers['user-agent']).includes(reader)) this.#fail(`read-only, and yet ${method} ${url}`);
    // At the screen whoever presses a key twice means it.
    if (String(headers['user-agent']).includes('screen')) {
      this.#ledger.touched(url);
      return;
    }
    const key = headers['idempotency-key'];
    const asks = `${method} ${url} ${requestBody}`;
    // Repeating these changes nothing: a secret and a reward have a name, and what is gone stays so.
    const isRepeatable = method === 'DELETE' || /\/(secrets|rewards|cancel)$/.test(url);
    if (!isRepeatable && this.#writes.has(asks) && (key === undefined || this.#writes.get(asks) !== key))
      this.#fail(`sent twice: ${asks}`);
    this.#writes.set(asks, typeof key === 'string' ? key : undefined);
  }

  #beforeWrite(database: Parameters<typeof rollBackAlone>[0]): void {
    if (this.#killAfter > 0) {
      this.#killAfter -= 1;
      if (this.#killAfter === 0) this.#local.kill();
    }
    if (!this.#isFull) return;
    rollBackAlone(database);
    throw failureOf(database, full);
  }

  async #take(step: Step, client: Service, readOnly: Service): Promise<void> {
    this.#count(step.do);
    const { time, network } = this.#options;
    const port = Number(new URL(this.#proxy?.baseUrl ?? '').port);
    switch (step.do) {
      case 'wait':
        await time.pass(step.ms);
        if (this.#screen) await this.#lookAt(this.#screen);
        return this.#audit();
      case 'network':
        network.setWeather(port, step.weather);
        setTimeout(() => network.setWeather(port, 'up'), step.ms);
        return;
      case 'answers':
        return this.#proxy?.setShares({ ...calm, network: step.network, lost: step.lost });
      case 'disk full':
        this.#isFull = true;
        setTimeout(() => {
          this.#isFull = false;
        }, step.ms);
        return;
      case 'open':
        return this.#openScreen(step.readOnly);
      case 'input':
        return this.#input(step.input);
      case 'signal':
        return this.#screen?.signal(step.name);
      case 'crash':
        this.#killAfter = step.writes;
        setTimeout(() => {
          if (this.#killAfter > 0) this.#local.kill();
          this.#killAfter = 0;
        }, killMs);
        setTimeout(() => void this.#revive(), killMs + step.downMs);
        return;
      default:
        return this.#begin(this.#act(step, client, readOnly));
    }
  }

  async #openScreen(readOnly: boolean): Promise<void> {
    const { root, bugs } = this.#options;
    this.#count('screens');
    const screen = new SimulatedScreen({
      service: this.#client(readOnly ? reader : 'simulated-screen', readOnly),
      readOnly,
      crashFolder: root,
      onUnmeant: what => this.#fail(`written: ${what}`),
      ...(bugs?.bytes && { bug: bugs.bytes }),
    });
    this.#screen = screen;
    this.#isReadOnly = readOnly;
    await this.#options.time.pass(5_000);
  }

  async #input(input: Input): Promise<void> {
    const screen = this.#screen;
    if (!screen || screen.code !== undefined) return;
    if (input.kind === 'resize') screen.resize(input.columns, input.rows);
    else screen.type(input.kind === 'mouse' ? mouseBytes(input) : input.bytes);
    if (input.kind === 'bytes') this.counts['keys'] = (this.counts['keys'] ?? 0) + input.keys;
    await this.#options.time.pass(30);
  }

  /** Laws: the screen is whole at rest; after its end another one opens. */
  async #lookAt(screen: SimulatedScreen): Promise<void> {
    if (screen.code === undefined) await this.#options.time.pass(restMs);
    if (screen.code === undefined) return this.#judge(screen);
    await this.#endScreen();
    await this.#openScreen(this.#isReadOnly);
  }

  /** Law: a screen that has ended leaves its terminal as it was. */
  async #endScreen(): Promise<void> {
    const screen = this.#screen;
    if (!screen) return;
    screen.signal('SIGTERM');
    await this.#options.time.pass(restMs);
    this.#count('screens ended');
    const left = screen.left();
    if (screen.code === undefined) this.#fail('the screen does not end');
    else if (left.length > 0) this.#fail(`the terminal is left with ${left.join(', ')}`);
    screen.close();
    this.#screen = undefined;
    await this.#options.time.pass(restMs);
  }

  #judge(screen: SimulatedScreen): void {
    const { columns, rows } = screen.size;
    const text = screen.text();
    this.#count('screens judged');
    const slip = slipOn(text, '');
    for (const what of [...frameFailures(text, columns, rows), ...(slip ? [`the screen says ${slip}`] : [])])
      this.#fail(`${what}:\n${text}`);
  }

  /** Laws: in a new screen of a service that is well, the number of a section is that of its list and of the service. */
  async #compareCounts(): Promise<void> {
    const { time } = this.#options;
    await this.#openScreen(true);
    const screen = this.#screen;
    if (!screen) return;
    screen.resize(200, 60);
    for (const [what, title] of [
      ['benchmarks', 'Benchmarks'],
      ['runs', 'Runs'],
      ['trajectories', 'Trajectories'],
      ['secrets', 'Secrets'],
    ] as const) {
      screen.type(`:${what}`);
      await time.pass(500);
      screen.type('\r');
      await time.pass(60_000);
      const stored = this.#stored(what).size;
      const text = screen.text();
      const shown = shownRows(mainPane(text));
      this.#count('counts compared');
      if (shown.rows !== stored && !shown.more) this.#fail(`${shown.rows} of ${stored} ${what} are shown:\n${text}`);
      const said = new RegExp(`^│ +${title} +(\\d+)(\\+?) *│`, 'm').exec(text);
      if (said && said[2] !== '+' && Number(said[1]) !== stored)
        this.#fail(`${title} ${said[1]} in the sections, and there are ${stored}:\n${text}`);
    }
  }

  /** Starts the service again, as its supervisor does until it succeeds. */
  async #revive(): Promise<void> {
    try {
      await this.#local.start();
    } catch {
      setTimeout(() => void this.#revive(), restartMs);
    }
  }

  /** Goes on with the plan while the action is under way. */
  #begin(action: Promise<void>): void {
    const noted = action
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError)) this.#fail(error instanceof Error ? String(error.stack) : String(error));
        this.#count(error instanceof ServiceError ? `refused: ${error.kind}` : 'broken');
      })
      .finally(() => this.#open.delete(noted));
    this.#open.add(noted);
  }

  async #act(step: Step, client: Service, readOnly: Service): Promise<void> {
    switch (step.do) {
      case 'evaluate': {
        const options = { evaluation_max_samples: step.tasks };
        const body = { display_name: step.name, model_slug: model, options };
        const params = { bench_id: this.#benchId };
        return this.#write('run', step.name, 'make', () =>
          client.call('startEval', { params, body }).then(({ eval_run_id }) => eval_run_id),
        );
      }
      case 'keep secret': {
        const body = { name: step.name, value: `value of ${step.name}`, description: '' };
        return this.#write('secret', step.name, 'make', () =>
          client.call('createSecret', { body }).then(({ secret }) => secret.secret_id),
        );
      }
      case 'record': {
        const open = { trace_id: step.name, task_id: 'a task', status: 'running', messages };
        const body = { dataset: 'simulated', trajectories: [open] };
        return this.#write('trajectory', step.name, 'make', () =>
          client.call('uploadTrajectories', { body }).then(({ trajectories }) => trajectories?.[0]?.trajectory_id),
        );
      }
      case 'forget secret':
        return this.#withOne('secret', step.which, ({ name, id: secret_id }) =>
          this.#write('secret', name, 'remove', () => client.call('deleteSecret', { params: { secret_id } })),
        );
      case 'delete':
        return this.#withOne('run', step.which, ({ name, id: eval_run_id }) =>
          this.#write('run', name, 'remove', () =>
            client.call('deleteEvalRun', { params: { bench_id: this.#benchId, eval_run_id } }),
          ),
        );
      case 'cancel':
        return this.#withOne('run', step.which, async ({ id: eval_run_id }) => {
          await client.call('cancelEval', { params: { eval_run_id } });
        });
      case 'reward':
        return this.#withOne('trajectory', step.which, one => this.#reward(one, step.which, client));
      case 'compare':
        return this.#withOne('run', step.which, run => this.#compare(run, client));
      case 'list':
        return this.#list(step.what, step.limit, client);
      case 'write read-only':
        return this.#tryToWrite(step.name, readOnly);
    }
  }

  /** Law: what an answer says of a write is so. */
  async #write(kind: Noted, name: string, write: 'make' | 'remove', send: () => Promise<unknown>): Promise<void> {
    const answered = this.#ledger.begin(kind, name, write);
    let said: Said = 'done';
    let id: unknown;
    try {
      id = await send();
    } catch (error) {
      const isGone = write === 'remove' && error instanceof ServiceError && error.kind === 'not_found';
      said = isGone ? 'done' : error instanceof ServiceError && error.outcomeUnknown ? 'unknown' : 'not done';
      if (!isGone) throw error;
    } finally {
      answered(said, typeof id === 'string' ? id : undefined);
    }
  }

  async #withOne(kind: Noted, which: number, act: (one: Row) => Promise<void>): Promise<void> {
    const known = this.#ledger.known(kind);
    const one = known[Math.floor(which * known.length)];
    if (one) await act(one);
  }

  async #reward({ id: trajectory_id }: Row, which: number, client: Service): Promise<void> {
    this.#count('rewards');
    const reward_id = `reward-${this.counts['rewards']}`;
    const body = { reward_id, name: 'simulated', value: which };
    await this.#write('reward', reward_id, 'make', () => client.call('logReward', { params: { trajectory_id }, body }));
  }

  /** Law: two numbers of one thing agree, once it has ended. */
  async #compare({ name, id: eval_run_id }: Row, client: Service): Promise<void> {
    const params = { eval_run_id };
    const run = await client.call('getEvalRun', { params });
    const { status } = run;
    const ended = hasEnded(status ?? '');
    this.#ledger.saw(name, status ?? '', ended);
    if (!ended) return;
    const { live } = await client.call('getEvalProgress', { params });
    const { trajectory_rewards } = await client.call('getTrajectoryRewards', { params });
    const rewards = (trajectory_rewards ?? []).map(({ reward }) => reward).filter(reward => typeof reward === 'number');
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    this.#count('runs compared');
    if (live?.scored_rollouts !== rewards.length)
      this.#fail(`${name} has ${live?.scored_rollouts} scored rollouts, and ${rewards.length} rewards`);
    for (const said of [run.reward_mean, live?.final_reward_mean]) {
      const isSame = rewards.length === 0 ? (said ?? null) === null : Math.abs((said ?? Number.NaN) - mean) < 1e-9;
      if (!isSame) this.#fail(`${name} has the mean ${said}; that of its ${rewards.length} rewards is ${mean}`);
    }
  }

  #stored(what: Listed): Set<string> {
    const sql = what === 'runs' ? 'select eval_run_id as id from eval_runs' : lists[what].sql;
    return new Set(this.#local.rows<{ id: string }>(sql).map(({ id }) => id));
  }

  /** Law: a list that was read has every row that was there all the time, and none that never was. */
  async #list(what: Listed, limit: number, client: Service): Promise<void> {
    const before = this.#stored(what);
    const shown = what === 'runs' ? await this.#runs(client) : await this.#pages(what, limit, client);
    const after = this.#stored(what);
    this.#count('lists compared');
    const lost = [...before].filter(id => after.has(id) && !shown.has(id));
    if (lost.length > 0) this.#fail(`${what} are listed without ${lost.join(', ')}`);
    const strange = [...shown].filter(id => !before.has(id) && !after.has(id));
    // What came and went while it was read, may be in it.
    if (strange.length > 0 && this.#open.size <= 1) this.#fail(`${what} are listed with ${strange.join(', ')}`);
  }

  async #runs(client: Service): Promise<Set<string>> {
    const { items } = await client.call('listBenchmarks', { query: { limit: 200 } });
    const runs = await Promise.all(items.map(({ bench_id }) => client.call('listEvalRuns', { params: { bench_id } })));
    return new Set(runs.flatMap(list => list.map(({ eval_run_id }) => eval_run_id)));
  }

  async #pages(what: Exclude<Listed, 'runs'>, limit: number, client: Service): Promise<Set<string>> {
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
  async #tryToWrite(name: string, readOnly: Service): Promise<void> {
    try {
      await readOnly.call('createSecret', { body: { name, value: 'no' } });
      this.#fail('read-only, and yet a secret was created');
    } catch (error) {
      if (!(error instanceof ReadOnlyError)) throw error;
    }
  }

  #audit(): void {
    if (!this.#local.isRunning) return;
    this.#count('audits');
    this.#ledger.audit(this.#local);
  }

  /** Once nothing fails any more, everything ends, and everything is compared. */
  async #endCalmly(client: Service): Promise<void> {
    const { time, network } = this.#options;
    this.#proxy?.setShares(calm);
    const hadScreen = this.#screen !== undefined;
    await this.#endScreen();
    await time.pass(calmMs);
    network.setWeather(Number(new URL(this.#proxy?.baseUrl ?? '').port), 'up');
    if (this.#open.size > 0) this.#fail(`${this.#open.size} actions hang`);
    this.#audit();
    for (const what of ['runs', 'trajectories', 'secrets', 'benchmarks'] as const)
      await time.during(this.#list(what, 200, client), callMs);
    for (const run of this.#ledger.known('run')) {
      const compared = this.#compare(run, client).catch((error: unknown) => {
        const mayBeGone = error instanceof ServiceError && error.kind === 'not_found';
        if (!mayBeGone) throw error;
      });
      await time.during(compared, callMs);
    }
    if (hadScreen) await this.#compareCounts();
    await client.close();
  }
}

export function playSession(options: SessionOptions): Promise<SessionResult> {
  return new Session(options).run();
}
