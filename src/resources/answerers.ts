/** Finds the models that can answer a rollout's prompt: its base model and deployed checkpoints. */
import type { Deployment } from '../contract/deployments.ts';
import type { Checkpoint } from '../contract/training.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { OriginSearch } from '../queries/checkpoint-origins.ts';
import { checkpointsByStep } from '../queries/checkpoints.ts';
import { evalRunQuery } from '../queries/evaluations.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { trainingRunQuery } from '../queries/training.ts';
import { ifThere } from '../service/errors.ts';
import { clean } from '../text/sanitise.ts';
import { chatName, deployedAs } from './deployments.ts';
import { readDeployments } from './production.ts';

interface Answerers {
  readonly base: string | undefined;
  /** The name to chat with: the checkpoint's, or that of another deployment with the same base model. */
  readonly checkpoint: string | undefined;
  /** The checkpoint's training run. */
  readonly training: string | undefined;
  /** Sentences about the models, including why a checkpoint cannot answer. */
  readonly words: string;
}

/** The name under which to chat with a deployed checkpoint; undefined if it is not deployed. */
export function checkpointName(checkpointId: string, deployments: readonly Deployment[]): string | undefined {
  const served = deployedAs(checkpointId, deployments);
  const deployment = deployments.find(row => row.deployment_id === served?.deployment_id);
  return deployment && chatName(deployment);
}

/** The checkpoint that produced a rollout in training: the last one up to its step, or else the last overall. */
function checkpointBy(checkpoints: readonly Checkpoint[], step: number | null | undefined): Checkpoint | undefined {
  const earlier =
    step == null ? undefined : checkpoints.findLast(({ step_index }) => step_index != null && step_index <= step);
  return earlier ?? checkpoints.at(-1);
}

/** @throws ServiceError */
export async function answerersOf(trajectory: Trajectory, context: QueryContext): Promise<Answerers> {
  const { service, signal } = context;
  const { eval_run_id, training_run_id, policy_step } = trajectory;
  const run = eval_run_id ? await ifThere(() => evalRunQuery(eval_run_id).read(context)) : undefined;
  const evaluated = run?.parent_checkpoint_id ?? undefined;
  const own = training_run_id ?? run?.training_run_id ?? undefined;
  const found =
    own === undefined && evaluated
      ? await ifThere(() => new OriginSearch().runOf({ checkpoint_id: evaluated }, context))
      : undefined;
  const training = own ?? found?.training_run_id;
  const trained = found ?? (training ? await ifThere(() => trainingRunQuery(training).read(context)) : undefined);
  const listed = training ? await ifThere(() => checkpointsByStep(service, training, { signal })) : undefined;
  const checkpoints = listed ?? [];
  const base = run?.base_model_slug ?? trained?.base_model_slug ?? undefined;
  const { rows: deployments, unread } = await readDeployments(context, { status: 'DEPLOYED' });
  const id = evaluated ?? checkpointBy(checkpoints, policy_step)?.checkpoint_id;
  const step = checkpoints.find(({ checkpoint_id }) => checkpoint_id === id)?.step_index ?? undefined;
  const named = step === undefined ? clean`the checkpoint ${id ?? ''}` : `the checkpoint at step ${step}`;
  const exact = id === undefined ? undefined : checkpointName(id, deployments);
  const baseNotes = base === undefined ? ['Its base model is unknown.'] : [clean`${base} is its base model.`];
  if (exact !== undefined) {
    return { base, checkpoint: exact, training, words: [...baseNotes, clean`${exact} is ${named}.`].join(' ') };
  }
  const other = deployments.find(row => base !== undefined && row.base_model_slug === base);
  const checkpoint = other && chatName(other);
  const words = [
    ...baseNotes,
    ...(id === undefined
      ? []
      : unread === undefined
        ? [`${named} is not deployed, so it cannot answer: deploy it from its training run first.`]
        : [`It is not known whether ${named} is deployed: ${unread}.`]),
    ...(checkpoint === undefined ? [] : [clean`${checkpoint} is another deployment of the same base model.`]),
  ];
  return { base, checkpoint, training, words: words.map(capitalised).join(' ') };
}

const capitalised = (sentence: string): string =>
  sentence.startsWith('the checkpoint') ? `T${sentence.slice(1)}` : sentence;
