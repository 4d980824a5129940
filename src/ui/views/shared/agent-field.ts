/** The field that names the agent to which an upload belongs. */
import type { TextFieldSpec } from '../../widgets/form/form-state.ts';

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
