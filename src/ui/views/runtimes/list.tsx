/** The runtimes that tasks of the organization run in. */
import { runtimeList } from '../../../queries/benchmarks.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { runtimeColumns } from './columns.ts';
import { runtimeFacts } from './facts.ts';

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
