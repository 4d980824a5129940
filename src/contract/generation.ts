/**
 * The service's generations, and the responses that reveal them. benchtop uses the document's names by default;
 * the newest generation moved a few operations, renamed some fields, and rejects the old names.
 */
import { isRecord } from '../base/own-property.ts';
import { listIn } from './lists.ts';

export const generations = ['document', 'newest'] as const;
export type Generation = (typeof generations)[number];

export interface Evidence {
  readonly generation: Generation;
  /** Completes a sentence after “because”. */
  readonly reason: string;
}

interface Sign {
  readonly old: string;
  readonly new: string;
  /** The resources with the field, in words. */
  readonly owner: string;
}

const benchmarkNames: Sign = { old: 'label', new: 'name', owner: 'its benchmarks' };
const deploymentNames: Sign = {
  old: 'playground_endpoint_url',
  new: 'model_endpoint_id',
  owner: 'its deployments',
};

/** A service that sends both names follows the document. A service without the old name is newer. */
const signs: ReadonlyMap<string, Sign> = new Map<string, Sign>([
  ['listBenchmarks', benchmarkNames],
  ['getBenchmark', benchmarkNames],
  ['listSupportedTrainingModels', { old: 'model_slug', new: 'base_model_slug', owner: 'its models' }],
  ['listDeployments', deploymentNames],
  ['getDeployment', deploymentNames],
]);

/** Detects the generation from a response body; undefined if it reveals nothing. */
export function evidenceIn(operation: string, body: unknown): Evidence | undefined {
  const sign = signs.get(operation);
  const rows = listIn(body);
  const row = rows ? rows[0] : body;
  if (!sign || !isRecord(row)) return undefined;
  if (Object.hasOwn(row, sign.old)) return { generation: 'document', reason: `${sign.owner} have ${sign.old}` };
  if (!Object.hasOwn(row, sign.new)) return undefined;
  return { generation: 'newest', reason: `${sign.owner} have ${sign.new} in place of ${sign.old}` };
}

/** The agent as later generations expect it. */
export type AgentFields = { readonly agent_id: string } | { readonly agent_name: string };

/** @param agent its id, or `name:` and its name */
export function agentFields(agent: string): AgentFields {
  const name = /^name:(.*)$/s.exec(agent)?.[1];
  return name === undefined ? { agent_id: agent } : { agent_name: name };
}
