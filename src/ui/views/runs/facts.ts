/** What the inspector says of a run, and where it opens. */
import type { EvalRun } from '../../../contract/evaluations.ts';
import { rememberedAt } from '../../../queries/remembered/listing.ts';
import { reward } from '../../../text/numbers.ts';
import type { Location } from '../../navigation/location.ts';
import type { Fact } from '../../widgets/facts.ts';
import { ageOf, agoOf } from '../shared/ages.ts';
import { failureFacts } from '../shared/failure-facts.ts';
import { meanWords, type RunOutcome } from './head.ts';

/** With the outcome where more is known of it than the record says. */
export function runFacts(run: EvalRun, outcome?: RunOutcome): readonly Fact[] {
  const [meanLabel, ...mean] = outcome ? meanWords(outcome) : ['mean', reward(run.reward_mean)];
  return [
    { label: 'name', value: run.display_name },
    { label: 'id', value: run.eval_run_id },
    { label: 'status', value: run.status ?? 'unknown' },
    { label: meanLabel, value: mean.filter(Boolean).join(' ') },
    { label: 'model', value: run.base_model_slug },
    { label: 'checkpoint', value: run.parent_checkpoint_id },
    { label: 'training', value: run.training_run_id },
    { label: 'step', value: run.step },
    { label: 'benchmark', value: run.bench_id },
    { label: 'started', value: ageOf(run.created_at) },
    { label: 'seen', value: agoOf(rememberedAt(run)) },
    ...failureFacts(run.failure),
  ];
}

export function runPlace(run: EvalRun): Location {
  return {
    view: 'run',
    params: {
      eval_run_id: run.eval_run_id,
      ...(run.display_name ? { name: run.display_name } : {}),
      ...(run.bench_id ? { bench_id: run.bench_id } : {}),
    },
  };
}

/** Where two runs are compared; the earlier one is the first. */
export function comparePlace(one: EvalRun, other: EvalRun): Location {
  const [first, second] = (one.created_at ?? '') <= (other.created_at ?? '') ? [one, other] : [other, one];
  const name = (run: EvalRun): string =>
    [run.display_name ?? run.eval_run_id, run.base_model_slug].filter(Boolean).join('  ');
  return {
    view: 'compare',
    params: {
      first: first.eval_run_id,
      second: second.eval_run_id,
      first_name: name(first),
      second_name: name(second),
    },
  };
}
