/** A trajectory's rewards and metrics, and its fields outside the contract, as facts. Pure. */

import { capitalised } from '../base/capitalised.ts';
import { isRecord } from '../base/own-property.ts';
import { unreadableFields } from '../contract/lists.ts';
import type { Trajectory, trajectory as trajectorySchema } from '../contract/trajectories.ts';
import * as numbers from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import type { Fact } from './fact.ts';
import { compact, isEmpty } from './other-fields.ts';

const rewardFields: ReadonlySet<string> = new Set([
  'reward_id',
  'name',
  'value',
  'weight',
  'explanation',
  'created_at',
]);

const group = 'Rewards';

function rewardFact(logged: unknown): Fact {
  if (!isRecord(logged)) return { label: 'reward', value: compact(logged), group };
  const { reward_id, name, value, weight, explanation } = logged;
  const others = Object.entries(logged)
    .filter(([field, other]) => !rewardFields.has(field) && !isEmpty(other))
    .map(([field, other]) => `${field} ${compact(other)}`);
  const parts = [
    typeof value === 'number' || value == null ? numbers.reward(value) : compact(value),
    ...(weight == null ? [] : [`weight ${compact(weight)}`]),
    ...(isEmpty(explanation) ? [] : [compact(explanation)]),
    ...others,
  ];
  return { label: String(name || reward_id || 'reward'), value: parts.join('  ·  '), group };
}

function rewardFacts(rewards: unknown): readonly Fact[] {
  return Array.isArray(rewards) ? rewards.map(rewardFact) : valueFacts(rewards, group);
}

/** Named values of any shape, as facts. */
function valueFacts(values: unknown, title: string): readonly Fact[] {
  if (isEmpty(values)) return [];
  if (!isRecord(values)) return [{ label: title.toLowerCase(), value: compact(values), group: title }];
  return Object.entries(values)
    .filter(([, value]) => value != null)
    .map(([label, value]) => ({ label, value: compact(value), group: title }));
}

/** The contract's fields, repeated here because its schemas are loaded after the first frame. */
const contractFields: Readonly<Record<keyof (typeof trajectorySchema)['shape'], true>> = {
  trajectory_id: true,
  organization_id: true,
  source: true,
  created_at: true,
  dataset_id: true,
  dataset_name: true,
  dataset_source: true,
  dataset_gcs_prefix: true,
  trace_id: true,
  model_id: true,
  model_association_source: true,
  model_association_metadata: true,
  status: true,
  reward: true,
  num_steps: true,
  gcs_blob_uri: true,
  error: true,
  steps: true,
  task_id: true,
  eval_run_id: true,
  training_run_id: true,
  rollout: true,
  policy_step: true,
  rewards: true,
  metrics: true,
  execution_metrics: true,
  conversation_id: true,
};
const knownFields: ReadonlySet<string> = new Set([...Object.keys(contractFields), unreadableFields]);

/** Whether a field merely repeats another field. */
function repeats({ policy_step, rollout }: Trajectory, name: string, value: unknown): boolean {
  if (name === 'step') return value === policy_step;
  // Another fact shows these two.
  if (name === 'finish_reason' || name === 'tool_error') return typeof value === 'string';
  return name === 'termination_reason' && value === rollout?.termination_reason;
}

/** Describes how a trajectory's model was found, except for details in other facts. */
function associationOf({ model_association_metadata: metadata, ...shown }: Trajectory): unknown {
  if (!isRecord(metadata)) return metadata;
  const known = new Set<unknown>([shown.eval_run_id, shown.training_run_id]);
  const isStep = (name: string, value: unknown): boolean => name === 'step' && value === shown.policy_step;
  return Object.fromEntries(
    Object.entries(metadata).filter(([name, value]) => !known.has(value) && !isStep(name, value)),
  );
}

/** `Model usage` for `model_usage`. */
const groupOf = (name: string): string => capitalised(sanitiseLine(name).replaceAll('_', ' ').trim() || 'Other fields');

/** Rewards with their explanations, metrics, and other fields, in groups. */
export function trajectoryDetails(trajectory: Trajectory): readonly Fact[] {
  const others = Object.entries(trajectory).filter(
    ([name, value]) => !knownFields.has(name) && !isEmpty(value) && !repeats(trajectory, name, value),
  );
  return [
    ...rewardFacts(trajectory.rewards),
    ...valueFacts(trajectory.metrics, 'Metrics'),
    ...valueFacts(trajectory.execution_metrics, 'Execution metrics'),
    ...valueFacts(associationOf(trajectory), 'Model association'),
    ...valueFacts(Object.fromEntries(others.filter(([, value]) => !isRecord(value))), 'Other fields'),
    ...others.flatMap(([name, value]) => (isRecord(value) ? valueFacts(value, groupOf(name)) : [])),
  ].map(fact => ({ ...fact, label: sanitiseLine(fact.label) }));
}
