/**
 * A session: the local service, the client, the screen and a user with a plan in one process, under virtual time and
 * faults. Its laws are checked throughout. Import this after installing virtual time.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { createService, type Service } from '../../src/service/index.ts';
import { fillWorkFolder } from '../../test/populate.ts';
import { failureOf, full, rollBackAlone, setOnWrite, watchWrites } from '../rig/disk.ts';
import { listen } from '../rig/judge.ts';
import { type Exchange, type FaultyProxy, startProxy } from '../rig/proxy.ts';
import { crashesIn, filesWithSecrets, leakIn, strayedIn, writes } from '../rig/traces.ts';
import { apiKey } from '../rig/world.ts';
import { AtScreen } from './at-screen.ts';
import type { Bugs } from './bugs.ts';
import { agents, LocalService, type Template } from './local-service.ts';
import type { Plan, Step } from './plan.ts';
import { User } from './user.ts';
import type { VirtualNetwork } from './virtual-network.ts';
import type { VirtualTime } from './virtual-time.ts';
import { Watch } from './watch.ts';

interface SessionOptions {
  readonly time: VirtualTime;
  readonly network: VirtualNetwork;
  /** A folder for the data. */
  readonly root: string;
  readonly template: Template;
  readonly plan: Plan;
  /** Deliberate bugs, which show that a law is checked. */
  readonly bugs?: Bugs | undefined;
}

export interface SessionResult {
  readonly failures: readonly string[];
  /** Virtual milliseconds. */
  readonly ms: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Longer than any call with its retries. */
export const callMs = 10 * 60_000;
const stallMs = 60_000;
const restartMs = 500;
/** Maximum time that a kill waits for a write. */
const killMs = 5_000;
/** Time for started work to end, once there are no more faults. */
const calmMs = 30 * 60_000;

/** Training with defaults takes minutes of real time, so it is refused at the screen. */
const trainsLong = ({ method, url, headers }: Exchange): boolean =>
  method === 'POST' && url === '/api/v1/train' && String(headers['user-agent']).includes(agents.screen);

const same = (service: Service): Service => service;

class Session {
  readonly #options: SessionOptions;
  readonly #local: LocalService;
  readonly #failures: string[] = [];
  /** Idempotency keys of the writes that reached the service, by request. */
  readonly #writes = new Map<string, string | undefined>();
  readonly #counts: Record<string, number> = {};
  readonly #crashFolder: string;
  readonly #watch: Watch | undefined;
  #step = -1;
  #killAfter = 0;
  #isFull = false;
  #user: User | undefined;
  #screen: AtScreen | undefined;

  constructor(options: SessionOptions) {
    const { root, network, bugs, template, plan } = options;
    this.#options = options;
    this.#local = new LocalService(root, network, bugs?.leave);
    this.#crashFolder = join(root, 'crashes');
    this.#watch = plan.isWatch ? new Watch(network) : undefined;
    cpSync(template.folder, this.#local.folder, { recursive: true });
    mkdirSync(join(root, 'work'));
    fillWorkFolder(join(root, 'work'));
    // The folder for exports from the screen.
    process.chdir(join(root, 'work'));
  }

  #fail(what: string): void {
    const { plan, time } = this.#options;
    const after =
      this.#step < 0 ? 'at the start' : `after step ${this.#step}, ${JSON.stringify(plan.steps[this.#step])}`;
    this.#failures.push(`${what} (${Math.round(time.now / 1000)} s, ${after.slice(0, 300)})`);
  }

  #count(what: string, by = 1): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + by;
  }

  async run(): Promise<SessionResult> {
    const { time, plan, bugs } = this.#options;
    const began = time.now;
    watchWrites();
    setOnWrite(database => this.#beforeWrite(database));
    const deafen = listen(what => this.#fail(what));
    const target = this.#local.baseUrl;
    const onForward = (exchange: Exchange): void => this.#forwarded(exchange);
    const proxy = await time.during(startProxy({ target, refuses: trainsLong, stallMs, onForward }), callMs);
    try {
      await time.during(this.#local.start(), callMs);
      if (bugs?.strays) get(proxy.elsewhere).on('error', () => {});
      this.#enter(proxy);
      for (const [index, step] of plan.steps.entries()) {
        this.#step = index;
        await this.#take(step, index, proxy);
        if (this.#failures.length > 0) break;
      }
      if (this.#failures.length === 0) await this.#endCalmly(proxy);
    } catch (error) {
      this.#fail(`the session: ${error instanceof Error ? error.stack : String(error)}`);
    } finally {
      setOnWrite(undefined);
      await this.#screen?.end();
      await time.during(Promise.allSettled([proxy[Symbol.asyncDispose](), this.#local.stop()]), callMs);
      await time.pass(callMs);
      // Laws: no redirect is followed with a credential, and no file contains one.
      for (const what of [...strayedIn(proxy), ...filesWithSecrets(this.#options.root)]) this.#fail(what);
      this.#count('faults', proxy.counts.faults);
      process.chdir('/');
      deafen();
    }
    return { failures: this.#failures, ms: time.now - began, counts: this.#counts };
  }

  /** Connects the users of the service. */
  #enter(proxy: FaultyProxy): void {
    const { time, template, bugs } = this.#options;
    const key = async (): Promise<string> => apiKey;
    const connect = (userAgent: string, readOnly: boolean): Service =>
      createService({
        baseUrl: proxy.baseUrl,
        apiKey: key,
        inferenceToken: key,
        userAgent,
        readOnly: readOnly && !bugs?.readerWrites,
      });
    const program = bugs?.service ?? same;
    const screen = bugs?.screen ?? same;
    const fail = (what: string): void => this.#fail(what);
    const count = (what: string, by?: number): void => this.#count(what, by);
    this.#user = new User({
      client: program(connect(agents.user, false)),
      readOnly: program(connect(agents.reader, true)),
      local: this.#local,
      benchId: template.benchId,
      fail,
      count,
    });
    const firstId = (from: string): string | undefined =>
      this.#local.rows<{ id: string }>(`select ${from} order by created_at limit 1`)[0]?.id;
    this.#screen = new AtScreen({
      time,
      ids: () => ({
        run: firstId("eval_run_id as id from eval_runs where status = 'completed'"),
        training: firstId("training_run_id as id from training_runs where status = 'succeeded'"),
      }),
      proxy,
      service: readOnly => screen(connect(`${agents.screen}${readOnly ? ` ${agents.reader}` : ''}`, readOnly)),
      stored: what => this.#user?.stored(what).size ?? 0,
      crashFolder: this.#crashFolder,
      bugs,
      fail,
      count,
    });
  }

  /** Laws: no write is sent twice without the same idempotency key; a reader sends no writes. */
  #forwarded(exchange: Exchange): void {
    const { method, url, headers, requestBody } = exchange;
    const agent = String(headers['user-agent']);
    this.#count('requests');
    this.#watch?.asked(exchange);
    const leak = leakIn(exchange);
    if (leak !== undefined) this.#fail(leak);
    if (!writes(exchange)) return;
    this.#count('writes');
    if (agent.includes(agents.reader)) this.#fail(`read-only, but sent ${method} ${url}`);
    // At the screen, pressing a key twice is intentional.
    if (agent.includes(agents.screen)) {
      this.#user?.ledger.touched(url);
      return;
    }
    const key = headers['idempotency-key'];
    const asks = `${method} ${url} ${requestBody}`;
    // Repeating these changes nothing: secrets and rewards have names, and deleted resources stay deleted.
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

  async #take(step: Step, index: number, proxy: FaultyProxy): Promise<void> {
    this.#count(step.do);
    const { time, network, bugs } = this.#options;
    const port = Number(new URL(proxy.baseUrl).port);
    switch (step.do) {
      case 'wait':
        await time.pass(step.ms);
        this.#watch?.look();
        for (let left = 0; left < (bugs?.leavesSockets ?? 0); left += 1) network.connect(port);
        await this.#screen?.look();
        this.#judgeCrashes();
        return this.#user?.audit();
      case 'network':
        network.setWeather(port, step.weather);
        setTimeout(() => network.setWeather(port, 'up'), step.ms);
        return;
      case 'answers':
        return proxy.setFaults(step.faults, agents[step.to]);
      case 'disk full':
        this.#isFull = true;
        setTimeout(() => {
          this.#isFull = false;
        }, step.ms);
        return;
      case 'crash':
        this.#killAfter = step.writes;
        setTimeout(() => {
          if (this.#killAfter > 0) this.#local.kill();
          this.#killAfter = 0;
        }, killMs);
        setTimeout(() => void this.#revive(), killMs + step.downMs);
        return;
      case 'open':
      case 'input':
      case 'type secret':
      case 'signal':
        return this.#screen?.take(step);
      default:
        return this.#user?.begin(step, index);
    }
  }

  /** Restarts the service like its supervisor, until it succeeds. */
  async #revive(): Promise<void> {
    try {
      await this.#local.start();
    } catch {
      setTimeout(() => void this.#revive(), restartMs);
    }
  }

  /** Law: the screen reports no caught error, even if it survives. */
  #judgeCrashes(): void {
    for (const what of crashesIn(this.#options.root)) this.#fail(what);
  }

  /** Stops the faults, lets everything end, and compares everything. */
  async #endCalmly(proxy: FaultyProxy): Promise<void> {
    const { time, network, plan, template, bugs } = this.#options;
    const user = this.#user;
    for (const agent of Object.values(agents)) proxy.setFaults([], agent);
    const hadScreen = this.#screen?.isOpen ?? false;
    await this.#screen?.end();
    for (const failure of this.#watch?.failures() ?? []) this.#fail(failure);
    if (this.#failures.length > 0) return;
    await time.pass(calmMs);
    network.setWeather(Number(new URL(proxy.baseUrl).port), 'up');
    if (user && user.open > 0) this.#fail(`${user.open} actions hang`);
    user?.audit();
    await time.during(user?.compareAll() ?? Promise.resolve(), callMs);
    // Without a write, the counts are those of the template.
    const areKnown = template.isCounted && bugs === undefined && this.#counts['writes'] === undefined;
    if (hadScreen && !areKnown) {
      template.isCounted = true;
      await this.#screen?.compareCounts();
    }
    for (const look of plan.looks) await this.#screen?.lookAt(look);
    this.#judgeCrashes();
  }
}

export function playSession(options: SessionOptions): Promise<SessionResult> {
  return new Session(options).run();
}
