/** `benchtop chat`: asks a model, once or in a conversation, and streams the answer. */

import { createInterface } from 'node:readline';
import { Answer, describeCall, describeLeftOut, type ToolCall } from '../chat/answer.ts';
import { chatRoute } from '../chat/route.ts';
import { declaresField } from '../contract/fields.ts';
import { type EarlyEnd, earlyEndOf } from '../contract/finish-reason.ts';
import { type ChatMessage, chatCompletion } from '../contract/inference.ts';
import { callOf } from '../present/transcript-calls.ts';
import { type ChatOptions, type ChatRequest, eventsOfCompletion } from '../service/chat.ts';
import { isGone } from '../service/errors.ts';
import type { RememberedStore } from '../store/store.ts';
import { cleanStream } from '../text/clean-stream.ts';
import { withoutData, withoutDataStream } from '../text/data-urls.ts';
import { bytes, counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { type CommandIo, type LineMode, readInput } from './io.ts';
import { checkField, printRecord, printsRecord } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

type ChatContext = Pick<CommandContext, 'service' | 'memory' | 'signal'>;

/**
 * Asks a model, or a deployment by id. `onPiece` gets the text of the answer piece by piece, including a refusal.
 * `onReasoning` gets all of the reasoning, before the text if it came first.
 *
 * @throws ServiceError
 */
export async function askModel(
  { service, memory, signal }: ChatContext,
  request: ChatRequest,
  onPiece: (piece: string) => Promise<void> | void,
  { whole, onReasoning }: Pick<ChatOptions, 'whole'> & { readonly onReasoning?: (text: string) => void } = {},
): Promise<Answer> {
  const answer = new Answer(request.model);
  let shown = 0;
  const tellReasoning = (): void => {
    const reasoning = answer.reasoning.slice(shown);
    shown = answer.reasoning.length;
    if (reasoning !== '') onReasoning?.(reasoning);
  };
  const { model, at } = await chatRoute(service, memory, request.model, signal, true);
  for await (const event of service.chat.stream({ ...request, model }, { signal, at, whole })) {
    const { content, refusal } = answer;
    answer.add(event);
    if (event.kind !== 'delta' || event.index !== 0) continue;
    if (answer.words !== '') tellReasoning();
    if (event.content !== undefined) await onPiece(event.content);
    if (event.refusal === undefined) continue;
    const before = refusal === '' ? `${content === '' ? '' : '\n\n'}${refusalHead}` : '';
    await onPiece(before + event.refusal);
  }
  tellReasoning();
  return answer;
}

/** Printed before a refusal. */
const refusalHead = 'refusal: ';

/** A note if a different model answered. */
const answererNotes = ({ answeredBy }: Answer): string[] =>
  answeredBy === undefined
    ? []
    : [clean`Answered by ${answeredBy}, according to the service, not by the model you asked.`];

const earlyEndNotes: Record<EarlyEnd, string> = {
  'token limit': 'The answer was cut off at its token limit.',
  'content filter': 'The service withheld the answer, or part of it: content_filter.',
  refusal: 'The model refused.',
  error: 'The answer ended with an error.',
};

/** Notes about an answer, to show with its text. */
function answerNotes(answer: Answer): string[] {
  const { content, refusal, reason, extras } = answer;
  const { calls = [], leftOut } = extras;
  const left = describeLeftOut(leftOut);
  const end = earlyEndOf(reason);
  const ends = new Set<EarlyEnd>([...(refusal === '' ? [] : ['refusal' as const]), ...(end ? [end] : [])]);
  return [
    ...answererNotes(answer),
    ...calls.map(call => clean`The model ${describeCall(call)}.`),
    ...Array.from(ends, end => earlyEndNotes[end]),
    ...(content === '' && ends.size === 0
      ? [clean`The answer has no text${reason === undefined ? '' : `: ${reason}`}.`]
      : []),
    ...(left === '' ? [] : [`${left}.`]),
  ];
}

/** A tool call on one line, as transcripts show it. */
function callLine({ name, input }: ToolCall): string {
  const { summary, more } = callOf(JSON.stringify({ name, arguments: input }));
  const rest = more === 0 ? '' : `(+${counted(more, 'line')})`;
  return clean`${[name, summary, rest].filter(Boolean).join('  ')}`;
}

/** A refusal, or an answer without text, is a failure. */
const codeOf = ({ content, refusal }: Answer): ExitCode =>
  content === '' || refusal !== '' ? exitCodes.failed : exitCodes.done;

/** The ids of deployments that have this slug but were not serving it when last seen. */
const inactiveOf = (memory: RememberedStore, slug: string): string[] =>
  memory.seen
    .list('deployment')
    .flatMap(({ id, label, record }) => (label === slug && record['is_active'] === false ? [id] : []));

export async function run({ args, flags }: CommandInput<'chat'>, io: CommandIo): Promise<number> {
  const [model = '', ...words] = args;
  const parameters = { temperature: flags.temperature, top_p: flags.topP, max_tokens: flags.maxTokens };
  const history: ChatMessage[] = flags.system === undefined ? [] : [{ role: 'system', content: flags.system }];

  checkField(flags, [chatCompletion]);
  const mayLackField = (names: readonly string[]): boolean => declaresField(chatCompletion, names);
  return withService(flags, io, async ({ service, memory, signal }) => {
    /** Sends the conversation so far and adds the answer to it. */
    const answer = async (content: string, until: AbortSignal): Promise<ExitCode> => {
      try {
        return await send(content, until);
      } catch (error) {
        const ids = isGone(error) ? inactiveOf(memory, model) : [];
        if (ids.length > 0)
          io.note(clean`${ids.join(', ')} has the slug ${model} but does not serve it: chat with its id.`);
        throw error;
      }
    };
    const send = async (content: string, until: AbortSignal): Promise<ExitCode> => {
      const question = { role: 'user', content };
      const request = { model, messages: [...history, question], ...parameters };
      if (printsRecord(flags)) {
        const { model: name, at } = await chatRoute(service, memory, model, until, true);
        const completion = await service.chat.complete({ ...request, model: name }, { signal: until, at });
        await printRecord(completion, completion.id ?? '', flags, io, { mayLack: mayLackField });
        const whole = new Answer(model);
        for (const event of eventsOfCompletion(completion, name)) whole.add(event);
        const code = codeOf(whole);
        // The printed record contains the other notes.
        for (const note of (code === exitCodes.done ? answererNotes : answerNotes)(whole)) io.note(note);
        history.push(question, { role: 'assistant', content: withoutData(whole.words) });
        return code;
      }
      const [cleaned, shortened] = [cleanStream(), withoutDataStream()];
      const context = { service, memory, signal: until };
      const print = (piece?: string) => io.print(cleaned(shortened(piece)));
      const onReasoning = (text: string): void => {
        for (const line of text.trim().split('\n')) io.note(`reasoning: ${line}`);
      };
      const asking = async () => {
        try {
          return await askModel(context, request, print, { whole: flags.noStream, onReasoning });
        } finally {
          await print();
        }
      };
      const answered = await asking();
      if (answered.words !== '') await io.print('\n');
      else for (const call of answered.extras.calls ?? []) await io.print(`${callLine(call)}\n`);
      for (const note of answerNotes(answered)) io.note(note);
      history.push(question, { role: 'assistant', content: withoutData(answered.words) });
      return codeOf(answered);
    };

    if (words.length > 0 || !io.input.isTTY)
      return answer(await textToAsk(words, flags.ignoreInput ?? false, io), signal);
    await (io.lines ? converseInLines(io.lines, io, answer, signal) : converse(io, answer));
    return exitCodes.done;
  });
}

/** How long to wait for piped text, in milliseconds. */
const pipeMs = 10_000;

/**
 * The words, followed by piped text. Schedulers and daemons start programs with a pipe that nobody writes to or closes,
 * so the wait is short if there are words to ask with. `-` after the words waits for the end of the pipe.
 *
 * @throws CommandError if there is no text
 */
async function textToAsk(words: readonly string[], ignoreInput: boolean, io: CommandIo): Promise<string> {
  const waits = words.at(-1) === '-';
  const own = (waits ? words.slice(0, -1) : words).join(' ');
  const isPiped = !ignoreInput && (waits || !io.input.isTTY);
  const piped = isPiped ? await readInput(io, waits || own === '' ? undefined : pipeMs) : '';
  if (piped === undefined) {
    io.note(
      `No piped input within ${pipeMs / 1000} seconds: asking without it. Add - after the text to wait for it, or < /dev/null if there is none.`,
    );
  }
  const more = piped?.trim() ?? '';
  if (own !== '' && more !== '') {
    const size = bytes(Buffer.byteLength(more));
    io.note(`${size} of standard input follow the text. In a loop, -n keeps chat from reading the loop's input.`);
  }
  const prompt = [own, more].filter(Boolean).join('\n\n');
  if (prompt === '') throw new CommandError('There is nothing to ask: give some text, or pipe it in.');
  return prompt;
}

type AnswerTo = (text: string, until: AbortSignal) => Promise<ExitCode>;

/** Runs a conversation in line mode, until an empty line. */
async function converseInLines({ ask }: LineMode, io: CommandIo, answer: AnswerTo, signal: AbortSignal): Promise<void> {
  for (let text = await ask('you:', false); text.trim() !== ''; text = await ask('you:', false)) {
    await answer(text, signal).catch(error => {
      signal.throwIfAborted();
      return io.fail(error);
    });
  }
}

/** Runs a conversation. Ctrl-c stops the current answer, or ends the conversation. */
async function converse(io: CommandIo, answer: AnswerTo): Promise<void> {
  const terminal = createInterface({ input: io.input, output: process.stderr, prompt: 'you: ' });
  let stop: AbortController | undefined;
  let isOpen = true;
  // Lines typed before ctrl-d are still sent.
  terminal.once('close', () => {
    isOpen = false;
  });
  terminal.on('SIGINT', () => {
    if (stop) return stop.abort();
    // Ends the prompt's line.
    io.note('');
    terminal.close();
  });
  terminal.prompt();
  for await (const line of terminal) {
    if (line.trim() === '') break;
    stop = new AbortController();
    try {
      await answer(line, stop.signal);
    } catch (error) {
      if (stop.signal.aborted) {
        // Starts a new line after the terminal's ^C.
        io.note('');
        io.note('Stopped.');
      } else await io.fail(error);
    }
    stop = undefined;
    if (isOpen) terminal.prompt();
  }
  terminal.close();
}
