/** Fields shared by several forms. */
import type { Agent } from '../../../contract/models.ts';
import { agentsQuery } from '../../../queries/agents.ts';
import { modelList } from '../../../queries/models.ts';
import { type OptionsChoice, type OptionsOperation, runOptionsQuery } from '../../../queries/run-options.ts';
import { useList } from '../../../queries/use-list.ts';
import { useLive } from '../../../queries/use-live.ts';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { modelsOf } from './options.ts';

/** What there is to choose from for a new run. */
export interface RunOffer {
  readonly models: readonly { readonly slug: string; readonly name?: string | undefined }[];
  /** The options as the service describes them. */
  readonly offered: Readonly<Record<string, unknown>> | undefined;
}

/** Returns undefined until it is known. With a chosen model, the others are not waited for. */
export function useRunOffer(operation: OptionsOperation, choice: OptionsChoice): RunOffer | undefined {
  const models = useList(modelList, 'visible');
  const { data: offered, error } = useLive(runOptionsQuery(operation, choice), 'visible');
  const isWaiting = !models.loaded && !models.error && !choice.model;
  if (isWaiting || (!offered && !error)) return undefined;
  const listed = models.rows.map(({ model_slug, model_name }) => ({ slug: model_slug, name: model_name ?? undefined }));
  return { models: listed.length > 0 ? listed : modelsOf(offered).map(slug => ({ slug })), offered };
}

export function modelField(name: string, models: RunOffer['models']): FieldSpec {
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

/** The agents to choose from: none if the service does not list them, and until it has. */
export function useAgents(): readonly Agent[] {
  return useLive(agentsQuery, 'visible').data ?? noAgents;
}

const noAgents: readonly Agent[] = [];

/** More are typed: by the arrow keys one of so many would not be found. */
const mostChoices = 30;

/** @param initial the agent named before */
export function agentField(agents: readonly Agent[], initial = ''): FieldSpec {
  const ofProfile = 'the agent of the profile, if set';
  const shared = { name: 'agent', label: 'Agent (optional)' };
  if (agents.length === 0 || agents.length > mostChoices) {
    const help =
      agents.length === 0
        ? 'Newer services ask for it: an id, or name: and a name.'
        : `An id or a name; the service lists ${agents.length}.`;
    return { ...shared, kind: 'text', initial, placeholder: ofProfile, help };
  }
  const isNamed = ({ agent_id, name }: Agent): boolean => [agent_id, name, `name:${name}`].includes(initial);
  const options = agents.map(agent => {
    const { agent_id, name } = agent;
    // An upload that was started with the name continues under it.
    const value = isNamed(agent) ? initial : agent_id;
    return { value, label: name ?? agent_id, ...(name == null ? {} : { note: agent_id }) };
  });
  const typed = initial === '' || agents.some(isNamed) ? [] : [{ value: initial, label: initial }];
  return { ...shared, kind: 'choice', initial, options: [{ value: '', label: ofProfile }, ...options, ...typed] };
}
