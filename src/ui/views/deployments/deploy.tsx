/** The form that deploys a checkpoint. */

import { hashKey } from '@tanstack/react-query';
import { useState } from 'react';
import { type Deployment, deploymentRoles, type StartDeploymentBody } from '../../../contract/deployments.ts';
import { modelSlug } from '../../../contract/model-slug.ts';
import type { Checkpoint, TrainingRun } from '../../../contract/training.ts';
import type { Origin } from '../../../queries/checkpoint-memory.ts';
import { everyTrainingRun, trainingRunsOf } from '../../../queries/training.ts';
import { describeEvaluations } from '../../../resources/checkpoint-columns.ts';
import { recordPlace, startedAdvice } from '../../../resources/define.ts';
import { deployedAs, deployments, slugOf } from '../../../resources/deployments.ts';
import { describeMeasured, describeRank } from '../../../resources/describe-held-out.ts';
import { onBenchmark } from '../../../resources/origins.ts';
import type { Entry } from '../../../resources/production.ts';
import { trainingActions } from '../../../resources/training.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import type { Workbench } from '../../../workbench/workbench.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { CheckInput } from '../../data/use-action.ts';
import { useOnce } from '../../data/use-once.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { FieldSpec, FormValues } from '../../widgets/form/form-state.ts';
import { LoadingWindow } from '../../windows/choice-window.tsx';
import { FormWindow } from '../../windows/form-window.tsx';
import {
  betterChoice,
  checkpointField,
  chosenOf,
  describeCheckpoint,
  type FindCheckpoint,
  type OfferedCheckpoint,
  runName,
} from '../training/checkpoint-field.ts';
import { useCheckpointChoice } from '../training/use-checkpoint-choice.ts';
import { useAuditText } from './use-audit-text.ts';
import { useListedDeployments, useReplaced } from './use-listed-deployments.ts';

interface DeployWindowProps {
  /** The checkpoint's training run; if missing, the user chooses among all runs. */
  readonly run?: TrainingRun;
  /** Finds the checkpoint that the form first shows. */
  readonly checkpoint?: FindCheckpoint;
  readonly onClose: () => void;
}

function checkSlug(value: string): string | undefined {
  const slug = value.trim();
  if (slug === '') return 'Enter a slug';
  if (!modelSlug.pattern.test(slug)) return 'Letters, digits, - and _ only';
  return slug.length > modelSlug.maximum ? `${slug.length} characters; at most ${modelSlug.maximum}` : undefined;
}

const slugIn = (values: FormValues): string => values['model_slug']?.trim() ?? '';

interface Preset {
  readonly checkpoint: Checkpoint | undefined;
}

export function DeployWindow({ checkpoint, ...props }: DeployWindowProps) {
  const { data, error } = useOnce(async service => ({ checkpoint: await checkpoint?.(service) }));
  if (data) return <DeployForm {...props} {...data} />;
  return <LoadingWindow title="Deploy" error={error} onClose={props.onClose} />;
}

/** `Goes live: step 5 of words, held-out 0.412 from 16 samples. `, and the step that beat the best checkpoint. */
function describeGoingLive(chosen: OfferedCheckpoint, benchmark: string | undefined): string {
  const { held_out: mean, evaluations } = chosen.row;
  const measured = mean ? `, ${describeMeasured(mean)}${sanitiseLine(onBenchmark({ benchmark }))}` : '';
  // A mean hides how often the answer is right.
  const full = evaluations?.full ? describeEvaluations(evaluations) : '';
  const words = [`${describeCheckpoint(chosen)}${measured}`, full, describeRank(chosen.row)];
  return `Goes live: ${words.filter(Boolean).join('; ')}. `;
}

function originOfChosen({ run, row }: OfferedCheckpoint, workbench: Workbench): Origin {
  const bench_id = run.bench_id ?? undefined;
  const benchmark = bench_id === undefined ? undefined : (workbench.benchmarkName(bench_id) ?? bench_id);
  const step = row.step_index ?? undefined;
  return { training_run_id: run.training_run_id, display_name: runName(run), step, bench_id, benchmark };
}

/** The run's deployed checkpoints: `Step 30 of this run is deployed as production: tutor.` */
const describeDeployed = (
  { run }: OfferedCheckpoint,
  offered: readonly OfferedCheckpoint[],
  rows: readonly Deployment[],
): string =>
  offered
    .filter(each => each.run.training_run_id === run.training_run_id)
    .flatMap(({ row: { step_index, checkpoint_id } }) => {
      const words = deployedAs(checkpoint_id, rows)?.deployed;
      return words === undefined ? [] : clean`Step ${step_index ?? checkpoint_id} of this run is deployed as ${words}.`;
    })
    .join(' ');

const slugFor = (chosen: OfferedCheckpoint | undefined): string => (chosen ? slugOf(runName(chosen.run)) : '');

const idIn = (values: FormValues): string => values['checkpoint_id']?.trim() ?? '';

const isProduction = (values: FormValues): boolean => values['role'] === 'production';

/** @param effect describes the effect of the deployment in production */
const roleField = (effect: (values: FormValues) => string): FieldSpec => ({
  kind: 'choice',
  name: 'role',
  label: 'Role',
  options: deploymentRoles.map(role => ({
    value: role,
    label: role,
    note: role === 'production' ? 'serves the slug' : 'reached by its id',
  })),
  help: values => (isProduction(values) ? effect(values) : ''),
});

/** For production, the user types the slug to confirm. @param effect as for the role */
const confirmationField = (effect: (values: FormValues) => string): FieldSpec => ({
  kind: 'text',
  name: 'confirmed',
  label: 'Type the slug to put it into production',
  help: effect,
  isConfirmation: true,
  check: (value, values = {}) => (value.trim() === slugIn(values) ? undefined : `Type ${slugIn(values)}`),
  when: isProduction,
});

const inputOf = (values: FormValues): StartDeploymentBody => ({
  checkpoint_id: idIn(values),
  model_slug: slugIn(values),
  role: isProduction(values) ? 'production' : 'test',
});

/** What happens in production: its effect in words, and the check of these words before anything is sent. */
function useProduction(offered: readonly OfferedCheckpoint[], audited: OfferedCheckpoint | undefined) {
  const workbench = useWorkbench();
  const listed = useListedDeployments();
  const { wordsOf, check } = useReplaced(listed);
  const found = useAuditText(audited && originOfChosen(audited, workbench));
  const entryOf = ({ checkpoint_id, model_slug: slug }: StartDeploymentBody): Entry => {
    const chosen = chosenOf(offered, checkpoint_id);
    return { slug, from_run: chosen && originOfChosen(chosen, workbench) };
  };
  const effect = (values: FormValues): string => {
    const chosen = chosenOf(offered, idIn(values));
    const entry = entryOf(inputOf(values));
    const live = chosen ? describeGoingLive(chosen, entry.from_run?.benchmark) : '';
    // What is replaced comes first: a small terminal may cut the rest off.
    return `${live}${wordsOf(entry)} ${found}`.trimEnd();
  };
  const checkInput: CheckInput<StartDeploymentBody> = async (input, context) =>
    input.role === 'production' ? check(entryOf(input), context) : undefined;
  return { rows: listed.rows, effect, check: checkInput };
}

function DeployForm({ run, checkpoint, onClose }: Omit<DeployWindowProps, 'checkpoint'> & Preset) {
  const shell = useShell();
  const initial = checkpoint?.checkpoint_id ?? '';
  const [seen, setSeen] = useState({ id: initial, isSeen: false, isLive: false });
  const benchId = run?.bench_id ?? undefined;
  const choice = useCheckpointChoice({
    ...{ benchId, value: seen.id, isSeen: seen.isSeen, from: run ? [{ run, checkpoint }] : [] },
    source: benchId === undefined ? everyTrainingRun : trainingRunsOf(benchId),
  });
  const shown = chosenOf(choice.offered, seen.id);
  const { rows, effect, check } = useProduction(choice.offered, seen.isLive ? shown : undefined);
  const chosenIn = (values: FormValues): OfferedCheckpoint | undefined => chosenOf(choice.offered, idIn(values));
  const fields: readonly FieldSpec[] = [
    { kind: 'text', name: 'model_slug', label: 'Slug', initial: values => slugFor(chosenIn(values)), check: checkSlug },
    roleField(effect),
    confirmationField(effect),
    checkpointField(choice, {
      ...{ name: 'checkpoint_id', label: 'Checkpoint', initial },
      refuses: ({ row }) =>
        row.is_deployable === false ? 'The service reports that it cannot be deployed' : undefined,
    }),
  ];
  return (
    <FormWindow
      title={shown ? `Deploy ${describeCheckpoint(shown)}` : 'Deploy a checkpoint'}
      draft={hashKey(['deploy', run?.training_run_id, checkpoint?.checkpoint_id])}
      fields={fields}
      action={trainingActions.deploy.sends.send}
      inputOf={inputOf}
      check={check}
      lostAdvice={startedAdvice(deployments, `:${deployments.names[0]}`)}
      summary={values => {
        const chosen = chosenIn(values);
        const words = chosen
          ? [betterChoice(chosen, choice.offered), describeDeployed(chosen, choice.offered, rows)]
          : [];
        return words.filter(Boolean).join(' ') || undefined;
      }}
      onChange={(values, focused) =>
        setSeen(last => ({
          id: idIn(values),
          isSeen: last.isSeen || focused === 'checkpoint_id',
          isLive: values['role'] === 'production',
        }))
      }
      onClose={onClose}
      onDone={deployment => {
        shell.toast({ kind: 'success', text: `Deploying ${deployment.model_slug ?? deployment.deployment_id}` });
        shell.open(recordPlace(deployments, deployment.deployment_id, deployment.model_slug));
      }}
    />
  );
}
