/** Describes the size and cost of runs before they start, and of grading by a model. Pure. */
import { minOf } from '../base/many.ts';
import { own } from '../base/own-property.ts';
import type { TaskCount } from '../contract/benchmarks.ts';
import type { SupportedModel } from '../contract/models.ts';
import { count, counted, countOf, money, type PriceUnit } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { describedOptions } from './described-options.ts';

type Values = Readonly<Record<string, unknown>>;

const factors = ['num_steps', 'train_batch_size', 'samples_per_instance'] as const;

/** The known inputs of the cost, besides the options. */
export interface KnownCost extends Partial<Pick<TaskCount, 'task_count' | 'by_split'>> {
  /** Mean tokens per rollout in an earlier run with this name; for a training run, in this step. */
  readonly tokens?: { readonly input: number | undefined; readonly output: number };
  readonly step?: number;
  readonly name?: string;
  /** The prices of tokens, in the service's unit. */
  readonly prices?: SupportedModel['pricing'];
}

/** A run to start: its options by name, and the options that the service describes. */
export interface CostedRun {
  readonly options: Values;
  readonly offered: unknown;
  readonly model: string | undefined;
}

const costUnknown = 'cost unknown: set priceUnit';

const isPrice = (value: number | null | undefined): value is number => typeof value === 'number' && value >= 0;

/** `about $4.10`, or why the cost is unknown. @param rollouts how many rollouts use this many tokens each */
function describeCost(
  rollouts: number,
  { tokens, prices }: Pick<KnownCost, 'tokens' | 'prices'>,
  unit: PriceUnit | undefined,
): string {
  if (!unit) return costUnknown;
  const { input, output } = prices ?? {};
  if (!isPrice(output)) return 'cost unknown: the model has no price';
  if (!tokens) return 'cost unknown: tokens per rollout are unknown';
  const about = (each: number): string => `about ${money((rollouts * each) / unit.tokens, unit.currency)}`;
  const part = `${about(tokens.output * output)} for the output tokens`;
  if (tokens.input === undefined) return `${part}, input tokens unknown`;
  if (!isPrice(input)) return `${part}, input tokens have no price`;
  return about(tokens.output * output + tokens.input * input);
}

/** `1,200 output and 300 input tokens` */
const formatTokens = ({ input, output }: NonNullable<KnownCost['tokens']>, words: (tokens: number) => string): string =>
  `${words(output)} output${input === undefined ? '' : ` and ${words(input)} input`} tokens`;

const exactCount = (each: number): string => Math.round(each).toLocaleString('en');

const sourceOf = ({ step, name = '' }: KnownCost): string =>
  clean`in ${step === undefined ? '' : `step ${step} of `}${name}`;

/** `, about 18M output tokens (1,200 each, as in step 60 of words)`; empty if the tokens are unknown. */
function describeAllTokens({ tokens, ...source }: KnownCost, rollouts: number): string {
  if (!tokens) return '';
  const all = formatTokens(tokens, each => count(Math.round(each * rollouts)));
  const each = [tokens.output, tokens.input].filter(count => count !== undefined).map(exactCount);
  return `, about ${all} (${each.join(' and ')} each, as ${sourceOf(source)})`;
}

/** `; a rollout in step 60 of words took 1,200 output tokens`; empty if they are unknown. */
const describeTokensEach = ({ tokens, ...source }: KnownCost): string =>
  tokens ? `; a rollout ${sourceOf(source)} took ${formatTokens(tokens, exactCount)}` : '';

/** Returns a function that looks up a chosen number, or else the service's default. */
function numbersOf({ options, offered, model }: CostedRun): (name: string) => number | undefined {
  const described = describedOptions(offered, model);
  return name => {
    const value = own<unknown>(options, name) ?? described.get(name)?.defaultValue;
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  };
}

/** How many tasks an evaluation runs: those of the test split, or of all splits if they are not counted separately. */
const evaluatedTasks = ({ by_split, task_count }: KnownCost): number | undefined =>
  countOf(own(by_split ?? undefined, 'test') as number | undefined) ?? countOf(task_count);

/**
 * `6 runs x 12 tasks x 2 samples = 144 rollouts, about 173k output tokens (1,200 each, as in words); about $0.41`. Tokens
 * and prices apply to one model, so the cost of runs with several models is unknown.
 *
 * @param runs at least one
 */
export function evaluationCost(
  runs: readonly CostedRun[],
  known: KnownCost = {},
  unit?: PriceUnit | undefined,
): string {
  const sizes = runs.map(run => {
    const numberOf = numbersOf(run);
    const most = numberOf('evaluation_max_samples');
    const limits = [most, evaluatedTasks(known)].filter(each => each !== undefined);
    return { tasks: minOf(limits), samples: numberOf('evaluation_samples_per_task'), isMost: most !== undefined };
  });
  const all = counted(runs.length, 'run');
  const isOneModel = new Set(runs.map(({ model }) => model)).size === 1;
  const missing = [
    sizes.some(size => size.tasks === Infinity) ? 'tasks' : '',
    sizes.some(size => size.samples === undefined) ? 'samples' : '',
  ].filter(Boolean);
  if (missing.length > 0)
    return `${all}, rollouts and cost unknown: the service chooses the number of ${missing.join(' and ')}${isOneModel ? describeTokensEach(known) : ''}`;
  const rollouts = sizes.reduce((sum, size) => sum + size.tasks * (size.samples ?? 0), 0);
  const [first] = sizes;
  const isSame = sizes.every(size => size.tasks === first?.tasks && size.samples === first.samples);
  const factors =
    isSame && first ? ` x ${counted(first.tasks, 'task')} x ${counted(first.samples ?? 0, 'sample')}` : '';
  const atMost = sizes.some(({ isMost }) => isMost) ? 'at most ' : '';
  const size = `${all}${factors} = ${atMost}${counted(rollouts, 'rollout')}`;
  if (!isOneModel) return `${size}; cost unknown: the runs have several models`;
  return `${size}${describeAllTokens(known, rollouts)}; ${describeCost(rollouts, known, unit)}`;
}

/**
 * `60 steps x 16 tasks x 16 samples = 15,360 rollouts, about 18M output tokens (1,200 each, as in step 60 of words); cost
 * unknown: …`. No service states the unit of its prices, so without the setting the cost is unknown.
 *
 * @param chosen the chosen options by name; the others have the service's default
 * @param offered the options that the service describes
 * @param known the tokens that an earlier rollout took, and the price, if known
 * @param unit the unit of the prices, from the settings
 */
export function trainingCost(
  chosen: Values,
  offered: unknown,
  model?: string,
  known: KnownCost = {},
  unit?: PriceUnit | undefined,
): string {
  const numberOf = numbersOf({ options: chosen, offered, model });
  const missing = factors.filter(name => numberOf(name) === undefined);
  if (missing.length > 0)
    return `rollouts and cost unknown: the service chooses ${missing.join(', ')}${describeTokensEach(known)}`;
  const [steps = 0, tasks = 0, samples = 0] = factors.map(name => numberOf(name));
  const rollouts = steps * tasks * samples;
  const limit = numberOf('max_output_tokens_per_step');
  const most = limit === undefined ? '' : `, of at most ${counted(limit, 'token')} a step`;
  // How many tasks and samples a held-out round has is not an option.
  const besides = describedOptions(offered, model).has('held_out_every') ? ', without held-out ones' : '';
  const factorText = `${counted(steps, 'step')} x ${counted(tasks, 'task')} x ${counted(samples, 'sample')}`;
  return `${factorText} = ${rollouts.toLocaleString('en')} rollouts${besides}${most}${describeAllTokens(known, rollouts)}; ${describeCost(rollouts, known, unit)}`;
}

/** The requests to a judge. */
export interface Judged {
  readonly requests: number;
  /** Their mean length, if known. */
  readonly characters: number | undefined;
}

/** A usual tokenizer makes a token of about four characters of English text. */
const charactersPerToken = 4;

/**
 * `at most 340 requests, about 408k input tokens (1,200 each, at 4 characters a token); about $0.08, besides the
 * answers`
 */
export function judgeCost(
  { requests, characters }: Judged,
  prices: KnownCost['prices'],
  unit: PriceUnit | undefined,
): string {
  const size = `at most ${counted(requests, 'request')}`;
  if (characters === undefined) return `${size}; cost unknown: no rollout could be read`;
  const each = characters / charactersPerToken;
  const tokens = requests * each;
  const input = `${size}, about ${count(Math.round(tokens))} input tokens (${exactCount(each)} each, at ${charactersPerToken} characters a token)`;
  if (!unit) return `${input}; ${costUnknown}`;
  if (!isPrice(prices?.input)) return `${input}; cost unknown: the model has no price`;
  return `${input}; about ${money((tokens * prices.input) / unit.tokens, unit.currency)}, besides the answers`;
}
