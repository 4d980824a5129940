/**
 * `benchtop --lines`: the workbench as plain lines, for screen readers and basic terminals. The user types a command
 * and the reply appears below it; nothing moves or is redrawn, and no escape sequences are written.
 */

import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { asError } from '../base/errors.ts';
import { hasEnded } from '../contract/status.ts';
import { type Column, cellText } from '../present/column.ts';
import { type Fact, withValue } from '../present/fact.ts';
import { readListed } from '../queries/lists/list-source.ts';
import { rememberRows } from '../queries/remembered-fallback.ts';
import { refOf, resources } from '../resources/catalogue.ts';
import { type Resource, wordFor, wordsFor } from '../resources/define.ts';
import { lookAt } from '../resources/look.ts';
import { describeError, isUnanswered } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { ResourceRef } from '../store/store.ts';
import { asReceived, counted } from '../text/numbers.ts';
import { clean, sanitise, sanitiseLine } from '../text/sanitise.ts';
import { answerNotes, ask } from './chat.ts';
import { exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { actOf, isVerb, type LinePrompt } from './line-actions.ts';
import { withMeasured } from './measured-rows.ts';
import { seenWords } from './seen.ts';
import { Session } from './session.ts';
import type { WorkbenchFlags } from './table/commands.ts';

/** Leaves out resources that are listed only within another one. */
const listed = resources.filter(({ needs }) => !needs);

const reading = `Type one of:
  ${listed.map(({ names: [name] }) => name).join(', ')}
                       a list; each line begins with its number
  3                    everything about number 3 of the list
  find WORDS           rows that contain the words; find alone shows all rows again
  follow 3             prints each change of a run, a training run or a deployment until it ends; enter stops
  chat MODEL           chat with a model; an empty line ends it`;

const writing = `
  evaluate 3           on a benchmark: asks for model and name, and starts
  train 3              on a benchmark: asks for model and name, and starts
  deploy 3             a training run's last checkpoint: asks for the slug, and starts
  cancel, delete 3     a run or a training run; delete also a secret
  undeploy 3           a deployment
  build 3              the images of a benchmark`;

const helpOf = (readOnly: boolean): string => `${reading}${readOnly ? '' : writing}\n  help, quit`;

/** Interval between reads of a followed resource, in milliseconds. */
const followMs = 2_000;
const listMs = 60_000;

/** The last printed list, which typed numbers refer to. */
interface ShownList {
  readonly resource: Resource;
  readonly rows: readonly object[];
  /** The columns that make up a line. */
  readonly columns: readonly Column<object>[];
}

class Lines {
  readonly #session: Session;
  readonly #terminal: Interface;
  readonly #output: Writable;
  /** The lines typed or piped in. */
  readonly #lines: AsyncIterator<string>;
  /** Aborts on ctrl-c. */
  readonly #signal: AbortSignal;
  #shown: ShownList | undefined;
  #find = '';

  constructor(session: Session, terminal: Interface, output: Writable, signal: AbortSignal) {
    this.#session = session;
    this.#terminal = terminal;
    this.#lines = terminal[Symbol.asyncIterator]();
    this.#output = output;
    this.#signal = signal;
  }

  /** The next command line; undefined at the end of the input. */
  async next(): Promise<string | undefined> {
    this.#output.write('> ');
    const { value, done } = await this.#lines.next();
    return done ? undefined : value;
  }

  say(text: string): void {
    this.#output.write(`${sanitise(text, { multiline: true })}\n`);
  }

  #service(): Promise<Service> {
    return this.#session.workbench.service();
  }

  /** Reads the next line as the answer to a question. @throws Error at the end of the input */
  async #nextLine(question: string): Promise<string> {
    this.#output.write(`${sanitiseLine(question)} `);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('The input ended before the answer. Nothing was sent.');
    return value;
  }

  readonly #ask: LinePrompt['ask'] = async (question, usual = '') => {
    const words = `${question}${usual === '' ? '' : ` (enter for ${usual})`}:`;
    for (;;) {
      const answer = (await this.#nextLine(words)).trim() || usual;
      if (answer !== '') return answer;
      this.say('It cannot be empty.');
    }
  };

  readonly #choose: LinePrompt['choose'] = async (question, choices) => {
    const all = choices.join(' or ');
    for (;;) {
      const answer = await this.#ask(`${question}, ${all}`, choices[0]);
      const chosen = choices.find(choice => choice === answer);
      if (chosen !== undefined) return chosen;
      this.say(`${answer} is not ${all}.`);
    }
  };

  /** Returns false once the user wants to leave. */
  async hear(line: string): Promise<boolean> {
    const [first = '', ...rest] = line.trim().split(/\s+/);
    const words = rest.join(' ');
    const resource = listed.find(({ names }) => names.includes(first));
    if (first === '') return true;
    if (first === 'quit' || first === 'exit' || first === 'q') return false;
    if (isVerb(first)) await this.#act(first, words);
    else if (resource) await this.#list(resource);
    else if (first === 'find') this.#search(words);
    else if (/^\d+$/.test(first)) this.#show(first);
    else if (first === 'follow') await this.#follow(words);
    else if (first === 'chat') await this.#chat(words);
    else if (first === 'help') this.say(helpOf(this.#session.workbench.readOnly));
    else this.say(`There is no command ${first}. Type help for the list.`);
    return true;
  }

  async #list(resource: Resource): Promise<void> {
    const source = resource.list({});
    const service = await this.#service();
    const { remembered, compare } = this.#session.workbench;
    const page = await readListed(source, {
      service,
      query: { limit: 100 },
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(listMs)]),
      memory: remembered,
    });
    rememberRows(remembered, source, page.items);
    const { measures } = resource;
    const columnsOf = (rows: readonly object[]): readonly Column<object>[] =>
      (measures?.columns(rows, compare.rewardRange) ?? resource.columns).filter(
        // Other wide columns make the line longer, and some need a request per row.
        ({ wide, decides = 9, hidden }) => !hidden && (!wide || decides <= 3),
      );
    const costly = columnsOf(page.items).filter(({ id }) => measures?.costly.includes(id));
    const context = {
      service,
      signal: this.#signal,
      memory: remembered,
      compare,
      note: (text: string) => this.say(text),
    };
    const rows = await withMeasured(resource, page.items, new Set(costly.map(({ id }) => id)), context);
    this.#shown = { resource, rows, columns: columnsOf(rows) };
    this.#find = '';
    this.#print();
    if (page.note) this.say(page.note);
    if (page.has_more) this.say('There are more on the service; these are the first.');
  }

  /** The numbered rows: all of them, or those that `find` matched. */
  #rows(): readonly object[] {
    const { columns = [], rows = [] } = this.#shown ?? {};
    if (this.#find === '') return rows;
    return rows.filter(row => rowLine(columns, row).toLowerCase().includes(this.#find.toLowerCase()));
  }

  #print(): void {
    const rows = this.#rows();
    if (!this.#shown) return;
    const { resource, columns } = this.#shown;
    this.say(counted(rows.length, wordFor(resource), wordsFor(resource)));
    for (const [index, row] of rows.entries()) this.say(`${index + 1}. ${rowLine(columns, row)}`);
  }

  #search(words: string): void {
    if (!this.#shown) this.say('Ask for a list first.');
    this.#find = words;
    this.#print();
  }

  /** The row whose number was typed after `command`; prints what is wrong and returns undefined if there is none. */
  #row(typed: string, command = 'show'): object | undefined {
    if (!this.#shown) {
      this.say('Ask for a list first.');
      return undefined;
    }
    if (!/^\d+$/.test(typed)) {
      this.say(`${command} needs the number of a row in the list, e.g. ${command} 1.`);
      return undefined;
    }
    const row = this.#rows()[Number(typed) - 1];
    if (!row) this.say(`There is no number ${typed} in the list.`);
    return row;
  }

  #show(number: string): void {
    const row = this.#row(number);
    if (!row || !this.#shown) return;
    const { resource, columns } = this.#shown;
    const measured = columns.filter(({ id }) => resource.measures?.costly.includes(id));
    const facts: readonly Fact[] = [
      ...resource.facts(row),
      ...measured.map(column => ({ label: column.title.toLowerCase(), value: cellText(column, row) })),
    ];
    for (const { label, value } of withValue(facts)) this.say(clean`${label}: ${asReceived(value)}`);
  }

  async #follow(number: string): Promise<void> {
    const row = this.#row(number, 'follow');
    const resource = this.#shown?.resource;
    const followed = row && resource?.watch?.runs ? refOf(resource, row) : undefined;
    if (!followed) {
      if (row) this.say('Only runs, training runs and deployments can be followed.');
      return;
    }
    const entered = new AbortController();
    const stop = (): void => entered.abort();
    // Any typed line stops it.
    this.#terminal.once('line', stop);
    const signal = AbortSignal.any([this.#signal, entered.signal]);
    try {
      await this.#printChanges(followed, signal);
    } catch (error) {
      if (!entered.signal.aborted) throw error;
    } finally {
      this.#terminal.off('line', stop);
    }
  }

  async #printChanges(followed: ResourceRef, signal: AbortSignal): Promise<void> {
    let printed = '';
    for (;;) {
      const { remembered: memory, compare } = this.#session.workbench;
      const seen = await lookAt(followed, { service: await this.#service(), signal, memory, compare });
      const words = [seenWords(seen), ...seen.unreadable].join('. ');
      if (words !== printed) this.say(words);
      printed = words;
      if (hasEnded(seen.status)) return;
      await wait(followMs, undefined, { signal });
    }
  }

  async #act(verb: string, number: string): Promise<void> {
    const service = await this.#service();
    // Check before the first question.
    service.requireWrites();
    const row = this.#row(number, verb);
    if (!row) return;
    const act = this.#shown && actOf(this.#shown.resource, verb);
    if (!act) {
      this.say(`${verb} is not for ${this.#shown?.resource.names[0] ?? 'this'}.`);
      return;
    }
    const { config, workbench } = this.#session;
    const { remembered: memory, compare } = workbench;
    const say = (text: string): void => this.say(text);
    const context = { config, service, memory, compare, note: say, signal: this.#signal };
    const prompt = { ask: this.#ask, choose: this.#choose, say };
    this.say(await act(row as never, prompt, context));
  }

  async #chat(model: string): Promise<void> {
    const chosen = model || (await this.#ask('Which model'));
    const messages: { role: string; content: string }[] = [];
    for (;;) {
      const text = await this.#nextLine('you:');
      if (text.trim() === '') return;
      messages.push({ role: 'user', content: text });
      // Printed whole, not streamed: a screen reader reads each line from its beginning.
      const request = { model: chosen, messages };
      const context = {
        service: await this.#service(),
        memory: this.#session.workbench.remembered,
        signal: this.#signal,
      };
      const answer = await ask(context, request, () => {});
      this.say(`${sanitiseLine(chosen)}: ${answer.words}`);
      for (const note of answerNotes(answer)) this.say(note);
      messages.push({ role: 'assistant', content: answer.words });
    }
  }
}

/** A row in words, without its empty columns. */
function rowLine(columns: readonly Column<object>[], row: object): string {
  return columns
    .map(column => [column, sanitiseLine(cellText(column, row))] as const)
    .filter(([, text]) => text !== '')
    .map(([column, text], index) => (index === 0 || column.status ? text : `${column.title.toLowerCase()} ${text}`))
    .join(', ');
}

export async function run({ lines: _, debug: __, ...flags }: WorkbenchFlags, io: CommandIo): Promise<number> {
  const session = new Session(flags, io.environment);
  const output = new Writable({
    decodeStrings: false,
    write: (text, _, done) => void io.print(String(text)).then(() => done(), done),
  });
  const terminal = createInterface({ input: io.input, output, terminal: false });
  io.stopOnSignals?.();
  const lines = new Lines(session, terminal, output, io.signal);
  io.signal.addEventListener('abort', () => terminal.close(), { once: true });
  lines.say(`benchtop, ${session.connection.current}. Type help for the commands.`);
  for (const origin of session.connection.origins) lines.say(origin);
  try {
    for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
      try {
        if (!(await lines.hear(line))) break;
      } catch (error) {
        // Say what may have been started, even to a user who is leaving.
        if (io.signal.aborted && !isUnanswered(error)) break;
        lines.say(clean`This did not work: ${describeError(asError(error))}`);
      }
    }
  } finally {
    terminal.close();
    await session.close();
  }
  return io.signal.aborted ? exitCodes.interrupted : exitCodes.done;
}
