/** Plays the steps of a user at the screen, and checks the laws of the screen. */
import type { Place } from '../../src/resources/place.ts';
import type { Service } from '../../src/service/index.ts';
import { answersKeys, type Desk, typeSecret } from '../rig/desk.ts';
import type { Input } from '../rig/inputs.ts';
import { frameFailures, slipOn } from '../rig/judge.ts';
import type { FaultyProxy } from '../rig/proxy.ts';
import { hasSecret } from '../rig/traces.ts';
import type { Bugs } from './bugs.ts';
import { agents } from './local-service.ts';
import { failuresOf, type Ids, isAnswered, type Look, placeOf } from './looks.ts';
import { mainPane, shownRows } from './oracle.ts';
import type { Listed, Step } from './plan.ts';
import { SimulatedScreen } from './screen.tsx';
import type { VirtualTime } from './virtual-time.ts';

interface AtScreenOptions {
  readonly time: VirtualTime;
  /** Ids of resources to open views on. */
  readonly ids: () => Ids;
  readonly proxy: FaultyProxy;
  readonly service: (readOnly: boolean) => Service;
  /** The number of rows in the database. */
  readonly stored: (what: Listed) => number;
  readonly crashFolder: string;
  readonly bugs: Bugs | undefined;
  readonly fail: (what: string) => void;
  readonly count: (what: string, by?: number) => void;
}

type ScreenStep = Extract<Step, { readonly do: 'open' | 'input' | 'type secret' | 'signal' }>;

/** Time for the screen to draw. */
const restMs = 1_000;
/** A frame that is still broken after this many rests counts as broken. */
const mostRests = 3;
/** Time to answer a key. */
const keyMs = 30;
/** Maximum thread time of one input in milliseconds: enough to draw the whole screen several times. */
const slowMs = 3_000;
/** Time for a view to read its data, and between checks until then: a view without focus is polled in between. */
const readMs = 60_000;
const judgeMs = 12_000;

export class AtScreen {
  readonly #options: AtScreenOptions;
  #screen: SimulatedScreen | undefined;
  #readOnly = false;
  #place: Place = { view: 'list', resource: 'benchmarks' };

  constructor(options: AtScreenOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#screen !== undefined;
  }

  async take(step: ScreenStep): Promise<void> {
    const { count } = this.#options;
    if (step.do === 'open') {
      const place = step.view === 'watch' ? ({ view: 'watch' } as const) : this.#place;
      await this.#open(place, step.readOnly);
      return;
    }
    const screen = this.#screen;
    if (!screen || screen.code !== undefined) return;
    if (step.do === 'input') return this.#input(screen, step.input);
    if (step.do === 'signal') return screen.signal(step.name);
    if (await typeSecret(this.#desk(screen), step.typing)) count('secrets typed');
  }

  async #open(place: Place, readOnly: boolean): Promise<SimulatedScreen> {
    const { service, crashFolder, bugs, fail, count, time } = this.#options;
    count('screens');
    const screen = new SimulatedScreen({
      service: service(readOnly),
      place: bugs?.place ?? place,
      readOnly: readOnly && !bugs?.readerWrites,
      crashFolder,
      onUnmeant: what => fail(`written: ${what}`),
      bugs,
    });
    this.#screen = screen;
    this.#readOnly = readOnly;
    this.#place = place;
    await time.pass(5_000);
    return screen;
  }

  /** Law: nothing takes more thread time than a user would tolerate. */
  async #input(screen: SimulatedScreen, input: Input): Promise<void> {
    const { time, fail, count } = this.#options;
    const before = process.threadCpuUsage();
    screen.send(input);
    if (input.kind === 'bytes') count('keys', input.keys);
    await time.pass(keyMs);
    const { user, system } = process.threadCpuUsage(before);
    const workMs = (user + system) / 1_000;
    if (workMs > slowMs) fail(`${Math.round(workMs)} ms of work for ${JSON.stringify(input).slice(0, 200)}`);
  }

  /** Law: the screen is intact at rest. If it has ended, another one opens. */
  async look(): Promise<void> {
    const screen = this.#screen;
    if (!screen) return;
    // A key may have suspended it, or lent its terminal to another program.
    for (let rests = 0; screen.code === undefined && rests < mostRests; rests += 1) {
      screen.signal('SIGCONT');
      await this.#options.time.pass(restMs);
      const { columns, rows } = screen.size;
      if (frameFailures(screen.text(), columns, rows).length === 0) break;
    }
    if (screen.code === undefined) return this.#judge(screen);
    await this.end();
    await this.#open(this.#place, this.#readOnly);
  }

  /** Laws: it answers keys until its end, and restores its terminal. */
  async end(): Promise<void> {
    const screen = this.#screen;
    const { time, fail, count } = this.#options;
    if (!screen) return;
    screen.signal('SIGCONT');
    if (!(await answersKeys(this.#desk(screen)))) fail(`esc and ? do not show the help:\n${screen.text()}`);
    screen.signal('SIGTERM');
    await time.pass(restMs);
    count('screens ended');
    const left = screen.left();
    if (screen.code === undefined) fail('the screen does not end');
    else if (left.length > 0) fail(`the terminal is left with ${left.join(', ')}`);
    screen.close();
    this.#screen = undefined;
    await time.pass(restMs);
  }

  #desk(screen: SimulatedScreen): Desk {
    return {
      text: () => screen.text(),
      hasEnded: () => screen.code !== undefined,
      send: input => screen.send(input),
      rest: () => this.#options.time.pass(200),
      address: this.#options.proxy.baseUrl,
    };
  }

  #judge(screen: SimulatedScreen): void {
    const { fail, count, proxy } = this.#options;
    const { columns, rows } = screen.size;
    const text = screen.text();
    count('screens judged');
    const failures = [...frameFailures(text, columns, rows)];
    const slip = slipOn(text, () => proxy.exchanges.map(({ sent }) => sent).join('\n'));
    if (slip !== undefined) failures.push(`the screen says ${slip}`);
    if (hasSecret(text)) failures.push('a credential is on the screen');
    for (const what of failures) fail(`${what}:\n${text}`);
  }

  /** The failures that remain once the view has had time to read its data. */
  async #wrongOnceRead(judge: () => readonly string[]): Promise<readonly string[]> {
    let wrong: readonly string[] = [];
    for (let waited = 0; waited < readMs; waited += judgeMs) {
      await this.#options.time.pass(judgeMs);
      wrong = judge();
      if (wrong.length === 0) break;
    }
    return wrong;
  }

  /** Law: in a new screen on a sound service, the count of a section equals that of its list and of the service. */
  async compareCounts(): Promise<void> {
    const { time, stored, fail, count } = this.#options;
    const screen = await this.#open({ view: 'list', resource: 'benchmarks' }, true);
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
      count('counts compared');
      const wrong = await this.#wrongOnceRead(() => {
        const there = stored(what);
        const text = screen.text();
        const shown = shownRows(mainPane(text));
        const section = new RegExp(`^│ +${title} +(\\d+)(\\+?) *│`, 'm').exec(text);
        return [
          ...(shown.rows === there || shown.more ? [] : [`${shown.rows} of ${there} ${what} are shown:\n${text}`]),
          ...(section && section[2] !== '+' && Number(section[1]) !== there
            ? [`${title} ${section[1]} in the sections, and there are ${there}:\n${text}`]
            : []),
        ];
      });
      for (const each of wrong) fail(each);
    }
    await this.end();
  }

  /** Law: a view shows the data of the answers, and names what it omits. */
  async lookAt(look: Look): Promise<void> {
    const { time, ids, proxy, fail, count } = this.#options;
    const place = placeOf(look, ids());
    if (!place) return;
    proxy.setFaults(look.faults, agents.screen);
    const before = proxy.exchanges.at(-1);
    const screen = await this.#open(place, true);
    screen.resize(200, 60);
    const exchanges = (): typeof proxy.exchanges =>
      proxy.exchanges.slice(before ? proxy.exchanges.indexOf(before) + 1 : 0);
    for (let turn = 0; turn < 6 && !isAnswered(look, exchanges()); turn += 1) await time.pass(10_000);
    count('views compared');
    const faults = JSON.stringify(look.faults);
    for (const what of await this.#wrongOnceRead(() => failuresOf(look, screen.text(), exchanges())))
      fail(`${look.view}: ${what}:\n${screen.text()}\n${faults}`);
    await this.end();
    proxy.setFaults([], agents.screen);
  }
}
