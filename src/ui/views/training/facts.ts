/** What the inspector says of a training run, and where it opens. */
import type { Checkpoint, TrainingRun } from '../../../contract/training.ts';
import { rememberedAt } from '../../../queries/remembered/listing.ts';
import type { Location } from '../../navigation/location.ts';
import type { Fact } from '../../widgets/facts.ts';
import { ageOf, agoOf } from '../shared/ages.ts';
import { failureFacts } from '../shared/failure-facts.ts';

export function trainingFacts(run: TrainingRun): readonly Fact[] {
  const options = Object.entries(run.options ?? {}).map(
    ([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`,
  );
  return [
    { label: 'name', value: run.display_name },
    { label: 'id', value: run.training_run_id },
    { label: 'status', value: run.status ?? 'unknown' },
    { label: 'seen', value: agoOf(rememberedAt(run)) },
    ...failureFacts(run.failure),
    { label: 'model', value: run.base_model_slug },
    { label: 'benchmark', value: run.bench_id },
    { label: 'from', value: textOf(run['parent_checkpoint_id']) },
    { label: 'started', value: ageOf(run.created_at) },
    { label: 'by', value: run.created_by },
    { label: 'pipeline', value: run.pipeline_run_id },
    { label: 'options', value: options.join('\n') },
  ];
}

export function checkpointFacts(row: Checkpoint): readonly Fact[] {
  return [
    { label: 'checkpoint', value: row.checkpoint_id },
    { label: 'step', value: row.step_index },
    { label: 'committed', value: ageOf(row.created_at) },
  ];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function trainingPlace(run: TrainingRun): Location {
  return {
    view: 'training-run',
    params: {
      training_run_id: run.training_run_id,
      ...(run.display_name ? { name: run.display_name } : {}),
      ...(run.bench_id ? { bench_id: run.bench_id } : {}),
    },
  };
}
