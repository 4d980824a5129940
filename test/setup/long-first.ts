/** The order of test files: what takes longest begins first, so that no worker ends alone with a long file. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Vitest knows how long files take only where it has run them before. In this order. */
const long = [
  'test/e2e/clone.test.ts',
  'test/e2e/package.test.ts',
  'test/e2e/actions.test.ts',
  'test/ui/program/windows.test.tsx',
  'test/simulate/simulate.test.ts',
  'test/add-resource.test.ts',
  'test/local/crash/crash.test.ts',
  'test/e2e/generations.test.ts',
  'test/e2e/survival.test.ts',
  'test/e2e/views.test.ts',
  'test/e2e/torture.test.ts',
  'test/present/statistics/simulation.test.ts',
  'test/ui/program/read-only.test.tsx',
  'test/ui/program/names.test.tsx',
  'test/generations/screens.test.tsx',
  'test/local/model/samples.test.ts',
  'test/local/engine/rollouts.test.ts',
];

export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = long.findIndex(path => moduleId.endsWith(`/${path}`));
      return index === -1 ? long.length : index;
    };
    return (await super.sort(files)).toSorted((left, right) => place(left) - place(right));
  }
}
