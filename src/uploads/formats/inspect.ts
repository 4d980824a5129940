/** Logs from Inspect. */
import { isRecord, own } from '../../base/own-property.ts';
import {
  describeProblem,
  type Fields,
  type ForeignRecord,
  isMissing,
  keptFields,
  numberOf,
  othersOf,
  recordOf,
  recordsIn,
  type Scores,
  stepsOf,
  textOf,
  unreadableRewards,
  withoutEmpty,
  wordOf,
} from './fields.ts';

/** The values of Inspect's grades (correct, partially correct, incorrect, no answer) and words, as Inspect reads them. */
const inspectGrades: Readonly<Record<string, number>> = { C: 1, P: 0.5, I: 0, N: 0 };
const inspectAnswers: Readonly<Record<string, number>> = { yes: 1, true: 1, no: 0, false: 0 };

function inspectNumber(value: unknown): number | undefined {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string') return numberOf(value);
  const word = own<number>(inspectGrades, value) ?? own<number>(inspectAnswers, value.toLowerCase());
  const number = word ?? Number(value.trim() || Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}

interface InspectReward {
  readonly name: string;
  readonly score: unknown;
  /** The score as a number; undefined if it is not a number. */
  readonly value: number | undefined;
  readonly explanation: string | undefined;
}

/** A sample's scores by scorer. */
const scoresIn = ({ scores, score }: Fields): Fields => recordOf(scores ?? (isRecord(score) ? { score } : undefined));

/** A score's values by name: a single one, or one per named value. */
const partsOf = (name: string, value: unknown): [name: string, value: unknown][] =>
  isRecord(value) ? Object.entries(value).map(([part, each]) => [`${name}.${part}`, each]) : [[name, value]];

/** The first scorer that a log names, as its samples name it. An unfinished log has no results yet. */
function firstScorer({ results, eval: evaluation }: Fields): string | undefined {
  const [scored] = recordsIn(recordOf(results)['scores']);
  const [scorer] = recordsIn(recordOf(evaluation)['scorers']);
  // A scorer from a package has the package's name before its own.
  return textOf(scored?.['scorer']) ?? textOf(scorer?.['name'])?.replace(/^.*\//, '');
}

/**
 * The score that is the reward: the first scorer's, unless it gives several. A scorer may give none to the first
 * sample, so the log's order of scorers counts before that of the samples, whose names may differ from the log's.
 *
 * @returns also whether more samples would not change it
 */
export function rewardScoreOf(
  samples: readonly Fields[],
  log: Fields,
): (Pick<Scores, 'reward'> & { readonly isSure: boolean }) | undefined {
  const all = samples.map(scoresIn);
  const first = firstScorer(log);
  const names = all.flatMap(scores => Object.keys(scores));
  const name = first !== undefined && names.includes(first) ? first : names[0];
  if (name === undefined) return undefined;
  const value = all.map(scores => recordOf(own(scores, name))['value']).find(each => !isMissing(each));
  const parts = partsOf(name, value);
  const isSure = value !== undefined && name === (first ?? name);
  return { reward: parts.length === 1 ? parts[0]?.[0] : undefined, isSure };
}

/** An Inspect score as rewards. */
function inspectRewards(name: string, { value, explanation, answer }: Fields): InspectReward[] {
  const answered = textOf(answer);
  const words = [answered && `answered ${answered}`, textOf(explanation)].filter(Boolean).join('\n') || undefined;
  return partsOf(name, value)
    .filter(([, score]) => !isMissing(score))
    .map(([part, score]) => ({ name: part, score, value: inspectNumber(score), explanation: words }));
}

const inspectLimits: Readonly<Record<string, string>> = {
  message: 'MAX_STEPS',
  time: 'TIMEOUT',
  working: 'TIMEOUT',
  token: 'LIMIT_REACHED',
  context: 'TRUNCATION',
};

/** Restores strings that Inspect stores once and refers to by hash. */
function withAttachments(value: unknown, attachments: Fields): unknown {
  if (typeof value === 'string') {
    const [, hash] = /^attachment:\/\/([0-9a-f]+)$/.exec(value) ?? [];
    return hash === undefined ? value : (own<unknown>(attachments, hash) ?? value);
  }
  if (Array.isArray(value)) return value.map(each => withAttachments(each, attachments));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withAttachments(each, attachments)]));
}

/** An Inspect message with its tool calls and errors in OpenAI's form. */
function inspectMessage(message: Fields): Fields {
  const { id: _, source: __, tool_calls, function: called, error, ...rest } = message;
  const calls = recordsIn(tool_calls).map(({ id, function: name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) },
  }));
  const { message: problem, ...about } = recordOf(error);
  const parts = recordsIn(rest['content']).map(inspectPart);
  return {
    ...rest,
    ...(parts.length > 0 && { content: parts }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(called !== undefined && { name: called }),
    ...(textOf(problem) !== undefined && {
      is_error: true,
      ...(rest['content'] ? { error } : { content: problem, error: about }),
    }),
  };
}

/** Converts Inspect's reasoning and images to forms that the transcript shows. */
function inspectPart(part: Fields): Fields {
  if (part['type'] === 'reasoning') return { type: 'thinking', thinking: part['reasoning'] ?? part['summary'] ?? '' };
  if (part['type'] === 'image') return { type: 'image_url', image_url: { url: part['image'] } };
  return part;
}

const sampleFields = ['id', 'epoch', 'messages', 'scores', 'score', 'error', 'limit', 'attachments', 'output'];
const sampleMetadata = ['target', 'metadata', 'input', 'choices', 'total_time', 'working_time', 'model_usage'];

/**
 * Converts a sample from an Inspect log, and counts the scores that are not numbers. Scores other than the reward weigh
 * nothing, because scorers also count tokens and the like.
 *
 * @param log names the task
 */
function inspectSample(sample: Fields, log: Fields, reward: string | undefined) {
  const { error, limit, attachments } = sample;
  const scored = Object.entries(scoresIn(sample)).flatMap(([name, each]) => inspectRewards(name, recordOf(each)));
  const rewards = scored
    .filter(({ value }) => value !== undefined)
    .map(({ name, value, explanation }) =>
      withoutEmpty({ name, value, weight: name === reward ? undefined : 0, explanation }),
    );
  const unreadable = scored
    .filter(({ value }) => value === undefined)
    .map(({ name, score: value }) => [name, value] as const);
  const messages = recordsIn(withAttachments(sample['messages'], recordOf(attachments)));
  const { model, task } = recordOf(log['eval']);
  const stop = textOf(recordOf(recordsIn(recordOf(sample['output'])['choices'])[0])['stop_reason']);
  const end = messages.findLastIndex(({ role }) => role === 'assistant');
  const marked = messages.map((message, index) => ({
    ...inspectMessage(message),
    // The record names the model.
    ...(message['model'] === model && { model: undefined }),
    ...(index === end && stop !== undefined && { finish_reason: stop }),
  }));
  const type = textOf(recordOf(limit)['type']);
  const id = wordOf(sample['id']);
  const name = textOf(model);
  const usage = recordOf(name && own(recordOf(sample['model_usage']), name));
  const record = withoutEmpty({
    task_id: id,
    model_id: name,
    completion_tokens: usage['output_tokens'],
    error: isRecord(error) ? textOf(error['message']) : textOf(error),
    termination_reason: type && (own<string>(inspectLimits, type) ?? 'LIMIT_REACHED'),
    rewards,
    metadata: {
      ...keptFields(sample, sampleMetadata),
      ...withoutEmpty({ task, epoch: sample['epoch'] }),
      ...unreadableRewards(unreadable),
    },
    steps: stepsOf(marked),
  });
  return { record, unreadRewards: unreadable.length, names: scored.map(each => each.name) };
}

/** How a log's run ended, unless it succeeded and has samples. */
export function inspectEnd({ eval: evaluation, status, error }: Fields, samples: number): string | undefined {
  if (typeof status !== 'string' || (status === 'success' && samples > 0)) return undefined;
  const task = textOf(recordOf(evaluation)['task']) ?? 'the log';
  const why = error == null ? '' : `: ${describeProblem(error)}`;
  return `The run of ${task} has the status ${status}${samples === 0 ? ' and no samples' : ''}${why.replace(/\.$/, '')}.`;
}

export function fromInspect(fields: Fields, chosen?: Pick<Scores, 'reward'>): ForeignRecord | undefined {
  // A run that ended before its first sample leaves a log with a plan but no samples.
  const { eval: evaluation, plan, samples = isRecord(plan) ? [] : undefined } = fields;
  if (!isRecord(evaluation) || !Array.isArray(samples)) return undefined;
  const all = recordsIn(samples);
  const leftOut = new Set(all.flatMap(sample => othersOf(sample, [...sampleFields, ...sampleMetadata])));
  const reward = (chosen ?? rewardScoreOf(all, fields))?.reward;
  const read = all.map(sample => inspectSample(sample, fields, reward));
  const without = read.filter(({ names }) => names.length > 0 && !names.some(name => name === reward));
  return {
    format: 'an Inspect log',
    trajectories: read.map(({ record }) => record),
    leftOut: [...leftOut],
    unreadRewards: read.reduce((sum, { unreadRewards }) => sum + unreadRewards, 0),
    note: inspectEnd(fields, all.length),
    scores: { reward, names: [...new Set(read.flatMap(({ names }) => names))], without: without.length },
  };
}

/** Converts a sample from an Inspect `.eval` file. @param header the file's `header.json` */
export function fromInspectSample(
  sample: Fields,
  header: Fields,
  chosen?: Pick<Scores, 'reward'>,
): ForeignRecord | undefined {
  return fromInspect({ ...header, eval: recordOf(header['eval']), samples: [sample] }, chosen);
}
