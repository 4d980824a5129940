/** The agents that own uploads, on services that have agents. */
import { type AgentFields, agentFields } from '../contract/generation.ts';
import type { Agent } from '../contract/models.ts';
import { isNotOffered, PermissionError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import { readPages } from '../service/pagination.ts';
import { clean } from '../text/sanitise.ts';
import { pageSize } from './lists/list-source.ts';
import type { LiveQuery } from './live-query.ts';

/** Maximum number of agents to read; any agent beyond these must be named by id. */
const maxAgents = 2_000;

/** @throws ServiceError, also if the service has no list of agents */
async function listAgents(service: Service, signal: AbortSignal): Promise<readonly Agent[]> {
  const agents: Agent[] = [];
  const readPage = (cursor: string | undefined) =>
    service.call('listAgents', { query: { limit: pageSize, cursor } }, { signal });
  for await (const { items } of readPages(readPage)) {
    for (const item of items) agents.push(item);
    if (agents.length >= maxAgents) break;
  }
  return agents;
}

export const agentsQuery: LiveQuery<readonly Agent[]> = {
  key: ['agents'],
  activity: () => 'settled',
  read: ({ service, signal }) => listAgents(service, signal),
};

/**
 * Resolves an upload's agent to an id. If agents cannot be listed, or not with this key, the value is sent unchanged.
 *
 * @param agent an id, a name, or `name:` and a name; the profile's by default
 * @throws ServiceError if listing the agents fails temporarily; Error if several have the name
 */
export async function namedAgent(
  service: Service,
  agent: string | undefined,
  signal: AbortSignal,
): Promise<AgentFields | undefined> {
  const requested = agent ?? service.agent;
  if (requested === undefined) return undefined;
  const agents = await listAgents(service, signal).catch((error: unknown) => {
    // A temporary error must not change which agent the next upload belongs to.
    if (!isNotOffered(error) && !(error instanceof PermissionError)) throw error;
    return [];
  });
  const fields = agentFields(requested);
  const name = 'agent_name' in fields ? fields.agent_name : requested;
  if (agents.some(({ agent_id }) => agent_id === requested)) return fields;
  const [found, ...others] = agents.filter(each => each.name === name);
  if (others.length === 0) return found ? { agent_id: found.agent_id } : fields;
  const ids = [found, ...others].flatMap(each => each?.agent_id ?? []);
  throw new Error(clean`${ids.length} agents are named ${name}. Give the id of one: ${ids}.`);
}
