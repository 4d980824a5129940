/** Fields that several forms have. */
import type { FieldSpec, TextFieldSpec } from '../../widgets/form/form-state.ts';

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

/** @param initial the agent that was named before */
export function agentField(initial = ''): TextFieldSpec {
  return {
    kind: 'text',
    name: 'agent',
    label: 'Agent (optional)',
    initial,
    placeholder: 'that of the profile, if it names one',
    help: 'Newer services ask for it: an id, or name: and a name.',
  };
}
