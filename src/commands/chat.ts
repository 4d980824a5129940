/** `benchtop chat`: asks a model, once or in a conversation, and writes the answer as it comes. */

import { createInterface } from 'node:readline';
import { text as readAll } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import type { ChatMessage } from '../contract/inference.ts';
import type { ChatRequest } from '../service/chat.ts';
import type { Service } from '../service/index.ts';
import { cleanStream } from '../text/clean-stream.ts';
import { own } from '../text/own.ts';
import { CommandError, describeFailure, exitCodes } from './failure.ts';
import { configFlags, configOptions } from './flags.ts';
import { type CommandIo, processIo } from './io.ts';
import { recordText } from './output.ts';
import { withService } from './with-service.ts';

export const help = `benchtop chat MODEL [TEXT…] [options]

  Asks once where there is a text, or one is piped in; else talks until an empty line.

  --system TEXT         what the model is told first
  --temperature N       0 takes the likeliest word each time
  --top-p N             samples from the likeliest words only
  --max-tokens N        the longest answer
  --json                the whole answer as the service sent it, once it is there
`;

const text = { type: 'string' } as const;
const options = {
  ...configOptions,
  system: text,
  temperature: text,
  'top-p': text,
  'max-tokens': text,
  json: { type: 'boolean' },
} as const;

function numberOf(values: Readonly<Record<string, unknown>>, flag: string): number | undefined {
  const value = own(values, flag);
  if (value === undefined) return undefined;
  const number = value === '' ? Number.NaN : Number(value);
  if (Number.isNaN(number)) throw new CommandError(`--${flag} takes a number.`);
  return number;
}

export interface Answer {
  readonly content: string;
  /** Why the model stopped, where the service said so. */
  readonly reason: string | undefined;
}

/** Asks, and gives each piece of the answer as it comes. @throws ServiceError */
export async function ask(
  service: Service,
  request: ChatRequest,
  onPiece: (piece: string) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<Answer> {
  let content = '';
  let reason: string | undefined;
  for await (const event of service.chat.stream(request, { signal })) {
    if (event.kind === 'finish') reason = event.reason;
    if (event.kind !== 'delta' || event.content === undefined) continue;
    content += event.content;
    await onPiece(event.content);
  }
  return { content, reason };
}

/** The words of the command line, and from which of them on they are the text: behind the model. */
function readWords(args: readonly string[]) {
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const [, second] = tokens.filter(token => token.kind === 'positional');
  return { tokens, textAt: second?.index ?? args.length };
}

/** In a text `-h` is a word. */
export function asksForHelp(args: readonly string[]): boolean {
  const { tokens, textAt } = readWords(args);
  return tokens.some(token => token.kind === 'option' && /^h(elp)?$/.test(token.name) && token.index < textAt);
}

/** Separates the text from the flags. Known flags may also follow the text; any other word there belongs to it. */
function readArgs(args: readonly string[]) {
  const { tokens, textAt } = readWords(args);
  const inText = new Set(
    tokens
      .filter(token => token.index >= textAt)
      .filter(token => token.kind === 'positional' || (token.kind === 'option' && !Object.hasOwn(options, token.name)))
      .map(token => token.index),
  );
  const flags = args.filter((_, index) => !inText.has(index));
  const { values, positionals } = parseArgs({ args: flags, options, allowPositionals: true });
  return { values, model: positionals[0], words: args.filter((_, index) => inText.has(index)) };
}

export async function run(args: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const { values, model, words } = readArgs(args);
  if (model === undefined) throw new CommandError(`Say which model to ask.\n\n${help}`);
  const parameters = {
    temperature: numberOf(values, 'temperature'),
    top_p: numberOf(values, 'top-p'),
    max_tokens: numberOf(values, 'max-tokens'),
  };
  const said: ChatMessage[] = values.system === undefined ? [] : [{ role: 'system', content: values.system }];

  return withService(configFlags(values), io, async ({ service, signal }) => {
    /** Asks with what has been said so far; the answer becomes part of it. */
    const answer = async (content: string, until: AbortSignal): Promise<void> => {
      const question = { role: 'user', content };
      const request = { model, messages: [...said, question], ...parameters };
      if (values.json) {
        await io.print(recordText(await service.chat.complete(request, { signal: until })));
        return;
      }
      const clean = cleanStream();
      const { content: answered, reason } = await ask(service, request, piece => io.print(clean(piece)), until);
      await io.print('\n');
      if (reason === 'length') io.note('The answer was cut off at its longest.');
      said.push(question, { role: 'assistant', content: answered });
    };

    if (words.length > 0 || !io.input.isTTY) {
      const asked = words.length > 0 ? words.join(' ') : (await readAll(io.input)).trim();
      if (asked === '') throw new CommandError('There is no text to ask with.');
      await answer(asked, signal);
    } else await talk(io, answer);
    return exitCodes.done;
  });
}

/** Question after question. Ctrl-c stops an answer, and ends the talk where there is none. */
async function talk(io: CommandIo, answer: (text: string, until: AbortSignal) => Promise<void>): Promise<void> {
  const terminal = createInterface({ input: io.input, output: process.stderr, prompt: 'you: ' });
  let stop: AbortController | undefined;
  terminal.on('SIGINT', () => (stop ? stop.abort() : terminal.close()));
  terminal.prompt();
  for await (const line of terminal) {
    if (line.trim() === '') break;
    stop = new AbortController();
    try {
      await answer(line, stop.signal);
    } catch (error) {
      io.note(stop.signal.aborted ? '\nStopped.' : describeFailure(error, false));
    }
    stop = undefined;
    terminal.prompt();
  }
  terminal.close();
}
