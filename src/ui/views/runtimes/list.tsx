/** The runtimes that tasks of the organization run in. */
import { runtimeList } from '../../../queries/benchmarks.ts';
import { runtimeColumns, runtimeFacts } from '../../../resources/benchmarks.ts';
import { ResourceList } from '../shared/resource-list.tsx';

export function RuntimesView() {
  return (
    <ResourceList
      source={runtimeList}
      columns={runtimeColumns}
      emptyWords="No runtimes yet: building the images of a benchmark makes them"
      facts={runtimeFacts}
    />
  );
}
