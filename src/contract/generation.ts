/**
 * The generations of the service, and by which answers they are recognised. The document's is spoken to by the document's
 * names; the newest has moved a few operations and renamed some fields, and no longer takes the old ones.
 */
import { listIn } from './common.ts';

export const generations = ['document', 'newest'] as const;
export type Generation = (typeof generations)[number];

/** What an answer shows of the generation. */
export interface Evidence {
  readonly generation: Generation;
  /** How much it counts: what an operation did is more than how a field is called. */
  readonly weight: number;
  /** In words that follow “because”. */
  readonly reason: string;
}

type Fields = Readonly<Record<string, unknown>>;

interface Sign {
  readonly old: string;
  readonly new: string;
  readonly weight: number;
  /** What has the field, in words. */
  readonly of: string;
}

const benchmarkNames: Sign = { old: 'label', new: 'name', weight: 1, of: 'its benchmarks' };
const deploymentNames: Sign = {
  old: 'playground_endpoint_url',
  new: 'model_endpoint_id',
  weight: 2,
  of: 'its deployments',
};

/** A service that sends both names takes the document's: only what lacks the old one is newer. */
const signs: ReadonlyMap<string, Sign> = new Map<string, Sign>([
  ['listBenchmarks', benchmarkNames],
  ['getBenchmark', benchmarkNames],
  ['listSupportedTrainingModels', { old: 'model_slug', new: 'base_model_slug', weight: 2, of: 'its models' }],
  ['listDeployments', deploymentNames],
  ['getDeployment', deploymentNames],
]);

/** What the body of an answer, as it came, shows of the generation; undefined if it shows nothing. */
export function evidenceIn(operation: string, body: unknown): Evidence | undefined {
  const sign = signs.get(operation);
  const row = sign && firstRow(body);
  if (!sign || !row) return undefined;
  if (Object.hasOwn(row, sign.old))
    return { generation: 'document', weight: sign.weight, reason: `${sign.of} have ${sign.old}` };
  if (!Object.hasOwn(row, sign.new)) return undefined;
  return { generation: 'newest', weight: sign.weight, reason: `${sign.of} have ${sign.new} in place of ${sign.old}` };
}

function firstRow(body: unknown): Fields | undefined {
  const rows = listIn(body);
  const row: unknown = rows ? rows[0] : body;
  return typeof row === 'object' && row !== null ? (row as Fields) : undefined;
}

/** How later generations take an agent. */
export type AgentFields = { readonly agent_id: string } | { readonly agent_name: string };

/** @param agent its id, or `name:` and its name */
export function agentFields(agent: string): AgentFields {
  const name = /^name:(.*)$/s.exec(agent)?.[1];
  return name === undefined ? { agent_id: agent } : { agent_name: name };
}
