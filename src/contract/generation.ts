/**
 * The service's generations, and the responses that reveal them. benchtop uses the document's names by default;
 * the newest generation moved a few operations, renamed some fields, and rejects the old names.
 */
import { isRecord } from '../base/own-property.ts';
import { listIn } from './lists.ts';

export const generations = ['document', 'newest'] as const;
export type Generation = (typeof generations)[number];

/** A renamed field: its name in the document, its newest name, and the resources with the field, in words. */
type Renamed = readonly [old: string, renamed: string, owner: string];

const ofBenchmarks: Renamed = ['label', 'name', 'its benchmarks'];
const ofDeployments: Renamed = ['playground_endpoint_url', 'model_endpoint_id', 'its deployments'];

/** A service that sends both names follows the document. A service without the old name is newer. */
const signs: ReadonlyMap<string, Renamed> = new Map([
  ['listBenchmarks', ofBenchmarks],
  ['getBenchmark', ofBenchmarks],
  ['listSupportedTrainingModels', ['model_slug', 'base_model_slug', 'its models']],
  ['listDeployments', ofDeployments],
  ['getDeployment', ofDeployments],
]);

/** Detects the generation from a response body; undefined if it reveals nothing. */
export function evidenceIn(operation: string, body: unknown): { generation: Generation; reason: string } | undefined {
  const [old = '', renamed = '', owner] = signs.get(operation) ?? [];
  const rows = listIn(body);
  const row = rows ? rows[0] : body;
  if (owner === undefined || !isRecord(row)) return undefined;
  if (Object.hasOwn(row, old)) return { generation: 'document', reason: `${owner} have ${old}` };
  if (!Object.hasOwn(row, renamed)) return undefined;
  return { generation: 'newest', reason: `${owner} have ${renamed} in place of ${old}` };
}

/** The agent as later generations expect it. */
export type AgentFields = { readonly agent_id: string } | { readonly agent_name: string };

/** @param agent its id, or `name:` and its name */
export function agentFields(agent: string): AgentFields {
  const name = /^name:(.*)$/s.exec(agent)?.[1];
  return name === undefined ? { agent_id: agent } : { agent_name: name };
}
