/** The field for an upload's agent. */
import type { Agent } from '../../../contract/models.ts';
import { agentsQuery } from '../../../queries/agents.ts';
import { useLive } from '../../data/use-live.ts';
import type { FieldSpec } from '../../widgets/form/form-state.ts';

/** The agents to choose from; none until the service has listed them. */
export function useAgents(): readonly Agent[] {
  return useLive(agentsQuery, 'visible').data ?? noAgents;
}

const noAgents: readonly Agent[] = [];

/** With more agents, the user types one: choosing with arrow keys would take too long. */
const maxChoices = 30;

/** @param initial an earlier attempt's agent */
export function agentField(agents: readonly Agent[], initial = ''): FieldSpec {
  const ofProfile = "the profile's agent, if set";
  const shared = { name: 'agent', label: 'Agent (optional)' };
  if (agents.length === 0 || agents.length > maxChoices) {
    const help =
      agents.length === 0
        ? 'Newer services require one: an id, or name: followed by a name.'
        : `An id or a name; the service lists ${agents.length}.`;
    return { ...shared, kind: 'text', initial, placeholder: ofProfile, help };
  }
  const isNamed = ({ agent_id, name }: Agent): boolean => [agent_id, name, `name:${name}`].includes(initial);
  const options = agents.map(agent => {
    const { agent_id, name } = agent;
    // An upload that was started with the name continues with it.
    const value = isNamed(agent) ? initial : agent_id;
    return { value, label: name ?? agent_id, ...(name == null ? {} : { note: agent_id }) };
  });
  const typed = initial === '' || agents.some(isNamed) ? [] : [{ value: initial, label: initial }];
  return { ...shared, kind: 'choice', initial, options: [{ value: '', label: ofProfile }, ...options, ...typed] };
}
