/** Confirms building the images of benchmarks. */
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { buildImages } from '../../../queries/benchmarks.ts';
import { useShell } from '../../app/shell-context.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { namesOf } from '../shared/list-words.ts';

export interface BuildWindowProps {
  readonly benchmarks: readonly Benchmark[];
  readonly onClose: () => void;
}

const labelOf = (benchmark: Benchmark): string => benchmark.label ?? benchmark.bench_id;

export function BuildWindow({ benchmarks, onClose }: BuildWindowProps) {
  const { toast } = useShell();
  const names = namesOf(benchmarks.map(labelOf));
  return (
    <Confirm
      title={benchmarks.length === 1 ? 'Build its images?' : `Build the images of ${benchmarks.length} benchmarks?`}
      question={`${names}: what its tasks need is checked and built. It cannot be launched until that is done.`}
      verb="build"
      past="being built"
      action={buildImages}
      rows={benchmarks}
      labelOf={labelOf}
      onDone={() => toast({ kind: 'success', text: `Building the images of ${names}` })}
      onClose={onClose}
    />
  );
}
