/** Asks before the images of benchmarks are built anew. */
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { benchmarkKeys } from '../../../queries/benchmarks.ts';
import { useShell } from '../../app/shell-context.tsx';
import { namesOf } from '../shared/names.ts';
import { Confirm } from '../shared/windows.tsx';

export interface BuildWindowProps {
  readonly benchmarks: readonly Benchmark[];
  readonly onClose: () => void;
}

export function BuildWindow({ benchmarks, onClose }: BuildWindowProps) {
  const { toast } = useShell();
  const labels = benchmarks.map(each => each.label ?? each.bench_id);
  const names = namesOf(labels);
  return (
    <Confirm
      title={benchmarks.length === 1 ? 'Build its images?' : `Build the images of ${benchmarks.length} benchmarks?`}
      question={`${names}: what its tasks need is checked and built. It cannot be launched until that is done.`}
      verb="build"
      things={labels}
      requests={benchmarks.map(({ bench_id }) => `POST /api/v1/benchmarks/${bench_id}/images/build`)}
      work={service => Promise.all(benchmarks.map(({ bench_id }) => service.benchmarks.buildImages(bench_id)))}
      touches={[benchmarkKeys.all]}
      onDone={() => toast({ kind: 'success', text: `Building the images of ${names}` })}
      onClose={onClose}
    />
  );
}
