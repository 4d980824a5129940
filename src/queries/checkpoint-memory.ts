/** Remembers where checkpoints come from, because other records contain only their ids. */
import { isRecord } from '../base/own-property.ts';
import type { Checkpoint } from '../contract/training.ts';
import type { RememberedStore } from '../store/store.ts';
import type { HeldOutMean } from './held-out.ts';

/** A checkpoint's training run and step. */
export interface Origin {
  readonly training_run_id: string;
  readonly display_name: string;
  readonly step: number | undefined;
  readonly bench_id?: string | undefined;
  /** The benchmark's name, or its id while the name is unknown. */
  readonly benchmark?: string | undefined;
  /** The held-out reward at its step. */
  readonly held_out?: HeldOutMean | undefined;
}

const kind = 'checkpoint';

interface RememberedOrigin extends Origin {
  /** Whether `held_out` is final, even if undefined. */
  readonly isMeasured: boolean;
}

export function rememberedOrigin(id: string, memory: RememberedStore): RememberedOrigin | undefined {
  const { parent, record } = memory.seen.find(kind, id) ?? {};
  if (parent === undefined || record === undefined) return undefined;
  const { step_index: step, held_out: held, run_name: name, is_measured } = record;
  const isMean = isRecord(held) && typeof held['reward'] === 'number' && typeof held['step'] === 'number';
  const run = memory.seen.find('training', parent);
  const bench_id = run?.parent ?? undefined;
  return {
    training_run_id: parent,
    // The name stays known after the run has been deleted.
    display_name: run?.label ?? (typeof name === 'string' ? name : parent),
    step: typeof step === 'number' ? step : undefined,
    ...(bench_id && { bench_id, benchmark: memory.seen.find('benchmark', bench_id)?.label ?? bench_id }),
    held_out: isMean ? (held as unknown as HeldOutMean) : undefined,
    isMeasured: is_measured === true,
  };
}

/** A checkpoint's remembered origin. */
export function knownOrigin(id: string | null | undefined, memory: RememberedStore): Origin | undefined {
  const known = id ? rememberedOrigin(id, memory) : undefined;
  if (!known) return undefined;
  const { isMeasured: _, ...origin } = known;
  return origin;
}

/** `long step 36`. */
export const formatTrainingOrigin = ({ display_name, step }: Origin): string =>
  step === undefined ? display_name : `${display_name} step ${step}`;

/** @param run_name the run's name, if the caller knows it */
export function rememberCheckpoints(
  training_run_id: string,
  checkpoints: readonly Checkpoint[],
  memory: RememberedStore,
  run_name?: string,
): void {
  memory.see(
    checkpoints.map(({ checkpoint_id: id, step_index }) => {
      return { kind, id, parent: training_run_id, record: { step_index, ...(run_name && { run_name }) } };
    }),
  );
}

/** @param isFinal whether the held-out reward can no longer change */
export function rememberHeldOut(
  id: string,
  held_out: HeldOutMean | undefined,
  isFinal: boolean,
  memory: RememberedStore,
): void {
  memory.see([{ kind, id, record: { held_out, is_measured: isFinal } }]);
}
