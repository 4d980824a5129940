/** The field that chooses a model: among those that the service lists, or typed where it lists none. */
import type { FieldSpec } from '../../widgets/form/form-state.ts';

export function modelField(
  name: string,
  models: readonly { readonly slug: string; readonly name: string | undefined }[],
): FieldSpec {
  if (models.length > 0) {
    return {
      kind: 'choice',
      name,
      label: 'Model',
      options: models.map(({ slug, name: words }) => ({ value: slug, label: slug, ...(words ? { note: words } : {}) })),
    };
  }
  return {
    kind: 'text',
    name,
    label: 'Model',
    placeholder: 'vendor/model',
    help: 'The list of models could not be read; type the slug.',
    check: value => (value.trim() === '' ? 'Name a model' : undefined),
  };
}
