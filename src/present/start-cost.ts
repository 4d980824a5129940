/** Describes the size of a training run before it is started. Pure. */
import { isRecord, own } from '../base/own-property.ts';
import { count, counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';

type Values = Readonly<Record<string, unknown>>;

const factors = ['num_steps', 'train_batch_size', 'samples_per_instance'] as const;

/** The options of a model; a service describes them per model, or for all models. */
export function describedFor(offered: unknown, model: string | undefined): Values {
  if (!isRecord(offered)) return {};
  const { models } = offered;
  const list = Array.isArray(models) ? models.filter(isRecord) : [];
  const of = list.find(each => own(each, 'base_model_slug') === model || own(each, 'model_slug') === model);
  const options = own<unknown>(of ?? offered, 'options');
  return isRecord(options) ? options : list.length > 0 ? {} : offered;
}

/** The generated tokens of a rollout: the mean in a step of an earlier run. */
interface Use {
  readonly tokens: number;
  readonly step: number;
  readonly name: string;
}

/**
 * `60 steps x 16 tasks x 16 samples = 15,360 rollouts, about 18M tokens out, at 1,200 each as in step 60 of words; cost
 * unknown: …`. No service states the unit of its prices, so the cost is unknown.
 *
 * @param chosen the chosen options by name; others have the service's default
 * @param offered the options as the service describes them
 * @param used the tokens of a rollout before; empty if unknown
 */
export function trainingCost(chosen: Values, offered: unknown, model?: string, used: Partial<Use> = {}): string {
  const described = describedFor(offered, model);
  const numberOf = (name: string): number | undefined => {
    const option = own<unknown>(described, name);
    const value = own<unknown>(chosen, name) ?? (isRecord(option) ? own<unknown>(option, 'default') : undefined);
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  };
  const unknown = 'cost unknown: prices have no unit';
  const { tokens, step, name: before = '' } = used;
  const each = tokens === undefined ? '' : Math.round(tokens).toLocaleString('en');
  const missing = factors.filter(name => numberOf(name) === undefined);
  if (missing.length > 0) {
    const took =
      tokens === undefined ? '' : clean`; a rollout took ${each} tokens out in step ${step ?? '?'} of ${before}`;
    return `rollouts and cost unknown: the service chooses ${missing.join(', ')}${took}`;
  }
  const [steps = 0, tasks = 0, samples = 0] = factors.map(name => numberOf(name));
  const rollouts = steps * tasks * samples;
  const limit = numberOf('max_output_tokens_per_step');
  const most = limit === undefined ? '' : `, of at most ${counted(limit, 'token')} a step`;
  const about =
    tokens === undefined
      ? ''
      : clean`, about ${count(Math.round(tokens * rollouts))} tokens out, at ${each} each as in step ${step ?? '?'} of ${before}`;
  const factorWords = `${counted(steps, 'step')} x ${counted(tasks, 'task')} x ${counted(samples, 'sample')}`;
  return `${factorWords} = ${rollouts.toLocaleString('en')} rollouts${most}${about}; ${unknown}`;
}
