/** The actions of evaluation runs, shared by all views. */

import type { EvalRun } from '../../../contract/evaluations.ts';
import { hasEnded } from '../../../contract/status.ts';
import { cancelRun, deleteRun } from '../../../queries/evaluations.ts';
import type { NamedRun, Place } from '../../../resources/place.ts';
import { runCommands } from '../../../resources/runs.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import { useConfirm } from '../shared/confirm.tsx';
import { namesOf } from '../shared/list-words.ts';
import { CompareWindow } from './compare-window.tsx';

const labelOf = (run: EvalRun): string => run.display_name ?? run.eval_run_id;

/** The place of a comparison; the earlier run is the base. */
export function comparePlace(one: EvalRun, other: EvalRun): Place<'compare'> {
  const [base, fresh] = (one.created_at ?? '') <= (other.created_at ?? '') ? [one, other] : [other, one];
  const named = (run: EvalRun): NamedRun => ({
    id: run.eval_run_id,
    name: [labelOf(run), run.base_model_slug].filter(Boolean).join('  '),
  });
  return { view: 'compare', base: named(base), new: named(fresh) };
}

export interface RunActionsOptions {
  /** Called after runs were deleted, e.g. to leave their view. */
  readonly onDeleted?: () => void;
}

export function useRunActions({ onDeleted }: RunActionsOptions = {}): (runs: readonly EvalRun[]) => readonly Binding[] {
  const shell = useShell();
  const confirm = useConfirm();
  return runs => {
    const running = runs.filter(run => !hasEnded(run.status));
    const deletable = runs.flatMap(run => (run.bench_id ? [{ ...run, bench_id: run.bench_id }] : []));
    const names = namesOf(runs.map(labelOf));
    const cancelled = namesOf(running.map(labelOf));
    const [one, other] = runs;
    const compare = (): void => {
      if (!one) return;
      if (other) {
        shell.open(comparePlace(one, other));
        return;
      }
      const benchId = one.bench_id ?? '';
      shell.showOverlay({
        id: 'compare',
        render: close => (
          <CompareWindow
            run={one}
            benchId={benchId}
            onChoose={chosen => shell.open(comparePlace(one, chosen))}
            onClose={close}
          />
        ),
      });
    };
    return [
      {
        command: runCommands.compare,
        enabled: runs.length === 2 || (runs.length === 1 && one?.bench_id != null),
        run: compare,
      },
      {
        command: runCommands.cancel,
        enabled: running.length > 0,
        run: () =>
          confirm({
            title: running.length === 1 ? 'Cancel this run?' : `Cancel ${running.length} runs?`,
            question: `${cancelled} stops where it is. Finished rollouts are kept.`,
            verb: 'cancel',
            past: 'cancelled',
            action: cancelRun,
            rows: running,
            labelOf,
            onDone: () => shell.toast({ kind: 'success', text: `Cancelled ${cancelled}` }),
          }),
      },
      {
        command: runCommands.delete,
        enabled: deletable.length > 0 && deletable.length === runs.length,
        run: () =>
          confirm({
            title: runs.length === 1 ? 'Delete this run?' : `Delete ${runs.length} runs?`,
            question: `${names}: the record, its rewards and statistics are deleted. This cannot be undone.`,
            verb: 'delete',
            past: 'deleted',
            action: deleteRun,
            rows: deletable,
            labelOf,
            onDone: () => {
              shell.toast({ kind: 'success', text: `Deleted ${names}` });
              onDeleted?.();
            },
          }),
      },
    ];
  };
}
