/** The models that the service can train and evaluate. */
import type { SupportedModel } from '../contract/models.ts';
import { type Column, plainColumn } from '../present/column.ts';
import type { Fact } from '../present/fact.ts';
import { modelList } from '../queries/models.ts';
import { asReceived, none } from '../text/numbers.ts';
import { defineResource } from './define.ts';
import type { MeasuredRun } from './measured-run.ts';

/** The model column of other resources. When narrow, it truncates the vendor, not the name. */
export function modelColumn<Row>(slugOf: (row: Row) => string | null | undefined): Column<Row> {
  return plainColumn('model', 'MODEL', { min: 10, max: 36, grow: 2 }, slugOf, { cutAt: 'start' });
}

/**
 * The evaluated model: `benchtop/tutor-base`; for a checkpoint `long step 36` or, if its training run's name is
 * unknown, `benchtop/tutor-base at step 36`. The checkpoint's id replaces an unknown step. Empty if nothing is known.
 *
 * @param withId adds the checkpoint's id to its step
 */
export function describeModel(
  { base_model_slug: model, parent_checkpoint_id: checkpoint, step, trained_in: name }: Partial<MeasuredRun>,
  withId = false,
): string {
  if (!checkpoint) return model ?? '';
  const at = step == null ? checkpoint : `step ${step}${withId ? ` (${checkpoint})` : ''}`;
  return [name ?? model, name === undefined && 'at', at].filter(Boolean).join(' ');
}

/** Removes binary rounding errors from a price: a service that computes 0.1 × 6 sends 0.6000000000000001. */
function rounded(value: number | null | undefined): number | undefined {
  return value == null ? undefined : Number(value.toPrecision(12));
}

/** A price, without a unit because the document does not define one. */
export const price = (value: number | null | undefined): string => (value == null ? none : asReceived(rounded(value)));

function priceColumn(id: string, title: string, field: 'input' | 'output' | 'cached_input'): Column<SupportedModel> {
  return plainColumn(id, title, title.length, row => rounded(row.pricing?.[field]), {
    align: 'right',
    text: row => price(row.pricing?.[field]),
  });
}

export const modelColumns: readonly Column<SupportedModel>[] = [
  { id: 'slug', title: 'MODEL', width: { min: 24, max: 48, grow: 2 }, cutAt: 'start', value: row => row.model_slug },
  plainColumn('name', 'NAME', { min: 10, max: 40, grow: 2 }, row => row.model_name),
  priceColumn('input', 'PRICE IN', 'input'),
  priceColumn('output', 'PRICE OUT', 'output'),
  { ...priceColumn('cached', 'PRICE CACHED', 'cached_input'), wide: true },
];

function modelFacts(model: SupportedModel): readonly Fact[] {
  return [
    { label: 'model', value: model.model_slug },
    { label: 'name', value: model.model_name },
    { label: 'price in', value: price(model.pricing?.input) },
    { label: 'price out', value: price(model.pricing?.output) },
    { label: 'price cached', value: price(model.pricing?.cached_input) },
    { label: 'price unit', value: model.pricing ? 'not stated by the service' : undefined },
  ];
}

export const models = defineResource<SupportedModel>({
  names: ['models', 'model', 'm'],
  order: 70,
  list: () => modelList,
  columns: modelColumns,
  facts: modelFacts,
  label: row => row.model_name,
  findsLabel: 'never',
  emptyText: 'The service offers no models',
});
